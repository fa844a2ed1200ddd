"""One trial in a container, from its start to its measurement, whatever happens to the pod
meanwhile; and the container as the place where its files are made and its inputs are brought.

What a workload is besides what its sweep changes, in texts by name: a run goes on with the same
alone.

Values of a template may be secrets, so that all but images, replicas and resources is told by a
checksum.
"""

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from subprocess import CompletedProcess
from typing import Any

from deadzone.plugins import Command, Measurement, Status, TargetError
from deadzone.run.workloads.base import Place
from deadzone.store.programs import NOT_STARTED
from deadzone_kubernetes.api.cluster import AbsentError, ClusterError, Object
from deadzone_kubernetes.api.streams import NoProgramError, StreamBrokenError
from deadzone_kubernetes.container import accounting
from deadzone_kubernetes.container.container import (
    PREPARE,
    LauncherDiedError,
    NotStartedError,
    PodContainer,
)
from deadzone_kubernetes.container.resources import LIMITS, REQUESTS
from deadzone_kubernetes.specs import KubernetesTargetSpec
from deadzone_kubernetes.survey import pod_problems
from deadzone_kubernetes.workload import (
    POD,
    KubernetesWorkload,
    container_status,
    is_ending,
    is_ready,
    pod_now,
)

START_ATTEMPTS = 3
"""A trial that never started may be asked for again, so often [count]."""

LOOK_EVERY_S = 0.5

SETTLE_S = 20.0
"""The kubelet tells of a container that died within a second or two, of a node that died much later
[s]."""


def execute(
    container: PodContainer, command: Command, timeout_s: float, note: Callable[[str], None]
) -> Measurement:
    """Run a command as a trial and measure it; `lost` where the pod was restarted, evicted or
    replaced meanwhile.

    Raises ClusterError where the cluster refuses, or does not answer any more.
    """
    started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    began, pod = time.monotonic(), container.pod
    status: Status = "lost"
    why = f"the trial could not be started in {container.spot}"
    for _ in range(START_ATTEMPTS):
        try:
            text = container.run_trial(command, timeout_s)
        except NotStartedError:
            continue
        except (LauncherDiedError, AbsentError) as error:
            status, why = what_became_of(container, str(error))
            break
        account = accounting.parse(text)
        before, after = account.before.first("cpu_max"), account.after.first("cpu_max")
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


def what_became_of(container: PodContainer, reason: str) -> tuple[Status, str]:
    """Status and words for a trial whose container did not survive it."""
    spot, pod = container.spot, container.pod
    for _ in container.cluster.looks(SETTLE_S, LOOK_EVERY_S):
        try:
            now = pod_now(container.cluster, pod)
        except AbsentError:
            now = pod
        status = now.get("status") or {}
        if status.get("reason") == "Evicted":
            evicted = f"was evicted during the trial: {status.get('message')}"
            return "lost", f"the pod {spot.pod} {evicted}"
        if now is pod or now["metadata"]["uid"] != spot.uid or is_ending(now):
            return "lost", f"the pod {spot.pod} was deleted or replaced during the trial"
        state = container_status(now, spot.container)
        why = pod_problems.ended(state).get("reason")
        restarted = restarts(now, spot.container) != restarts(pod, spot.container)
        if restarted or "terminated" in (state.get("state") or {}):
            if why == pod_problems.OUT_OF_MEMORY:
                return "oom_killed", f"the container {spot.container} was killed: out of memory"
            return "lost", f"the container {spot.container} was restarted during the trial ({why})"
    return "lost", f"what measured the trial is gone: {reason}"


def is_there(container: PodContainer) -> bool:
    """Whether a pod is there as it was, ready, its container not restarted; it is seen anew
    then."""
    pod, spot = container.pod, container.spot
    try:
        now = pod_now(container.cluster, pod)
    except AbsentError:
        return False
    is_ours = now["metadata"]["uid"] == spot.uid and is_ready(now, spot.container)
    if not is_ours or restarts(now, spot.container) != restarts(pod, spot.container):
        return False
    container.pod = now
    return True


def restarts(pod: Mapping[str, Any], container: str) -> int:
    """How often a container was restarted."""
    return int(container_status(pod, container).get("restartCount") or 0)


def where_and_how(
    spec: KubernetesTargetSpec, pod: Object, container: str, probe: accounting.ContainerReading
) -> dict[str, Any]:
    """Where trials run and how they are measured, for the provenance."""
    shell = (
        "a busybox lent to the container" if spec.launcher_image else "the container's own shell"
    )
    version = probe.numbers["cgroup"]
    clock = "clock, to a millisecond" if probe.first("fine_clock") else "uptime, to 10 ms"
    return {
        "target": spec.kind,
        "target_mode": spec.mode,
        "image_id": str(container_status(pod, container).get("imageID") or "") or None,
        "cluster_node": pod["spec"].get("nodeName"),
        "node_cores": probe.numbers["cores"],
        "measured_by": f"a launcher in the container, run by {shell}",
        "wall_clock": f"the node's {clock}",
        "accounting": f"the container's control group (version {version}) and all in it",
        "account_source": "schedstat, looked at by the launcher",
        "account_refused": {"taskstats": "no container hears of it"},
        "peak_memory": "of the program alone, read after 0.2 s, then every second",
    }


RESTARTED = "kubectl.kubernetes.io/restartedAt"
"""Annotation of a template that `kubectl rollout restart` writes; the workload is the same."""

OF_NO_POD = ("name", "image", "resources", "volumeMounts")
"""Keys of a container that are told apart, or differ from pod to pod."""


def image_of(pod: Object, container: str) -> str:
    """The image that a container runs, by its digest where the kubelet says it."""
    state = container_status(pod, container)
    return str(state.get("imageID") or state.get("image") or "unknown")


def identity(
    workload: KubernetesWorkload, manifest: Object, pod: Object, container: str, swept: set[str]
) -> dict[str, str]:
    """What a workload is. pod: one of its. container: that is swept. swept: the keys of its amounts
    that the sweep changes."""
    template, known = workload.template(manifest), dict[str, str]()
    for spec in template["containers"]:
        name = spec["name"]
        own = {key: value for key, value in spec.items() if key not in OF_NO_POD}
        known[f"image of {name}"] = image_of(pod, name)
        known[f"resources of {name}"] = _amounts(spec, swept if name == container else set())
        known |= {f"{key} of {name}": _checksum(value) for key, value in own.items()}
    if workload.kind == POD:
        return known
    metadata = manifest["spec"]["template"].get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), RESTARTED: None}
    rest = {key: value for key, value in template.items() if key != "containers"}
    mounts = [spec.get("volumeMounts") for spec in template["containers"]]
    known["pod template"] = _checksum([rest, mounts, metadata.get("labels"), annotations])
    return {**known, "replicas": str(manifest["spec"].get("replicas", 1))}


def _amounts(container: Mapping[str, Any], swept: set[str]) -> str:
    parts = container.get("resources") or {}
    every = {
        f"{part}.{name}": amount
        for part in (LIMITS, REQUESTS)
        for name, amount in (parts.get(part) or {}).items()
    }
    return (
        ", ".join(f"{key} {amount}" for key, amount in every.items() if key not in swept) or "none"
    )


def _checksum(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


RUN = (
    'if [ -n "$1" ]; then cd "$1" || exit 126; fi; shift; "$@" </dev/null >"$0.out" 2>&1 & '
    'echo $! >"$0.pid"; wait $!; code=$?; : >"$0.pid"; tail -c 60000 "$0.out"; exit $code'
)
"""Runs a preparation; the shell's own name carries the file for what it prints."""

END = 'read -r pid <"$1.pid" && kill -KILL "$pid"'
"""Ends a preparation whose stream broke, or that takes too long."""

FIND = 'cd "${2:-/}" && command -v "$1" >/dev/null'


class PodPlace(Place):
    """The container that trials run in at present; with another pod its identity changes."""

    is_here = False

    def __init__(self, inputs: Mapping[str, str]) -> None:
        """inputs: files that lie in the container already, by name."""
        self._inputs = dict(inputs)
        self._container: PodContainer | None = None
        self._sent: dict[str, Path] = {}

    @property
    def identity(self) -> str | None:
        """The pod and its start, so to speak: its uid."""
        return self._container.spot.uid if self._container else None

    def enter(self, container: PodContainer | None) -> None:
        """From now on the place is this container; None: there is none."""
        if container is None or self._container is None or container.spot != self._container.spot:
            self._sent = {}
        self._container = container

    @property
    def _here(self) -> PodContainer:
        if self._container is None:
            raise TargetError("There is no pod to prepare a trial in.")
        return self._container

    def fresh_folder(self, folder: Path) -> Path:
        """An empty folder in the container."""
        made = self._here.shell('rm -rf "$1" && mkdir -p "$1"', str(folder), timeout_s=600.0)
        if made.returncode:
            raise TargetError(
                f"{folder} in {self._here.spot} cannot be made anew: {made.stderr.strip()}."
            )
        return folder

    def provide(self, source: Path, sha256: str) -> Path:
        """Path in the container of a file of this machine: one that lies there, checked, or a copy.

        Raises TargetError if the file that the study names there is another one.
        """
        if sha256 in self._sent:
            return self._sent[sha256]
        own = PurePosixPath(self._here.home) / "inputs" / sha256[:16] / source.name
        there = Path(self._inputs.get(source.name, own))
        if not self._here.holds(there, sha256, source.stat().st_size):
            if source.name in self._inputs:
                raise TargetError(
                    f"{there} in {self._here.spot} is not the file {source.name} of this study "
                    "(target.inputs): its checksum differs, or it is missing."
                )
            self._here.send(source, there)
        self._sent[sha256] = there
        return there

    def has_program(self, program: str, cwd: Path | None) -> bool:
        """Whether the container can start a program."""
        return self._here.shell(FIND, program, str(cwd or "")).returncode == 0

    def run(
        self, argv: Sequence[str], cwd: Path | None, timeout_s: float
    ) -> CompletedProcess[str] | None:
        """Run a preparation in the container, under the trial's limit; None if it takes too long.

        It may run twice where the stream to it breaks, so it must bear that.
        """
        deadline = time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                return self._here.prepare(RUN, argv, cwd, left_s)
            except StreamBrokenError:
                with contextlib.suppress(ClusterError):
                    self._here.shell(END, str(self._here.home / PREPARE))
                self._here.cluster.pause(1.0)
            except NoProgramError as error:
                return CompletedProcess(argv, NOT_STARTED, "", str(error))
        return None
