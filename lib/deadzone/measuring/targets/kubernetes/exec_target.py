"""Trials in a container of a workload that runs already: its limit is changed before each trial, and given back."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from deadzone.errors import DeadzoneError, LostError, SaidAs, TargetError
from deadzone.measurement import Command, Measurement
from deadzone.measuring.targets.base import Seen, Surroundings
from deadzone.measuring.targets.kubernetes import (
    autoscaler,
    giving_back,
    history,
    lending,
    originals,
    reached,
    resources,
    restoring,
    trial,
)
from deadzone.measuring.targets.kubernetes.cluster import MANAGER, Object
from deadzone.measuring.targets.kubernetes.cluster_target import ClusterTarget
from deadzone.measuring.targets.kubernetes.container import Container, Probe, clean, verified
from deadzone.measuring.targets.kubernetes.errors import (
    ChangedError,
    ClusterError,
    ConflictError,
    MissingVerbError,
    RefusedError,
)
from deadzone.measuring.targets.kubernetes.lease import lease_name
from deadzone.measuring.targets.kubernetes.others import Others
from deadzone.measuring.targets.kubernetes.place import PodPlace
from deadzone.measuring.targets.kubernetes.resources import CpuResources
from deadzone.measuring.targets.kubernetes.streams import Spot
from deadzone.measuring.targets.kubernetes.trying import try_levels
from deadzone.measuring.targets.kubernetes.workload import (
    POD,
    Workload,
    container_of,
    resize,
)
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

    def __init__(
        self, spec: KubernetesSpec, levels: Sequence[Level], around: Surroundings, is_asked: bool = False
    ) -> None:
        """levels: the CPU limits the study will ask for. is_asked: whether a client asks a service in the pods."""
        super().__init__(spec, levels, around)
        self._is_asked = is_asked
        self._home = PurePosixPath(spec.scratch) / f"deadzone-{self.token}"
        self.scratch = Path(self._home / "work")
        self.place = PodPlace(spec.inputs)
        self._workload: Workload
        self._original: originals.Original
        self._container: Container | None = None
        self._pod: Object = {}
        self._probe: Probe
        self._is_lost = False
        self._beside: list[tuple[Object, Container]] = []
        self._others: Others | None = None
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
            for said in restoring.restore_workload(cluster, workload, left, spec.start_timeout_s):
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
            self._name, cpu.limit, cpu.request, self.around.run_id, started, str(self._home), manager=MANAGER
        )
        self._others = Others(workload, self._name, found, note)
        if held := autoscaler.pausable(cluster, workload, is_paused=spec.autoscaler == "pause"):
            original = replace(original, autoscalers=held)
        self._keep(original)
        autoscaler.hold(cluster, workload, held, int(found["spec"].get("replicas", 1)))
        self._choose_pod()
        node, cores = self._pod["spec"].get("nodeName"), float(self._probe.cores)
        self._check_fits(cores, f"the node {node}, which has {cores:g} to give: it would limit nothing")
        if self._is_asked:
            reached.check(cluster, workload, self._pod, is_all=spec.pods == "all")
        levels = [self._cores(level) for level in self.levels]
        pods = [pod for pod, _ in self._members()]
        own = self._original.cpu
        list(map(note, try_levels(cluster, workload, self._name, own, pods, levels, spec.change)))

    def _cores(self, level: Level) -> float | None:
        return self._original.cpu.limit_cores if level == UNCHANGED else as_cores(level)

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
            with contextlib.suppress(ClusterError):
                self._look_at_workload()  # to say what others changed since the last trial
            giving_back.give_back(self.cluster, self._workload, self._original, self.spec.start_timeout_s)
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
        every = [self._container, *(container for _, container in self._beside)]
        self._container, self._beside = None, []
        for container in every:
            if problem := clean(container):
                self.around.note(problem)

    # --- one treatment ---------------------------------------------------------------------------------

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limit in force, and see it in the container's own control group."""
        self._look_at_workload()
        if stopped := self._stopped_by():
            raise stopped
        level = treatment.levels.get("cpu_limit", self.spec.cpu_limit)
        if self._container is None or self._is_lost or not self._still_there():
            self._choose_pod()
        cores = self._cores(level)
        if any(CpuResources.of(self._in(pod)).limit_cores != cores for pod, _ in self._members()):
            self._change(cores)
        try:
            self._probe, *_ = [verified(container, cores) for _, container in self._members()]
        except TargetError as error:
            raise self._by_others(error) from error

    def _members(self) -> list[tuple[Object, Container]]:
        """The pods that are at the level of a trial, with their containers; the one that trials run in first."""
        assert self._container is not None
        return [(self._pod, self._container), *self._beside]

    def _in(self, pod: Object) -> Object:
        return container_of(pod["spec"], self._name, str(self._workload))

    def _now(self) -> Object:
        """The container's specification as the pod has it."""
        return self._in(self._pod)

    def look(self) -> Seen:
        """What happened to the workload and its pods in a trial that has just ended."""
        self._look_at_workload()
        lost = None
        if self._is_asked and not self._is_lost and not self._still_there():
            self._is_lost = True
            lost = f"the pods of {self._workload} that are asked were replaced, or are more or less, during the trial"
        return Seen(lost, tuple(map(str, self._others.changes if self._others else ())), self._is_lost)

    def _stopped_by(self) -> ChangedError | None:
        is_open = self._others is not None and self.spec.on_change == "stop"
        return self._others.stopped() if self._others and is_open else None

    def _by_others(self, error: TargetError) -> TargetError:
        """Why a limit is not in force: what others changed since it was asked for, or the error itself."""
        known = len(self._others.changes) if self._others else 0
        self._look_at_workload()
        return self._stopped_by() or (self._others.blamed(error, known) if self._others else error)

    def _look_at_workload(self) -> None:
        """See what others changed since the last look; where the sweep goes on, it gives back what they made of it."""
        now = self._others.look(self.cluster) if self._others else None
        if now is None or self.spec.on_change == "stop":
            return
        original = giving_back.taken_over(self._workload, now, self._original)
        with contextlib.suppress(MissingVerbError):
            if known := original.history:
                fresh = history.recorded(self.cluster, self._workload, now)
                revisions = {**fresh["revisions"], **known["revisions"]}
                original = replace(original, history={**known, "revisions": revisions})
        self._keep(original)

    def _change(self, cores: float | None) -> None:
        self.check_lease()
        container = self._now()
        why_not = resources.why_not_resizable(self._pod, container, cores)
        if self.spec.change == "resize" or (self.spec.change == "auto" and why_not is None):
            if why_not or cores is None:
                raise TargetError(
                    f"The limit of {self._workload} cannot be changed to {resources.in_words(cores)} by a resize: {why_not}. Use "
                    "target.change: auto or patch."
                )
            self._pod = self._resize(self._pod, cores)
            self._beside = [(self._resize(pod, cores), one) for pod, one in self._beside]
            return
        if self._workload.kind == POD:
            raise TargetError(
                f"The limit of {self._workload} cannot be changed to {resources.in_words(cores)}: {why_not or 'it cannot be patched'}, and "
                "a pod by itself cannot be replaced. Name the Deployment it belongs to."
            )
        self._patch(cores)

    def _resize(self, pod: Object, cores: float) -> Object:
        container = self._in(pod)
        original = self._original.with_pod(pod, CpuResources.of(container))
        before = next(known for known in original.pods if known.uid == pod["metadata"]["uid"])
        wanted = resources.for_resize(pod, container, cores, before)
        assert wanted is not None
        self._keep(original)
        return resize(self.cluster, pod, self._name, wanted, self.spec.start_timeout_s)

    def _patch(self, cores: float | None) -> None:
        self._workload.check_rollout_possible(self._workload.read(self.cluster))
        self._clean_container()
        wanted = resources.for_template(self._original.cpu, cores)
        room_made = self._keep_history()
        while True:
            found = self._workload.read(self.cluster)
            if self._others and (by_others := self._others.between(found)):
                raise LostError(f"others changed {self._workload} before the trial: {by_others[0]}")
            original = replace(self._original, rolled=True)
            try:
                self._workload.patch_template(
                    *(self.cluster, self._name, wanted, found),
                    annotations={originals.ANNOTATION: original.dumps()},
                    spec=room_made,
                )
            except ConflictError:  # something wrote meanwhile: look who it was
                self.cluster.pause(0.1)
                continue
            break
        self._original = original
        self._write(original)
        self._choose_pod()

    def _keep_history(self) -> Object:
        """Note the history of rollouts before the first template of the sweep; what the specification needs to keep it."""
        found = self._workload.read(self.cluster)
        if self._original.history is None:
            try:
                kept = history.recorded(self.cluster, self._workload, found)
            except MissingVerbError as error:
                if not self._original.rolled:
                    self.around.note(
                        f"the history of rollouts will have the levels of this sweep in it: {error}"
                    )
                return {}
            self._original = replace(self._original, history=kept)
        assert self._original.history is not None
        return history.room_for(self._original.history, len(self.levels))

    @property
    def _originals_file(self) -> Path:
        """In the run's folder; of a name that no other workload of the run has."""
        return self.around.folder / ORIGINALS_FILE.format(self._workload)

    def _keep(self, original: originals.Original) -> None:
        """Write down what there was, in the run's folder and at the workload, before anything is changed."""
        if self._is_kept and original == self._original:
            return
        self._original = original
        self._write(original)
        was, self._is_kept = self._is_kept, True
        try:
            self._workload.annotate(self.cluster, {originals.ANNOTATION: original.dumps()})
        except (MissingVerbError, RefusedError):
            self._is_kept = was
            raise

    def _write(self, original: originals.Original) -> None:
        path = self._originals_file
        with SaidAs(TargetError, f"{path}: cannot be written, so nothing was changed"):
            path.write_text(original.dumps() + "\n", encoding="utf-8")
            with path.open() as handle:
                os.fsync(handle.fileno())

    # --- the pod and its container ---------------------------------------------------------------------

    def _choose_pod(self) -> None:
        """The newest ready pod of the workload, with the launcher in its container."""
        cluster, name, timeout_s = self.cluster, self._name, self.spec.start_timeout_s
        resized = {pod.uid for pod in self._original.pods}
        self._pod = self._workload.await_rollout(cluster, name, timeout_s, resized)
        self._container = container = self._container_in(self._pod)
        self._probe = container.open()
        self._beside = []
        if self.spec.pods == "all":
            uid = self._pod["metadata"]["uid"]
            for pod in self._workload.pods(cluster):
                if pod["metadata"]["uid"] != uid:
                    self._beside.append((pod, self._container_in(pod)))
                    self._beside[-1][1].open()
        self._is_lost = False
        self.place.enter(container)

    def _container_in(self, pod: Object) -> Container:
        cluster, name, image = self.cluster, self._name, self.spec.launcher_image
        timeout_s = self.spec.start_timeout_s
        lent = lending.lend(cluster, pod, name, image, self._home, timeout_s) if image else None
        return Container(cluster, Spot.of(pod, name), self._home, lent)

    def _still_there(self) -> bool:
        """Whether the pods are those of before, and run; their specifications are read anew."""
        now = [(trial.as_it_is(self.cluster, pod, self._name), one) for pod, one in self._members()]
        if any(pod is None for pod, _ in now):
            return False
        (first, _), *beside = now
        self._pod, self._beside = first or {}, [(pod, one) for pod, one in beside if pod is not None]
        if self.spec.pods == "one":
            return True
        ours = {pod["metadata"]["uid"] for pod, _ in self._members()}
        return ours == {pod["metadata"]["uid"] for pod in self._workload.pods(self.cluster)}

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
            self._counted = Counters.sum([container.count() for _, container in self._members()])
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
            "pods_at_level": [pod["metadata"]["name"] for pod, _ in self._members()],
            "image": container.get("image"),
            "limits_mechanism": f"Kubernetes, change: {self.spec.change}",
            "qos_class": (self._pod.get("status") or {}).get("qosClass"),
            "qos_class_without_limit": after_none,
        }
