"""Whether quotas and ranges leave room for every level, and for the way between two of them."""

from contextlib import nullcontext

import pytest

from deadzone.errors import TargetError
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.survey.room import (
    beyond_quota,
    check_budgets,
    out_of_range,
    pods_that_stay,
)
from deadzone_kubernetes.workload import KubernetesWorkload


def amounts(*limits):
    return [Resources({"limits.cpu": limit, "requests.cpu": "20m"}) for limit in limits]


def quota(hard, used, **spec):
    return {
        "metadata": {"name": "cpu"},
        "spec": {"hard": {"limits.cpu": hard}, **spec},
        "status": {"hard": {"limits.cpu": hard}, "used": {"limits.cpu": used}},
    }


def problems(found, every, *, beside=(), replicas=1, old=1):
    return list(beyond_quota([found], every, beside, replicas, old))


HALF = {"maxSurge": 0, "maxUnavailable": "50%"}


def test_a_rolling_change_needs_the_old_pod_beside_the_new_one():
    (*_, last) = problems(quota("1500m", "800m"), amounts("800m", "500m", "1"))
    assert "needs 1.8 of limits.cpu" in last and "limited: 1500m" in last
    assert problems(quota("1800m", "800m"), amounts("800m", "500m", "1")) == []


def test_where_the_old_pod_goes_first_one_level_has_to_fit():
    assert problems(quota("1", "800m"), amounts("800m", "1"), old=0) == []
    assert problems(quota("900m", "800m"), amounts("800m", "1"), old=0)


def test_other_workloads_and_other_containers_take_their_part():
    assert problems(quota("3", "1800m"), amounts("800m", "1")) == []
    assert problems(quota("2500m", "1800m"), amounts("800m", "1"))
    assert problems(quota("2", "900m"), amounts("800m", "1"), beside=amounts("100m")) == []
    assert problems(quota("1900m", "900m"), amounts("800m", "1"), beside=amounts("100m"))


def test_a_quota_of_limits_forbids_a_pod_without_one():
    assert problems(quota("9", "1"), amounts("1", None)) == [
        "failed quota: cpu: must specify limits.cpu"
    ]


def test_a_quota_of_some_pods_only_is_not_judged():
    assert problems(quota("1", "1", scopes=["Terminating"]), amounts("1", "8")) == []


@pytest.mark.parametrize(
    ("spec", "old"),
    [
        ({"replicas": 1}, 1),
        ({"replicas": 4}, 3),
        ({"replicas": 3, "strategy": {"type": "Recreate"}}, 0),
        ({"replicas": 2, "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}, 2),
        ({"replicas": 2, "strategy": {"rollingUpdate": HALF}}, 1),
    ],
)
def test_old_pods_beside_the_first_new_one(spec, old):
    assert pods_that_stay("deployment", spec) == old


def test_a_stateful_set_ends_a_pod_before_it_makes_one():
    assert pods_that_stay("statefulset", {"replicas": 3}) == 2


@pytest.mark.parametrize(
    ("limit", "request_", "said"),
    [
        ("1500m", "100m", "maximum cpu usage per Container is 1, but limit is 1500m"),
        ("1", "20m", "minimum cpu usage per Container is 50m, but request is 20m"),
    ],
)
def test_a_range_is_told_as_the_api_server_does(limit, request_, said):
    bounds = {"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "50m"}}
    asked = Resources({"limits.cpu": limit, "requests.cpu": request_})
    assert list(out_of_range([{"spec": {"limits": [bounds]}}], [asked])) == [said]


def memory(limit, request="32Mi"):
    return Resources({"limits.memory": limit, "requests.memory": request})


def test_memory_counts_where_it_is_swept():
    ranges = [{"spec": {"limits": [{"type": "Container", "max": {"memory": "64Mi", "cpu": "1m"}}]}}]
    (told,) = out_of_range(ranges, [memory("128Mi"), memory("64Mi")])
    assert told == "maximum memory usage per Container is 64Mi, but limit is 128Mi"
    hard = {"limits.memory": "160Mi", "limits.cpu": "1m"}
    found = {**quota("1", "1"), "status": {"hard": hard, "used": {"limits.memory": "64Mi"}}}
    (told, _) = problems(found, [memory("64Mi"), memory("128Mi")])
    assert "from 64Mi to 128Mi needs 192Mi of limits.memory" in told and "limited: 160Mi" in told


def test_a_limit_stands_for_a_request_that_is_not_there():
    hard = {"requests.cpu": "1500m"}
    found = {**quota("1", "1"), "status": {"hard": hard, "used": {"requests.cpu": "500m"}}}
    bare = [Resources({"limits.cpu": limit, "requests.cpu": None}) for limit in ("500m", "1")]
    assert problems(found, bare) == []
    assert problems(found, [*bare, Resources({"limits.cpu": "2", "requests.cpu": None})])


class Budgeted:
    """A cluster with a Deployment, a budget, and pods by the selector that finds them."""

    def __init__(self, found, status, pods):
        self.found, self.status, self.pods = found, status, pods

    def call(self, what, method, *arguments, label_selector=None):
        if "deployment" in method:
            return self.found
        if "disruption_budget" in method:
            spec = {"selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}
            return {"items": [{"metadata": {"name": "half"}, "spec": spec, "status": self.status}]}
        return {"items": [{"metadata": {"uid": uid}} for uid in self.pods[label_selector]]}


HEALTHY = {"desiredHealthy": 4, "currentHealthy": 4}

COUNTED = {"observedGeneration": 1, **HEALTHY, "disruptionsAllowed": 0}

NEW_FIRST = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}

OURS, OTHERS = (
    {"app=api": ["a", "b", "c", "d"], "app": of_budget} for of_budget in (["a", "x"], ["x"])
)


@pytest.mark.parametrize(
    ("status", "pods", "strategy", "is_refused"),
    [
        (COUNTED, OURS, {}, True),
        (COUNTED, OURS, NEW_FIRST, False),
        (COUNTED, OTHERS, {}, False),
        ({**COUNTED, "disruptionsAllowed": 1}, OURS, {}, False),
        ({**COUNTED, "disruptionsAllowed": 1}, OURS, {"strategy": {"type": "Recreate"}}, True),
        ({"disruptionsAllowed": 0}, OURS, {}, False),
    ],
    ids=["at once", "new before old", "of other pods", "allowed", "all at once", "not counted yet"],
)
def test_a_rollout_takes_no_more_pods_away_than_their_budget_bears(
    status, pods, strategy, is_refused
):
    spec = {"selector": {"matchLabels": {"app": "api"}}, "replicas": 4, **strategy}
    found = {"metadata": {"name": "api"}, "spec": spec}
    cluster = Budgeted(found, status, pods)
    workload = KubernetesWorkload("deployment", "shop", "api")
    said = "the PodDisruptionBudget half wants 4 of 4 pods healthy"
    with pytest.raises(TargetError, match=said) if is_refused else nullcontext():
        check_budgets(cluster, workload, found)
