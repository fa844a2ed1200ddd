"""One trial in a container, from its start to its measurement, whatever happens to the pod
meanwhile."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from deadzone.plugins import Command, Measurement, Status
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import AbsentError
from deadzone_kubernetes.container import accounting
from deadzone_kubernetes.container.container import (
    LauncherDiedError,
    NotStartedError,
    PodContainer,
    Probe,
)
from deadzone_kubernetes.specs import KubernetesTargetSpec
from deadzone_kubernetes.survey import pod_problems
from deadzone_kubernetes.workload import container_status, is_ending, is_ready, pod_now

START_ATTEMPTS = 3
"""A trial that never started may be asked for again, so often [count]."""

LOOK_EVERY_S = 0.5

SETTLE_S = 20.0
"""The kubelet tells of a container that died within a second or two, of a node that died much later
[s]."""


def execute(
    container: PodContainer,
    pod: Object,
    command: Command,
    timeout_s: float,
    note: Callable[[str], None],
) -> Measurement:
    """Run a command as a trial and measure it; `lost` where the pod was restarted, evicted or
    replaced meanwhile.

    Raises ClusterError where the cluster refuses, or does not answer any more.
    """
    started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    began = time.monotonic()
    status: Status = "lost"
    why = f"the trial could not be started in {container.spot}"
    for _ in range(START_ATTEMPTS):
        try:
            text = container.run_trial(command, timeout_s)
        except NotStartedError:
            continue
        except (LauncherDiedError, AbsentError) as error:
            status, why = what_became_of(container, pod, str(error))
            break
        account = accounting.parse(text)
        before, after = account.before.cpu_max, account.after.cpu_max
        if after in (None, before):
            where = {**placed(pod), **({"cpu_max": before} if before else {})}
            return accounting.measurement(account, started_at, timeout_s, where)
        note(f"the limit changed during a trial, from {before} to {after}; it is lost")
        why = "something else changed the limit during the trial"
        break
    wall_s, where = time.monotonic() - began, placed(pod)
    return Measurement(started_at, wall_s, exit_code=-9, status=status, error=why, placed=where)


def placed(pod: Mapping[str, Any]) -> dict[str, str]:
    """Where a trial ran, for the table."""
    return {"node": str(pod["spec"].get("nodeName") or ""), "pod": str(pod["metadata"]["name"])}


def what_became_of(container: PodContainer, pod: Object, reason: str) -> tuple[Status, str]:
    """Status and words for a trial whose container did not survive it."""
    spot, cluster = container.spot, container.cluster
    for _ in cluster.looks(SETTLE_S, LOOK_EVERY_S):
        try:
            now = pod_now(cluster, pod)
        except AbsentError:
            now = pod
        status = now.get("status") or {}
        if status.get("reason") == "Evicted":
            evicted = f"was evicted during the trial: {status.get('message')}"
            return "lost", f"the pod {spot.pod} {evicted}"
        if now is pod or now["metadata"]["uid"] != spot.uid or is_ending(now):
            return "lost", f"the pod {spot.pod} was deleted or replaced during the trial"
        state = container_status(now, spot.container)
        ended = pod_problems.ended(state)
        restarted = restarts(now, spot.container) != restarts(pod, spot.container)
        if restarted or "terminated" in (state.get("state") or {}):
            if ended.get("reason") == pod_problems.OUT_OF_MEMORY:
                return "oom_killed", f"the container {spot.container} was killed for want of memory"
            why = ended.get("reason")
            return "lost", f"the container {spot.container} was restarted during the trial ({why})"
    return "lost", f"what measured the trial is gone: {reason}"


def as_it_is(cluster: Cluster, pod: Object, container: str) -> Object | None:
    """A pod as it is now; None where it is gone, is not ready, or its container was restarted."""
    try:
        now = pod_now(cluster, pod)
    except AbsentError:
        return None
    same = now["metadata"]["uid"] == pod["metadata"]["uid"] and is_ready(now, container)
    return now if same and restarts(now, container) == restarts(pod, container) else None


def restarts(pod: Mapping[str, Any], container: str) -> int:
    """How often a container was restarted."""
    return int(container_status(pod, container).get("restartCount") or 0)


def where_and_how(
    spec: KubernetesTargetSpec, pod: Object, container: str, probe: Probe
) -> dict[str, Any]:
    """Where trials run and how they are measured, for the provenance."""
    shell = (
        "a busybox lent to the container" if spec.launcher_image else "the container's own shell"
    )
    clock = "clock, to a millisecond" if probe.fine_clock else "uptime, to 10 ms"
    return {
        "target": spec.kind,
        "target_mode": spec.mode,
        "image_id": str(container_status(pod, container).get("imageID") or "") or None,
        "cluster_node": pod["spec"].get("nodeName"),
        "node_cores": probe.cores,
        "measured_by": f"a launcher in the container, run by {shell}",
        "wall_clock": f"the node's {clock}",
        "accounting": f"the container's control group (version {probe.cgroup}) and all in it",
        "account_source": "schedstat, looked at by the launcher",
        "account_refused": {"taskstats": "no container hears of it"},
        "peak_memory": "of the program alone, read after 0.2 s, then every second",
    }
