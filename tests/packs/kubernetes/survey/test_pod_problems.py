"""Why pods do not run, on statuses as kubelets and schedulers write them."""

import pytest

from deadzone.errors import TargetError
from deadzone_kubernetes.api.streams import NoProgramError, Spot, StreamBrokenError, _exit_code
from deadzone_kubernetes.survey import pod_problems
from deadzone_kubernetes.workload import container_of, label_selector

SPOT = Spot("ns", "pod", "uid", "main")


def waiting(reason, message=None):
    state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
    statuses = [{"image": "img:1", "state": state}]
    return {"status": {"phase": "Pending", "containerStatuses": statuses}}


@pytest.mark.parametrize(
    ("pod", "words"),
    [(waiting("ErrImageNeverPull", "not present"), "may not be pulled: img:1 (not present)"),
     (waiting("ImagePullBackOff"), "cannot be pulled: img:1"),
     (waiting("CrashLoopBackOff"), "ends again and again"),
     ({"status": {"phase": "Failed", "reason": "Evicted", "message": "low"}}, "low")],
)  # fmt: skip
def test_what_waiting_does_not_cure(pod, words):
    assert words in pod_problems.hopeless(pod)
    for other in (waiting("ContainerCreating"), waiting("ErrImagePull"), {"status": {}}):
        assert pod_problems.hopeless(other) is None


def test_an_unschedulable_pod_says_what_the_scheduler_said():
    said = "0/1 nodes: Insufficient cpu."
    condition = {"type": "PodScheduled", "status": "False", "message": said}
    found = pod_problems.not_yet({"status": {"conditions": [condition]}})
    assert found == f"no node takes it: {said}"


def test_a_rollout_that_a_quota_forbids():
    condition = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: small"}
    workload = {"status": {"conditions": [condition]}}
    assert pod_problems.condition(workload, pod_problems.REFUSED) == "exceeded quota: small"
    assert "exceeded quota: small" in pod_problems.of_rollout(workload, [])


def test_selectors_are_written_as_queries():
    tier = {"key": "tier", "operator": "In", "values": ["a", "b"]}
    expressions = [tier, {"key": "old", "operator": "DoesNotExist"}]
    selector = {"matchLabels": {"app": "x"}, "matchExpressions": expressions}
    assert label_selector(selector) == "app=x,tier in (a,b),!old"


def test_one_of_several_containers_must_be_named():
    spec = {"containers": [{"name": "web"}, {"name": "encoder"}]}
    assert container_of(spec, "encoder", "it")["name"] == "encoder"
    with pytest.raises(TargetError, match=r"2 containers: web, encoder\. Name one"):
        container_of(spec, None, "it")
    with pytest.raises(TargetError, match=r"Did you mean `encoder`\?"):
        container_of(spec, "encodr", "it")


EXIT_3 = "status: Failure\ndetails: {causes: [{reason: ExitCode, message: '3'}]}"


def test_the_end_of_a_stream_tells_how_the_command_ended():
    assert _exit_code(SPOT, "status: Success") == 0
    assert _exit_code(SPOT, EXIT_3) == 3
    with pytest.raises(StreamBrokenError):
        _exit_code(SPOT, "")
    missing = "'exec: \"sh\": executable file not found in $PATH'"
    with pytest.raises(NoProgramError):
        _exit_code(SPOT, f"status: Failure\nmessage: {missing}")
