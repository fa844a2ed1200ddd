from dataclasses import replace

import pytest

from deadzone_kubernetes.api.cluster import AbsentError, MissingVerbError
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.workload import KubernetesWorkload

API = KubernetesWorkload(None, "deployment", "shop", "api")

OWNED = {"ownerReferences": [{"kind": "ScaledObject", "name": "api", "uid": "of-keda"}]}


def horizontal(**metadata):
    target = {"scaleTargetRef": {"kind": "Deployment", "name": "api"}}
    spec = {**target, "minReplicas": 1, "maxReplicas": 4}
    return {"metadata": {"name": "hpa", "uid": "hpa", **metadata}, "spec": spec}


def scaled(annotations=None, **spec):
    metadata = {"name": "api", "uid": "of-keda", "annotations": annotations}
    return {"metadata": metadata, "spec": {"scaleTargetRef": {"name": "api"}, **spec}}


def vertical(**spec):
    target = {"targetRef": {"kind": "Deployment", "name": "api"}}
    return {"metadata": {"name": "vpa", "uid": "vpa"}, "spec": {**target, **spec}}


class Recorded:
    """A cluster that answers from what it holds, by the plural of a kind; an error is raised."""

    def __init__(self, **held):
        absent = dict.fromkeys(("scaledobjects", "verticalpodautoscalers"), AbsentError("none"))
        self.held = {**absent, **held}

    def call(self, what, method, *arguments):
        answer = self.held.get(arguments[-1], [])
        if isinstance(answer, Exception):
            raise answer
        return {"items": answer}


def names(cluster, note=lambda sentence: None):
    found = autoscaler.at_work(replace(API, cluster=cluster), note)
    return [f"{one.kind.name} {one.name}" for one in found]


@pytest.mark.parametrize(
    ("annotations", "at_work"),
    [(None, ["ScaledObject api"]), ({"autoscaling.keda.sh/paused": "false"}, ["ScaledObject api"]),
     ({"autoscaling.keda.sh/paused": "true"}, []),
     ({"autoscaling.keda.sh/paused-replicas": "2"}, [])],
)  # fmt: skip
def test_what_keda_made_counts_as_its_scaled_object_which_may_be_paused(annotations, at_work):
    held = Recorded(
        scaledobjects=[scaled(annotations)], horizontalpodautoscalers=[horizontal(**OWNED)]
    )
    assert names(held) == at_work


def test_one_of_another_workload_and_one_that_is_off_change_nothing():
    other = horizontal() | {"spec": {"scaleTargetRef": {"kind": "StatefulSet", "name": "api"}}}
    off = vertical(updatePolicy={"updateMode": "Off"})
    assert names(Recorded(horizontalpodautoscalers=[other], verticalpodautoscalers=[off])) == []
    assert names(Recorded(verticalpodautoscalers=[vertical()])) == ["VerticalPodAutoscaler vpa"]


def test_where_the_account_may_not_look_it_is_said():
    said: list[str] = []
    lacks = MissingVerbError("the account lacks the verb 'list'")
    assert names(Recorded(horizontalpodautoscalers=lacks, scaledobjects=lacks), said.append) == []
    assert said == [
        f"whether a {kind} changes {API} is not known: the account lacks the verb 'list'"
        for kind in ("ScaledObject", "HorizontalPodAutoscaler")
    ]


def test_one_of_keda_that_cannot_be_seen_is_named_by_what_made_it():
    held = Recorded(horizontalpodautoscalers=[horizontal(**OWNED)])
    found = autoscaler.at_work(replace(API, cluster=held), lambda sentence: None)
    with pytest.raises(autoscaler.TargetError, match="patch scaledobject api"):
        autoscaler.check(found, API, 2, is_paused=True)


def test_one_that_is_held_at_one_number_of_pods_changes_nothing():
    held = horizontal()
    assert names(Recorded(horizontalpodautoscalers=[held])) == ["HorizontalPodAutoscaler hpa"]
    held["spec"]["maxReplicas"] = 1
    assert names(Recorded(horizontalpodautoscalers=[held])) == []
