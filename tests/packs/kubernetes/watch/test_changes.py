from datetime import UTC, datetime

import pytest

from deadzone_kubernetes.watch.changes import Look, is_ours, last_set, owned_again, owners, path_of

LIMIT = path_of("deployment", "app", "limits.cpu")

SEEN = datetime(2026, 1, 1, 10, 20, 0, tzinfo=UTC)


def fields(resources):
    containers = {'k:{"name":"app"}': {"f:resources": resources}}
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": containers}}}}


LIMITED = {"f:limits": {".": {}, "f:cpu": {}}}


def owner(manager, resources=LIMITED, at="2026-01-01T10:20:30Z"):
    of_it = {"manager": manager, "operation": "Update", "time": at}
    return {**of_it, "fieldsV1": fields(resources)}


def found(limit="1", manager="kubectl-client-side-apply", **more):
    container = {"name": "app", "image": "burn:1", "resources": {"limits": {"cpu": limit}}, **more}
    made = {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {
        "metadata": {**made, "managedFields": [owner(manager)]},
        "spec": {"replicas": 1, "template": {"metadata": {}, "spec": {"containers": [container]}}},
    }


def differences(before, now, watched=()):
    return Look(before, SEEN).differences(now, watched)


def test_what_the_sweep_itself_changes_or_lends_is_no_difference():
    assert differences(found(), found("500m", "deadzone")) == []
    assert is_ours(found("500m", "deadzone"), LIMIT)
    lent = found()
    lent["spec"]["ephemeralContainers"] = [{"name": "deadzone-1", "image": "busybox"}]
    assert differences(found(), lent) == []
    both = found("500m", "deadzone")
    both["metadata"]["managedFields"].append(owner("argocd"))
    assert not is_ours(both, LIMIT)


def test_another_managers_limit_is_named_with_who_and_when_also_where_it_is_set_back():
    (change,) = differences(found(), found("1500m", "kubectl-set"))
    said = "app.resources.limits.cpu was changed from 1 to 1500m by kubectl-set at 10:20:30 UTC"
    assert change == said
    assert not is_ours(found("1500m", "kubectl-set"), LIMIT)
    (change,) = differences(found("500m", "deadzone"), found("1", "argocd-controller"))
    assert "from 500m to 1 by argocd-controller at" in change


@pytest.mark.parametrize(
    "now",
    [
        found(image="burn:2"),  # its owner wrote something else, before
        found() | {"spec": {**found()["spec"], "replicas": 0}},
    ],
)
def test_where_nobody_is_recorded_nobody_is_named(now):
    (change,) = differences(found(), now)
    assert "between 10:20:00 and " in change
    assert change.endswith(" UTC (the cluster does not record who)")


def test_a_list_that_is_owned_as_a_whole_tells_who_changed_an_item():
    now = found(args=["--fast"])
    containers = {'k:{"name":"app"}': {"f:args": {}}}
    of_it = {"f:spec": {"f:template": {"f:spec": {"f:containers": containers}}}}
    now["metadata"]["managedFields"].append({**owner("kubectl-edit"), "fieldsV1": of_it})
    (change,) = differences(found(), now)
    assert change == "app.args.0 was set to --fast by kubectl-edit at 10:20:30 UTC"


def test_fields_have_their_owners_again_but_for_those_that_others_took():
    before = found()
    before["metadata"]["managedFields"].append(owner("argocd", at="2026-01-02T00:00:00Z"))
    owned = owners(before, [LIMIT])
    swept = found("500m", "deadzone")
    (patch,) = owned_again(swept, owned)["metadata"].values()
    assert {one["manager"]: one["fieldsV1"] for one in patch} == {
        name: fields(LIMITED) for name in ("kubectl-client-side-apply", "argocd")
    }
    # the mapping around it stayed its owner's
    swept["metadata"]["managedFields"].append(owner("argocd", {"f:limits": {}}))
    (patch,) = owned_again(swept, owned)["metadata"].values()
    assert fields(LIMITED) in [one["fieldsV1"] for one in patch if one["manager"] == "argocd"]
    theirs = found("700m", "colleague")
    kept = theirs["metadata"]["managedFields"]
    assert owned_again(theirs, owned)["metadata"] == {"managedFields": kept}
    assert last_set(theirs, LIMIT) == "by colleague at 10:20:30 UTC"


def test_image_environment_replicas_restarts_and_removals_are_seen():
    now = found(image="burn:2", env=[{"name": "MODE", "value": "fast"}])
    now["spec"]["replicas"] = 3
    restarted = {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}
    now["spec"]["template"]["metadata"] = restarted
    said = " | ".join(differences(found(), now))
    assert "app.image was changed from burn:1 to burn:2" in said
    assert "app.env.MODE.value was set" in said and "fast" not in said  # it may be a secret
    assert "replicas was changed from 1 to 3" in said
    assert "its pods were restarted" in said
    (gone,) = differences(found(workingDir="/srv"), found())
    assert "workingDir was removed, it was /srv between " in gone


def test_a_workload_that_was_made_anew_is_one_change():
    now = found("2")
    now["metadata"]["uid"] = "other"
    (change,) = differences(found(), now)
    assert change.startswith("it was deleted and made again between ")


def test_a_watched_annotation_counts():
    path = ("metadata", "annotations", "deadzone.dev/sweep")
    before, now = found(), found()
    before["metadata"]["annotations"] = {"deadzone.dev/sweep": "allowed", "other": "1"}
    now["metadata"]["annotations"] = {"other": "2"}
    (change,) = differences(before, now, {path})
    assert "deadzone.dev/sweep was removed, it was allowed" in change
