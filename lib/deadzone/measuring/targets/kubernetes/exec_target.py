"""Trials in a container of a workload that runs already: its limit is changed before each trial, and given back."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Self

from deadzone.errors import DeadzoneError, SaidAs, TargetError
from deadzone.measurement import Command, Measurement
from deadzone.measuring.targets.base import Surroundings
from deadzone.measuring.targets.interrupts import undisturbed
from deadzone.measuring.targets.kubernetes import (
    changing,
    lending,
    originals,
    prometheus,
    restoring,
    trial,
    verifying,
)
from deadzone.measuring.targets.kubernetes.cluster import Cluster, Object
from deadzone.measuring.targets.kubernetes.container import Container, Probe
from deadzone.measuring.targets.kubernetes.errors import AbsentError, ClusterError
from deadzone.measuring.targets.kubernetes.lease import Lease, lease_name
from deadzone.measuring.targets.kubernetes.place import PodPlace
from deadzone.measuring.targets.kubernetes.quantities import as_cores, check_limits
from deadzone.measuring.targets.kubernetes.resources import (
    CpuResources,
    for_resize,
    for_template,
    qos_class,
    why_not_resizable,
)
from deadzone.measuring.targets.kubernetes.streams import Spot
from deadzone.measuring.targets.kubernetes.workload import (
    POD,
    Workload,
    check_allowed,
    container_of,
    find,
    is_ready,
    template,
)
from deadzone.measuring.targets.limits.base import Counters
from deadzone.study.design import Treatment
from deadzone.study.levels import NONE, Level
from deadzone.study.target_specs import UNCHANGED
from deadzone.study.target_specs import KubernetesTarget as KubernetesSpec

ORIGINALS_FILE = "original-resources-{0.namespace}-{0.kind}-{0.name}.json"
"""In the run's folder: what the workload had before, beside the annotation that says the same."""

OPENED, RESIZED, PATCHED = "opened", "resized", "patched"
"""What was done to the workload so far; the first means its annotation alone."""


class ExecTarget:
    """A container of a Deployment, StatefulSet or pod that the study names."""

    factors: tuple[str, ...] = ("cpu_limit",)
    parallelism = 1
    counts_from_afar = True

    def __init__(self, spec: KubernetesSpec, levels: Sequence[Level], around: Surroundings) -> None:
        """levels: the CPU limits the study will ask for."""
        self._spec = spec
        self._levels = tuple(dict.fromkeys(levels)) or (spec.cpu_limit,)
        self._around = around
        token = secrets.token_hex(4)
        self._home = PurePosixPath(spec.scratch) / f"deadzone-{token}"
        self.scratch = Path(self._home / "work")
        self.place = PodPlace(spec.inputs)
        self._cluster: Cluster | None = None
        self._lease: Lease | None = None
        self._workload = Workload("", "", "")
        self._original: originals.Original | None = None
        self._container: Container | None = None
        self._pod: Object = {}
        self._probe: Probe | None = None
        self._methods: set[str] = set()
        self._counted = Counters()

    # --- opening and closing ---------------------------------------------------------------------------

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def _open(self) -> None:
        spec, note = self._spec, self._around.note
        check_limits(self._levels)
        self._cluster = cluster = Cluster(spec.context, note)
        workload = find(cluster, spec.namespace, spec.workload, spec.selector)
        found = workload.read(cluster)
        check_allowed(workload, found, spec.allow)
        if spec.allow:
            note(f"{workload} is swept because --allow says so")
        self._workload = workload
        self._lease = Lease(
            cluster, workload.namespace, lease_name(workload), str(workload), self._around.run_id
        )
        self._lease.acquire()
        if left := originals.kept(workload.read(cluster), str(workload)):
            for said in restoring.restore_workload(cluster, workload, left):
                note(f"left by the killed run {left.run}: {said}")
            if workload.kind != POD:
                changing.await_rollout(cluster, workload, left.container, spec.start_timeout_s)
        found = workload.read(cluster)
        container = container_of(template(workload, found), spec.container, str(workload))
        self._check_change_possible(found)
        cpu = CpuResources.of(container)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        self._original = originals.Original(
            container["name"], cpu.limit, cpu.request, self._around.run_id, started, str(self._home)
        )
        self._keep(self._original, OPENED)
        self._choose_pod()
        self._check_fits()

    def _check_change_possible(self, found: Object) -> None:
        if self._spec.change == "patch":
            changing.check_rollout_possible(self._workload, found)

    def _check_fits(self) -> None:
        """Raise TargetError for a limit that the node has not the cores for: it would limit nothing."""
        assert self._probe is not None
        cores = [amount for level in self._levels if (amount := as_cores(level)) is not None]
        have = self._node_cores()
        if cores and max(cores) > have:
            node = self._pod["spec"].get("nodeName")
            raise TargetError(
                f"A CPU limit of {max(cores):g} cores is beyond the node {node}, which has {have:g} to give: it would limit "
                "nothing. Use smaller limits, and none for no limit."
            )

    def _node_cores(self) -> float:
        assert self._probe is not None
        return float(self._probe.cores)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        with undisturbed():
            problem = self._close()
        if problem and isinstance(error, DeadzoneError):
            raise type(error)(f"{error}\n{problem}") from error
        if problem and (error is None or isinstance(error, KeyboardInterrupt)):
            raise TargetError(problem) from error
        if problem:
            self._around.note(problem)

    def _close(self) -> str | None:
        """Leave everything as it was; what could not be done, in words."""
        if self._cluster is None:
            return None
        problem = None
        with self._cluster.cleaning_up():
            if self._methods and self._lease and self._lease.is_held:
                problem = self._give_back()
            if self._lease:
                self._lease.release()
        self.place.enter(None)
        return problem

    def _give_back(self) -> str | None:
        assert self._cluster is not None and self._original is not None
        reason = None
        try:
            self._lease_holds()
        except ClusterError as error:
            reason = str(error)
        except TargetError:
            return None  # another sweep has the workload now, and restores it
        self._clean_container()
        try:
            originals.give_back(self._cluster, self._workload, self._original)
        except DeadzoneError as error:
            reason = str(error)
        else:
            self._methods = set()
            return None
        return (
            f"The resources of {self._workload} could not be given back: {reason} "
            f"They are kept in its annotation {originals.ANNOTATION} and in {self._originals_file}; "
            "`deadzone restore` gives them back."
        )

    def _lease_holds(self) -> None:
        if self._lease:
            self._lease.check()

    def _clean_container(self) -> None:
        """Kill what trials left running in the pod, and remove the folder; a pod that is gone has neither."""
        if self._container is None:
            return
        container, self._container = self._container, None
        try:
            container.clean()
        except DeadzoneError as error:
            if not isinstance(error, AbsentError):
                self._around.note(f"{container.home} in {container.spot} could not be removed: {error}")

    # --- one treatment ---------------------------------------------------------------------------------

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limit in force, and see it in the container's own control group."""
        level = treatment.levels.get("cpu_limit", self._spec.cpu_limit)
        if self._container is None or not self._still_there():
            self._choose_pod()
        assert self._original is not None
        cores = self._original.cpu.limit_cores if level == UNCHANGED else as_cores(level)
        if not self._in_force(cores):
            self._change(cores)
        assert self._container is not None
        level = NONE if cores is None else cores
        self._probe = verifying.verified(self._container, level)

    def _in_force(self, cores: float | None) -> bool:
        container = container_of(self._pod["spec"], self._name, str(self._workload))
        return CpuResources.of(container).limit_cores == cores

    def _change(self, cores: float | None) -> None:
        assert self._cluster is not None and self._lease is not None
        self._lease.check()
        container = container_of(self._pod["spec"], self._name, str(self._workload))
        why_not = why_not_resizable(self._pod, container, cores)
        if self._spec.change == "resize" or (self._spec.change == "auto" and why_not is None):
            if why_not or cores is None:
                raise TargetError(
                    f"The limit of {self._workload} cannot be changed to {_words(cores)} by a resize: {why_not}. Use "
                    "target.change: auto or patch."
                )
            self._resize(container, cores)
            return
        if self._workload.kind == POD:
            raise TargetError(
                f"The limit of {self._workload} cannot be changed to {_words(cores)}: {why_not or 'it cannot be patched'}, and "
                "a pod by itself cannot be replaced. Name the Deployment it belongs to."
            )
        self._patch(cores)

    def _resize(self, container: Object, cores: float) -> None:
        assert self._cluster is not None and self._original is not None
        before = CpuResources.of(container)
        known = next((p for p in self._original.pods if p.uid == self._pod["metadata"]["uid"]), None)
        first = CpuResources(known.limit, known.request) if known else before
        wanted = for_resize(self._pod, container, cores, first)
        assert wanted is not None
        self._keep(self._original.with_pod(self._pod, before), RESIZED)
        self._pod = changing.resize(self._cluster, self._pod, self._name, wanted, self._spec.start_timeout_s)

    def _patch(self, cores: float | None) -> None:
        assert self._cluster is not None and self._original is not None
        changing.check_rollout_possible(self._workload, self._workload.read(self._cluster))
        self._keep(self._original, PATCHED)
        self._clean_container()
        wanted = for_template(self._original.cpu, cores)
        changing.patch(self._cluster, self._workload, self._name, wanted)
        self._choose_pod()

    @property
    def _originals_file(self) -> Path:
        """In the run's folder; of a name that no other workload of the run has."""
        return self._around.folder / ORIGINALS_FILE.format(self._workload)

    def _keep(self, original: originals.Original, method: str) -> None:
        """Write down what there was, in the run's folder and at the workload, before anything is changed."""
        assert self._cluster is not None
        if original == self._original and method in self._methods:
            return
        self._original = original
        path = self._originals_file
        with SaidAs(TargetError, f"{path}: cannot be written, so nothing was changed"):
            path.write_text(original.dumps() + "\n", encoding="utf-8")
            with path.open() as handle:
                os.fsync(handle.fileno())
        self._methods.add(method)
        originals.keep(self._cluster, self._workload, original)

    # --- the pod and its container ---------------------------------------------------------------------

    @property
    def _name(self) -> str:
        assert self._original is not None
        return self._original.container

    def _choose_pod(self) -> None:
        """The newest ready pod of the workload, with the launcher in its container."""
        assert self._cluster is not None
        self._pod = changing.await_rollout(
            self._cluster, self._workload, self._name, self._spec.start_timeout_s
        )
        metadata = self._pod["metadata"]
        spot = Spot(metadata["namespace"], metadata["name"], metadata["uid"], self._name)
        lent = None
        if self._spec.launcher_image:
            lent = lending.lend(
                self._cluster,
                self._pod,
                self._name,
                self._spec.launcher_image,
                self._home,
                self._spec.start_timeout_s,
            )
        container = Container(self._cluster, spot, self._home, lent)
        self._container = container
        self._probe = container.open()
        self.place.enter(container)

    def _still_there(self) -> bool:
        """Whether the pod is the one of before, and runs; its specification is read anew."""
        assert self._cluster is not None
        name, namespace = self._pod["metadata"]["name"], self._pod["metadata"]["namespace"]
        try:
            now = Workload(POD, namespace, name).read(self._cluster)
        except AbsentError:
            return False
        same = now["metadata"]["uid"] == self._pod["metadata"]["uid"] and is_ready(now, self._name)
        restarted = trial.restarts(now, self._name) != trial.restarts(self._pod, self._name)
        self._pod = now
        return same and not restarted

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run the command in the container; a pod that is gone, restarted or replaced meanwhile makes the trial lost."""
        assert self._cluster is not None and self._container is not None
        measured = trial.execute(
            self._cluster, self._container, self._pod, command, timeout_s, self._around.note
        )
        if measured.status == "lost":
            self._container = None  # whatever is there next is looked at anew
        return prometheus.added(self._spec.prometheus_url, self._pod, self._name, measured, self._around.note)

    def read(self) -> Counters:
        """The container's accounting now; of one that did not survive, what is known of its end."""
        assert self._cluster is not None
        if self._container is None:
            return Counters()
        try:
            self._counted = self._container.count()
        except ClusterError as error:
            fate = trial.what_became_of(self._cluster, self._container, self._pod, str(error))
            if fate is None:
                raise
            self._container = None
            self._around.note(fate[1])
            killed = self._counted.oom_kills or 0
            return Counters(oom_kills=killed + 1 if fate[0] == "oom_killed" else killed)
        return self._counted

    def facts(self) -> dict[str, Any]:
        """Where trials run and how limits are changed, for the provenance."""
        assert self._probe is not None
        container = container_of(self._pod["spec"], self._name, str(self._workload))
        after_none = qos_class(
            [
                {**one, "resources": _without_limit(one)} if one["name"] == self._name else one
                for one in self._pod["spec"]["containers"]
            ]
        )
        if NONE in self._levels:
            self._around.note(
                f"without a limit the pods of {self._workload} are of the QoS class {after_none}"
            )
        return {
            "target": "kubernetes",
            "target_mode": "exec",
            "workload": str(self._workload),
            "container": self._name,
            "image": container.get("image"),
            "image_id": trial.image_id(self._pod, self._name),
            "cluster_node": self._pod["spec"].get("nodeName"),
            "node_cores": self._probe.cores,
            "limits_mechanism": f"Kubernetes, change: {self._spec.change}",
            "qos_class": (self._pod.get("status") or {}).get("qosClass"),
            "qos_class_without_limit": after_none,
            **trial.how_measured(self._probe, bool(self._spec.launcher_image)),
        }


def _without_limit(container: Object) -> Object:
    resources = container.get("resources") or {}
    limits = {name: amount for name, amount in (resources.get("limits") or {}).items() if name != "cpu"}
    return {**resources, "limits": limits}


def _words(cores: float | None) -> str:
    return "none" if cores is None else f"{cores:g} cores"
