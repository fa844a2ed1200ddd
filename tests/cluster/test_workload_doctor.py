import json

import pytest
from sweeping import ALLOWED

pytestmark = pytest.mark.cluster


def test_a_workload_that_can_be_swept_is_told_line_by_line(namespace, deployment, deadzone, left):
    deployment(annotations=ALLOWED)
    said = deadzone("doctor", "--kubernetes", f"{namespace}/deployment/worker", "--json", code=0)
    lines = {one["name"]: one for one in json.loads(said.out)}
    assert {one["state"] for one in lines.values()} == {"works"}
    assert "/bin/sh" in lines["shell"]["finding"]
    left.check_nothing()


def test_what_is_in_the_way_is_told_with_the_remedy(
    cluster, namespace, deployment, deadzone, bare_image
):
    deployment(image=bare_image)
    inside = ("--namespace", namespace)
    bounds = ("--min=1", "--max=3", "--cpu-percent=60")
    cluster.kubectl("autoscale", "deployment/worker", *inside, *bounds)
    cluster.kubectl("create", "quota", "cpu", *inside, "--hard=limits.cpu=1500m")
    said = deadzone("doctor", "--kubernetes", f"{namespace}/worker", code=4)
    for told in (
        "kubectl annotate -n",
        "target.launcher_image",
        "exceeded quota: cpu",
        "HorizontalPodAutoscaler worker (`kubectl -n",
        "`autoscaler: pause` under target",
    ):
        assert told in said.out, said.out
    strange = deadzone("doctor", "--kubernetes", f"{namespace}/daemonset/x", code=4)
    assert "daemonset/x cannot be swept: Deployments, StatefulSets and pods can" in strange.err
