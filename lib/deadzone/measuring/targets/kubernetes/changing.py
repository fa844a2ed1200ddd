"""Changing the limit of a container: in place, or by patching the workload and waiting for the rollout.

Neither is believed: what counts is read in the container's own control group afterwards, by who calls this.
"""

import time
from collections.abc import Sequence
from typing import Any

from deadzone.errors import TargetError
from deadzone.measuring.targets.kubernetes import trouble
from deadzone.measuring.targets.kubernetes.cluster import Cluster, Object
from deadzone.measuring.targets.kubernetes.resources import CpuResources
from deadzone.measuring.targets.kubernetes.workload import (
    DEPLOYMENT,
    POD,
    STATEFUL_SET,
    Workload,
    all_pods,
    container_of,
    container_status,
    is_ending,
    is_ready,
    template,
)

LOOK_EVERY_S = 0.2
"""How often the cluster is asked how far a change is [s]."""

ENDING_S = 10.0
"""How long a pod's end may take beyond its grace period; on a node that is lost it never comes [s]."""

NO_HOPE_AFTER_S = 5.0
"""A reason that waiting does not cure must have stood for so long: a retry may just be under way [s]."""


def resize(cluster: Cluster, pod: Object, container: str, wanted: CpuResources, timeout_s: float) -> Object:
    """Change the resources of a running container in place and wait until the kubelet has done it.

    Raises ClusterError if the server has no resize or refuses it, TargetError if the node cannot do it.
    """
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    where = f"pod {name} in the namespace {namespace}"
    body = {"spec": {"containers": [{"name": container, "resources": wanted.as_patch()}]}}
    cluster.call(f"resize {where} to {wanted}", "core.patch_namespaced_pod_resize", name, namespace, body)
    deadline = time.monotonic() + timeout_s
    while True:
        now = cluster.call(f"read {where}", "core.read_namespaced_pod", name, namespace)
        pending, why = _pending(now)
        if pending == "Infeasible":
            raise TargetError(f"The node cannot resize {where} to {wanted}: {why}.")
        if not pending and _in_force(now, container, wanted):
            return now
        if time.monotonic() > deadline:
            raise TargetError(
                f"The resize of {where} to {wanted} is not done after {timeout_s:g} s: {why or 'no reason given'}."
            )
        cluster.pause(LOOK_EVERY_S)


def _pending(pod: Object) -> tuple[str | None, str]:
    """Whether a resize is under way, as a word, and what the kubelet says of it."""
    for condition in pod["status"].get("conditions") or []:
        if condition["type"] in ("PodResizePending", "PodResizeInProgress") and condition["status"] == "True":
            said = condition.get("message") or condition.get("reason") or ""
            return condition.get("reason") or condition["type"], str(said).rstrip(".")
    return None, ""


def _in_force(pod: Object, container: str, wanted: CpuResources) -> bool:
    """Whether the container runs with the resources, as the kubelet says (servers before 1.33 do not say it)."""
    state = container_status(pod, container)
    if state is None or "running" not in (state.get("state") or {}):
        return False
    actual = state.get("resources")
    return actual is None or CpuResources.of({"resources": actual}).same(wanted)


def patch(cluster: Cluster, workload: Workload, container: str, wanted: CpuResources) -> None:
    """Change the resources in a workload's template; the cluster then replaces its pods."""
    spec = {"spec": {"containers": [{"name": container, "resources": wanted.as_patch()}]}}
    workload.patch(cluster, f"set the resources ({wanted})", {"spec": {"template": spec}})


def check_rollout_possible(workload: Workload, found: Object) -> None:
    """Raise TargetError where a changed template would change no pod."""
    if workload.kind == POD:
        raise TargetError(
            f"{workload} has no template to patch: a pod by itself can only be resized. Use change: resize, or "
            "name the Deployment it belongs to."
        )
    spec = found["spec"]
    if workload.kind == DEPLOYMENT and spec.get("paused"):
        raise TargetError(f"The rollout of {workload} is paused; resume it first (kubectl rollout resume).")
    strategy = (spec.get("updateStrategy") or {}).get("type")
    if workload.kind == STATEFUL_SET and strategy == "OnDelete":
        raise TargetError(f"{workload} replaces its pods on deletion only (updateStrategy OnDelete).")
    if not spec.get("replicas", 1):
        raise TargetError(f"{workload} has no replicas, so there is no container to measure in.")


def await_rollout(cluster: Cluster, workload: Workload, container: str, timeout_s: float) -> Object:
    """Wait until every pod of a workload is of its present template; returns the newest ready pod.

    Pods that are replaced are waited for as well, as long as they may take to end: one that ends uses CPU beside the
    next trial, and may still be asked by a client of the workload's Service.

    Raises TargetError, with what keeps it, if that takes longer or cannot come to pass.
    """
    deadline, hopeless_since = time.monotonic() + timeout_s, 0.0
    ready_since = 0.0
    while True:
        found = workload.read(cluster)
        every = all_pods(cluster, workload)
        present = [pod for pod in every if not is_ending(pod)]
        if _rolled_out(workload, found):
            wanted = CpuResources.of(container_of(template(workload, found), container, str(workload)))
            ready = [pod for pod in present if is_ready(pod, container)]
            if ready and _as_wanted(ready[-1], container, wanted, workload):
                ready_since = ready_since or time.monotonic()
                if time.monotonic() >= ready_since + _until_gone_s(every):
                    return ready[-1]
        reason = trouble.refused(found) or next(filter(None, map(trouble.hopeless, reversed(present))), None)
        hopeless_since = (hopeless_since or time.monotonic()) if reason else 0.0
        lost_hope = bool(reason) and time.monotonic() - hopeless_since > NO_HOPE_AFTER_S
        if lost_hope or time.monotonic() > deadline:
            after = "cannot end" if lost_hope else f"has not ended after {timeout_s:g} s"
            raise TargetError(f"The rollout of {workload} {after}: {trouble.of_rollout(found, present)}.")
        cluster.pause(LOOK_EVERY_S)


def _until_gone_s(every: Sequence[Object]) -> float:
    """How long the pods that are ending may take [s]; 0 if there is none."""
    going = [pod["metadata"] for pod in every if is_ending(pod)]
    return max((one.get("deletionGracePeriodSeconds") or 0) + ENDING_S for one in going) if going else 0.0


def _rolled_out(workload: Workload, found: Object) -> bool:
    status: dict[str, Any] = found.get("status") or {}
    if workload.kind == POD:
        return True
    if status.get("observedGeneration", 0) < found["metadata"].get("generation", 0):
        return False
    wanted = found["spec"].get("replicas", 1)
    updated, ready = status.get("updatedReplicas", 0), status.get("readyReplicas", 0)
    if workload.kind == STATEFUL_SET:
        current = status.get("updateRevision") == status.get("currentRevision") or updated == wanted
        return current and ready == wanted
    return updated == wanted and status.get("replicas", 0) == wanted and ready == wanted


def _as_wanted(pod: Object, container: str, wanted: CpuResources, workload: Workload) -> bool:
    """Whether a pod has its template's limit. Raises TargetError where the cluster gives it another one."""
    have = CpuResources.of(container_of(pod["spec"], container, str(workload)))
    if have.limit_cores == wanted.limit_cores or workload.kind == POD:
        return True
    raise TargetError(
        f"The pods of {workload} come up with {have} where {wanted} is asked for: a LimitRange or an admission "
        "policy of the namespace sets its own. Measure within it, or in another namespace."
    )
