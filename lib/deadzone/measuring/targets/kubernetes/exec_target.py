"""Trials in a container of a workload that runs already: its limit is changed before each trial, and given back."""

import contextlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from deadzone.errors import DeadzoneError, SaidAs, TargetError
from deadzone.measurement import Command, Measurement
from deadzone.measuring.targets.base import Surroundings
from deadzone.measuring.targets.kubernetes import lending, originals, resources, restoring, trial
from deadzone.measuring.targets.kubernetes.cluster import Object
from deadzone.measuring.targets.kubernetes.cluster_target import ClusterTarget
from deadzone.measuring.targets.kubernetes.container import Container, verified
from deadzone.measuring.targets.kubernetes.errors import AbsentError, ClusterError
from deadzone.measuring.targets.kubernetes.lease import lease_name
from deadzone.measuring.targets.kubernetes.place import PodPlace
from deadzone.measuring.targets.kubernetes.resources import CpuResources
from deadzone.measuring.targets.kubernetes.streams import Spot
from deadzone.measuring.targets.kubernetes.workload import POD, Workload, container_of, is_ready, resize
from deadzone.measuring.targets.limits.base import Counters, as_cores
from deadzone.study.design import Treatment
from deadzone.study.levels import NONE, Level
from deadzone.study.target_specs import UNCHANGED
from deadzone.study.target_specs import KubernetesTarget as KubernetesSpec

ORIGINALS_FILE = "original-resources-{0.namespace}-{0.kind}-{0.name}.json"
"""In the run's folder: what the workload had before, beside the annotation that says the same."""


class ExecTarget(ClusterTarget):
    """A container of a Deployment, StatefulSet or pod that the study names."""

    counts_from_afar = True
    must_give_back = True

    def __init__(self, spec: KubernetesSpec, levels: Sequence[Level], around: Surroundings) -> None:
        """levels: the CPU limits the study will ask for."""
        super().__init__(spec, levels, around)
        self._home = PurePosixPath(spec.scratch) / f"deadzone-{self.token}"
        self.scratch = Path(self._home / "work")
        self.place = PodPlace(spec.inputs)
        self._workload: Workload
        self._original: originals.Original
        self._container: Container | None = None
        self._pod: Object = {}
        self._is_kept = False
        self._counted = Counters()

    # --- opening and closing ---------------------------------------------------------------------------

    def _open(self) -> None:
        spec, note, cluster = self.spec, self.around.note, self.cluster
        workload = Workload.find(cluster, spec.namespace, spec.workload, spec.selector)
        workload.check_allowed(workload.read(cluster), spec.allow)
        if spec.allow:
            note(f"{workload} is swept because --allow says so")
        self._workload = workload
        self._lock(lease_name(workload), str(workload))
        if left := originals.kept(workload.read(cluster), str(workload)):
            for said in restoring.restore_workload(cluster, workload, left):
                note(f"left by the killed run {left.run}: {said}")
            if workload.kind != POD:
                workload.await_rollout(cluster, left.container, spec.start_timeout_s, frozenset())
        found = workload.read(cluster)
        container = container_of(workload.template(found), spec.container, str(workload))
        self._name: str = container["name"]
        if spec.change == "patch":
            workload.check_rollout_possible(found)
        cpu = CpuResources.of(container)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        original = originals.Original(
            self._name, cpu.limit, cpu.request, self.around.run_id, started, str(self._home)
        )
        self._keep(original)
        self._choose_pod()
        node, cores = self._pod["spec"].get("nodeName"), float(self._probe.cores)
        self._check_fits(cores, f"the node {node}, which has {cores:g} to give: it would limit nothing")

    def _close(self) -> str | None:
        problem = None
        if self._is_kept and self._lease and self._lease.is_held:
            problem = self._give_back()
        if self._lease:
            self._lease.release()
        self.place.enter(None)
        return problem

    def _give_back(self) -> str | None:
        try:
            with contextlib.suppress(ClusterError):
                self.check_lease()
        except TargetError:
            return None  # another sweep has the workload now, and restores it
        self._clean_container()
        try:
            originals.give_back(self.cluster, self._workload, self._original)
        except DeadzoneError as error:
            return (
                f"The resources of {self._workload} could not be given back: {error} "
                f"They are kept in its annotation {originals.ANNOTATION} and in {self._originals_file}; "
                "`deadzone restore` gives them back."
            )
        self._is_kept = False
        return None

    def _clean_container(self) -> None:
        """Kill what trials left running in the pod, and remove the folder; a pod that is gone has neither."""
        if self._container is None:
            return
        container, self._container = self._container, None
        try:
            container.clean()
        except DeadzoneError as error:
            if not isinstance(error, AbsentError):
                self.around.note(f"{container.home} in {container.spot} could not be removed: {error}")

    # --- one treatment ---------------------------------------------------------------------------------

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limit in force, and see it in the container's own control group."""
        level = treatment.levels.get("cpu_limit", self.spec.cpu_limit)
        if self._container is None or self._is_lost or not self._still_there():
            self._choose_pod()
        cores = self._original.cpu.limit_cores if level == UNCHANGED else as_cores(level)
        if CpuResources.of(self._now()).limit_cores != cores:
            self._change(cores)
        assert self._container is not None
        self._probe = verified(self._container, cores)

    def _now(self) -> Object:
        """The container's specification as the pod has it."""
        return container_of(self._pod["spec"], self._name, str(self._workload))

    def _change(self, cores: float | None) -> None:
        self.check_lease()
        container = self._now()
        why_not = resources.why_not_resizable(self._pod, container, cores)
        if self.spec.change == "resize" or (self.spec.change == "auto" and why_not is None):
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
        original = self._original.with_pod(self._pod, CpuResources.of(container))
        before = next(pod for pod in original.pods if pod.uid == self._pod["metadata"]["uid"])
        wanted = resources.for_resize(self._pod, container, cores, before)
        assert wanted is not None
        self._keep(original)
        self._pod = resize(self.cluster, self._pod, self._name, wanted, self.spec.start_timeout_s)

    def _patch(self, cores: float | None) -> None:
        self._workload.check_rollout_possible(self._workload.read(self.cluster))
        self._clean_container()
        wanted = resources.for_template(self._original.cpu, cores)
        self._workload.patch_template(self.cluster, self._name, wanted)
        self._choose_pod()

    @property
    def _originals_file(self) -> Path:
        """In the run's folder; of a name that no other workload of the run has."""
        return self.around.folder / ORIGINALS_FILE.format(self._workload)

    def _keep(self, original: originals.Original) -> None:
        """Write down what there was, in the run's folder and at the workload, before anything is changed."""
        if self._is_kept and original == self._original:
            return
        self._original = original
        path = self._originals_file
        with SaidAs(TargetError, f"{path}: cannot be written, so nothing was changed"):
            path.write_text(original.dumps() + "\n", encoding="utf-8")
            with path.open() as handle:
                os.fsync(handle.fileno())
        self._is_kept = True
        self._workload.annotate(self.cluster, {originals.ANNOTATION: original.dumps()})

    # --- the pod and its container ---------------------------------------------------------------------

    def _choose_pod(self) -> None:
        """The newest ready pod of the workload, with the launcher in its container."""
        cluster, name, timeout_s = self.cluster, self._name, self.spec.start_timeout_s
        resized = {pod.uid for pod in self._original.pods}
        self._pod = self._workload.await_rollout(cluster, name, timeout_s, resized)
        image = self.spec.launcher_image
        lent = lending.lend(cluster, self._pod, name, image, self._home, timeout_s) if image else None
        self._container = container = Container(cluster, Spot.of(self._pod, name), self._home, lent)
        self._probe = container.open()
        self._is_lost: bool = False
        self.place.enter(container)

    def _still_there(self) -> bool:
        """Whether the pod is the one of before, and runs; its specification is read anew."""
        name, namespace = self._pod["metadata"]["name"], self._pod["metadata"]["namespace"]
        try:
            now = Workload(POD, namespace, name).read(self.cluster)
        except AbsentError:
            return False
        same = now["metadata"]["uid"] == self._pod["metadata"]["uid"] and is_ready(now, self._name)
        restarted = trial.restarts(now, self._name) != trial.restarts(self._pod, self._name)
        self._pod = now
        return same and not restarted

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run the command in the container; a pod that is gone, restarted or replaced meanwhile makes the trial lost."""
        assert self._container is not None
        measured = self.trial(self._container, self._pod, command, timeout_s)
        self._is_lost = measured.status == "lost"  # whatever is there next is looked at anew
        return measured

    def read(self) -> Counters:
        """The container's accounting now; of one that did not survive, what is known of its end."""
        if self._container is None or self._is_lost:
            return Counters()
        try:
            self._counted = self._container.count()
        except ClusterError as error:
            status, why = trial.what_became_of(self._container, self._pod, str(error))
            self._is_lost = True
            self.around.note(why)
            return Counters(oom_kills=(self._counted.oom_kills or 0) + (status == "oom_killed"))
        return self._counted

    def facts(self) -> dict[str, Any]:
        """Where trials run and how limits are changed, for the provenance."""
        container = self._now()
        unlimited = CpuResources(None, CpuResources.of(container).request)
        after_none = resources.qos_class_with(self._pod, self._name, unlimited)
        if NONE in self.levels:
            self.around.note(
                f"without a limit the pods of {self._workload} are of the QoS class {after_none}"
            )
        return {
            **trial.where_and_how(self.spec, self._pod, self._name, self._probe),
            "workload": str(self._workload),
            "container": self._name,
            "image": container.get("image"),
            "limits_mechanism": f"Kubernetes, change: {self.spec.change}",
            "qos_class": (self._pod.get("status") or {}).get("qosClass"),
            "qos_class_without_limit": after_none,
        }


def _words(cores: float | None) -> str:
    return "none" if cores is None else f"{cores:g} cores"
