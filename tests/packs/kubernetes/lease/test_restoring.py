from deadzone_kubernetes.api.cluster import MissingVerbError
from deadzone_kubernetes.lease.restoring import restore_cluster


class Refusing:
    """A cluster whose account may look at nothing, or into one namespace alone."""

    default_namespace = "default"

    def __init__(self, own=()):
        self.own = own

    def call(self, what, method, *places, **options):
        if places and places[0] in self.own:
            return {"items": []}
        raise MissingVerbError(f"deadzone lacks the verb 'list', needed to {what}")


def test_what_cannot_be_looked_at_is_one_sentence_however_much_it_is():
    places = [f"team-{number}" for number in range(11)]
    (said,) = restore_cluster(Refusing(own=["team-3"]), places).problems
    assert said.startswith("This account may not list deployments, statefulsets, pods, Jobs, locks")
    assert "team-2, team-4" in said and "team-3" not in said and "--namespace" in said
    assert restore_cluster(Refusing(places), places).problems == []
