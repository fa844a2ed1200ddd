import json
import re
import shlex

import pytest
from sweeping import BUSY, kill, owners

pytestmark = pytest.mark.cluster


CUSTOM = ("verticalpodautoscalers.autoscaling.k8s.io", "scaledobjects.keda.sh")


def definition(group, version, kind, plural):
    """A kind that a cluster has only where somebody installed it, without the controller of it."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": version, "served": True, "storage": True, "schema": schema}]
    names = {"kind": kind, "plural": plural, "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}",
                     "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"}},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions},
    }  # fmt: skip


@pytest.fixture
def autoscalers(own_cluster, namespace, study):
    """One of each kind at the Deployment; a function that reads what holds them."""
    definitions = [
        definition("autoscaling.k8s.io", "v1", "VerticalPodAutoscaler", "verticalpodautoscalers"),
        definition("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects"),
    ]
    own_cluster.apply(*definitions)
    for name in CUSTOM:
        own_cluster.kubectl("wait", "--for=condition=established", f"crd/{name}", "--timeout=60s")
    inside = ("--namespace", namespace)
    metadata = {"name": "worker", "namespace": namespace}
    worker = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "worker"}
    bounds = ("--min=1", "--max=3", "--cpu-percent=60")
    own_cluster.kubectl("autoscale", "deployment/worker", *inside, *bounds)
    vertical = {"targetRef": worker, "updatePolicy": {"minReplicas": 1}}
    scaled = {"scaleTargetRef": {"name": "worker"}, "triggers": [{"type": "kafka", "metadata": {}}]}
    for version, kind, spec in (
        ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", vertical),
        ("keda.sh/v1alpha1", "ScaledObject", scaled),
    ):
        own_cluster.apply({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})

    def read():
        found = [own_cluster.get(kind, "worker", *inside) for kind in ("hpa", *CUSTOM)]
        for one in found:
            one["owners"] = owners(one)
            for key in ("managedFields", "resourceVersion", "generation"):
                one["metadata"].pop(key, None)
            one.pop("status", None)
        return found

    return read


@pytest.fixture
def study(worker_study):
    factors = {"work": [20000], "cpu_limit": [0.1, 0.2, 0.4]}
    return lambda replicates=2, **more: worker_study(BUSY, factors, replicates, **more)


def test_autoscalers_of_each_kind_are_refused_until_they_are_held_as_is_said(
    own_cluster, study, autoscalers, deadzone
):
    before = autoscalers()
    refused = deadzone("sweep", study(), code=4).err
    for said in (
        *("VerticalPodAutoscaler worker", "ScaledObject worker", "HorizontalPodAutoscaler"),
        "`autoscaler: pause`",
    ):
        assert said in refused
    assert autoscalers() == before
    typed = re.findall("`kubectl (.*?)`", refused.replace("\n", " "))
    commands = [shlex.split(command) for command in typed]
    assert len(commands) == 3
    for command in commands:
        own_cluster.kubectl(*command)
    held = autoscalers()
    deadzone("sweep", study(), code=0)
    assert autoscalers() == held


def test_autoscalers_of_each_kind_are_held_and_given_back(study, autoscalers, start):
    before = autoscalers()
    begun = start("sweep", study(autoscaler="pause"))
    begun.wait_for(begun.trials, "a trial")
    horizontal, vertical, scaled = autoscalers()
    assert (horizontal["spec"]["minReplicas"], horizontal["spec"]["maxReplicas"]) == (1, 1)
    assert vertical["spec"]["updatePolicy"]["updateMode"] == "Off"
    assert scaled["metadata"]["annotations"]["autoscaling.keda.sh/paused-replicas"] == "1"
    begun.end_with(0)
    assert autoscalers() == before
    provenance = json.loads(next(begun.runs.glob("*/*/provenance.json")).read_text())
    kinds = {one["kind"] for one in provenance["autoscalers"]}
    assert kinds == {"HorizontalPodAutoscaler", "VerticalPodAutoscaler", "ScaledObject"}


def test_what_a_killed_sweep_held_is_given_back_but_for_what_others_set_since(
    own_cluster, namespace, study, autoscalers, deadzone, start
):
    _, *others = autoscalers()
    begun = start("sweep", study(replicates=20, autoscaler="pause"))
    begun.wait_for(begun.trials, "a trial")
    kill(begun)
    body = json.dumps({"spec": {"maxReplicas": 5}})
    where = ("hpa", "worker", "--namespace", namespace, "--field-manager=colleague")
    own_cluster.kubectl("patch", *where, f"--patch={body}")
    said = deadzone("restore", "--namespace", namespace, code=0)
    assert "maxReplicas 5, set by colleague at" in said.out and "that stays" in said.out
    now, *given_back = autoscalers()
    assert (now["spec"]["minReplicas"], now["spec"]["maxReplicas"]) == (1, 5)
    assert given_back == others
    assert "deadzone" not in [manager for manager, _ in now["owners"]]


def test_one_that_is_made_in_mid_sweep_is_named_and_stops_it(cluster, namespace, study, start):
    begun = start("sweep", study(replicates=60))
    begun.wait_for(begun.trials, "a trial")
    bounds = ("--min=1", "--max=3", "--cpu-percent=60")
    cluster.kubectl("autoscale", "deployment/worker", "--namespace", namespace, *bounds)
    err = begun.end_with(3)
    assert "HorizontalPodAutoscaler worker changes it now" in err
    assert "by kubectl-autoscale at" in err
