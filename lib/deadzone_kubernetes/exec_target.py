"""Trials in a container of a workload that runs already: its limit is changed before each trial,
and given back.

The target of a study that names Kubernetes is this one, or fresh pods.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from deadzone.plugins import (
    NONE,
    Command,
    DeadzoneError,
    Limits,
    Measurement,
    PlannedTarget,
    Seen,
    Surroundings,
    Target,
    TargetError,
    Treatment,
)
from deadzone.run.targets.limits.base import Counters
from deadzone_kubernetes.api.cluster import (
    AbsentError,
    ClusterError,
    MissingVerbError,
    Object,
    RefusedError,
)
from deadzone_kubernetes.cluster_target import ClusterTarget
from deadzone_kubernetes.container import resources, trial
from deadzone_kubernetes.container.accounting import ContainerReading
from deadzone_kubernetes.container.container import PodContainer, lend, verified
from deadzone_kubernetes.job_target import JobTarget
from deadzone_kubernetes.lease import giving_back, restoring
from deadzone_kubernetes.lease.lease import Lease
from deadzone_kubernetes.specs import KubernetesTargetSpec
from deadzone_kubernetes.survey.trying import check_reached, try_levels
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.watch.changes import applier, owners, path_of
from deadzone_kubernetes.watch.others import OtherChanges
from deadzone_kubernetes.workload import KubernetesWorkload, container_of, pod_now, resize

ASKED_BEFORE = {"cpu": "cpu_request_before", "memory": "memory_request_before_bytes"}
"""Where the provenance has what the container asked for before the sweep [cores, bytes]."""


class ExecTarget(ClusterTarget):
    """A container of a Deployment, StatefulSet or pod that the study names."""

    counts_from_afar = True
    must_give_back = True
    place: trial.PodPlace
    others: OtherChanges
    """What others change meanwhile."""
    probe: ContainerReading
    """What the container has that trials run in."""

    def __init__(
        self,
        spec: KubernetesTargetSpec,
        levels: Sequence[Limits],
        around: Surroundings,
        is_asked: bool = False,
    ) -> None:
        """levels: the limits and requests the study will ask for. is_asked: whether a client asks a
        service in the pods."""
        super().__init__(spec, levels, around)
        self._is_asked = is_asked
        self._home = PurePosixPath(spec.scratch) / f"deadzone-{self.token}"
        self.scratch = Path(self._home / "work")
        self.place = trial.PodPlace(spec.inputs)
        self._original: giving_back.Original | None = None
        self._every: list[PodContainer] = []
        self._is_lost = False
        self._counted = Counters()

    @property
    def original(self) -> giving_back.Original:
        """What the workload had before."""
        assert self._original is not None
        return self._original

    @property
    def pods(self) -> list[Object]:
        """Those at the level of a trial, each as it was last seen; trials run in the first one."""
        return [container.pod for container in self._every]

    # --- opening and closing
    # ---------------------------------------------------------------------------

    def _open(self) -> None:
        spec, note, cluster = self.spec, self.around.note, self.cluster
        assert spec.workload is not None
        workload = KubernetesWorkload.find(cluster, spec.namespace, spec.workload)
        workload.check_allowed(workload.read(), spec.allow)
        if spec.allow:
            note(f"{workload} is swept because --allow says so")
        self._workload = workload
        self._lease = Lease.of(workload, self.around.run_id)
        self._lease.acquire()
        self._give_back_left()
        self._manifest = manifest = workload.read()
        container = container_of(workload.template(manifest), spec.container, str(workload))
        self._name: str = container["name"]
        if spec.change == "patch":
            workload.check_rollout_possible(manifest)
        swept = resources.keys_swept(self.levels)
        own = resources.Resources.of(container, resources.resources_of(swept))
        self._replicas = int(manifest["spec"].get("replicas", 1))
        if not self._replicas:
            raise TargetError(f"{workload} has no replicas, so no container to measure in.")
        is_paused, scalers = spec.autoscaler == "pause", autoscaler.at_work(workload, note)
        autoscaler.check(scalers, workload, self._replicas, is_paused=is_paused)
        self.others = OtherChanges(workload, manifest, note)
        removed = tuple(
            key
            for factor, key in resources.FACTORS.items()
            if NONE in {getattr(level, factor) for level in self.levels}
        )
        paths = [path_of(workload.kind, self._name, key) for key in own.amounts]
        original = giving_back.Original(
            container=self._name,
            resources=own,
            run=self.around.run_id,
            scratch=str(self._home),
            swept=swept,
            owned=owners(manifest, paths),
            removed=removed,
        )
        self._keep(original)
        if scalers:
            autoscaler.hold(workload, self._replicas, self._keep_autoscaler)
        self._choose_pods()
        pod, cores = self.pods[0], self.probe.numbers["cores"]
        node = f"the node {pod['spec'].get('nodeName')}, which has {cores} to give"
        self._check_fits(cores, f"{node}: it would limit nothing")
        if self._is_asked:
            check_reached(workload, pod, is_all=spec.pods == "all")
        try_levels(workload, original, self.pods, self.levels, spec.change, note)

    def _keep(self, original: giving_back.Original) -> None:
        """Note at the workload what there was, before anything is changed."""
        if original == self._original:
            return
        before, self._original = self._original, original
        try:
            self._workload.annotate({giving_back.ANNOTATION: original.dumps()})
        except (MissingVerbError, RefusedError):
            self._original = before
            raise

    def _keep_autoscaler(self, it: str, had: autoscaler.Had) -> None:
        self._keep(replace(self.original, autoscalers={**self.original.autoscalers, it: had}))

    def _give_back_left(self) -> None:
        """Give back what a killed sweep left at the workload."""
        workload, timeout_s = self._workload, self.spec.start_timeout_s
        if left := giving_back.kept(workload.read(), str(workload)):
            for given in restoring.restore_workload(workload, timeout_s):
                self.around.note(f"left by the killed run {left.run}: {given}")

    def _choose_pods(self) -> None:
        """Take the newest ready pod of the workload, and all others where the target says so."""
        original, uids = self.original, {pod.uid for pod in self.original.pods}
        first = self._workload.await_rollout(
            self._name, self.spec.start_timeout_s, original.swept, uids
        )
        others = self._workload.pods() if self.spec.pods == "all" else []
        uid, self._every = first["metadata"]["uid"], []
        for pod in (first, *(other for other in others if other["metadata"]["uid"] != uid)):
            self._every.append(self._entered(pod))
        self.probe, *_ = [container.open() for container in self._every]
        self.others.look_at_pods(self.pods)
        self._is_lost = False
        self.place.enter(self._every[0])

    def _entered(self, pod: Object) -> PodContainer:
        to, image = (self.cluster, pod, self._name, self._home), self.spec.launcher_image
        return PodContainer(*to, lend(*to, image, self.spec.start_timeout_s) if image else None)

    def _are_there(self) -> bool:
        """Whether the pods are those of before, and run; their specifications are read anew."""
        there = [trial.is_there(container) for container in self._every]
        if self.spec.pods == "one" or not all(there):
            return bool(there) and all(there)
        now = {pod["metadata"]["uid"] for pod in self._workload.pods()}
        return now == {container.spot.uid for container in self._every}

    def _leave(self) -> None:
        """Kill what trials left running in the pods, and remove the folder; a pod that is gone has
        neither."""
        every, self._every = self._every, []
        for container in every:
            try:
                container.clean()
            except AbsentError:
                continue
            except DeadzoneError as error:
                what = f"{container.home} in {container.spot}"
                self.around.note(f"{what} could not be removed: {error}")

    def _specification(self, pod: Object) -> Object:
        """The container's specification as a pod has it."""
        return container_of(pod["spec"], self._name, str(self._workload))

    def _close(self) -> str | None:
        problem = self._give_back() if self._original and self._lease else None
        if self._lease:
            self._lease.release()
        self.place.enter(None)
        return problem

    def _give_back(self) -> str | None:
        try:
            with contextlib.suppress(ClusterError):
                self.check_lease()
        except TargetError as error:  # another sweep has it and restores it, or none does
            self.around.note(str(error))
            return None
        self._leave()
        try:
            with contextlib.suppress(ClusterError):
                self.others.look(self.pods)  # to say what they changed since the last trial
            giving_back.give_back(
                self._workload, self.original, self.spec.start_timeout_s, self.around.note
            )
        except DeadzoneError as error:
            return (
                f"The resources of {self._workload} could not be given back: {error} They are kept "
                f"in its annotation {giving_back.ANNOTATION}; `deadzone restore` gives them back."
            )
        self._original = None
        return None

    # --- one treatment
    # ---------------------------------------------------------------------------------

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limits and requests in force, and see them in the container's own
        control group."""
        is_there = self._are_there() and not self._is_lost
        self._check_others()
        if not is_there:
            self._choose_pods()
        wanted = self.wanted(treatment)
        must = resources.required(self.original.resources, wanted)
        have = [resources.Resources.of(self._specification(pod), must.names) for pod in self.pods]
        if not all(amounts.holds(must) for amounts in have):
            self._change(must, wanted)
        try:
            self.probe, *_ = [verified(container, must) for container in self._every]
        except TargetError:
            self._are_there()
            self._check_others()
            raise

    def look(self) -> Seen:
        """What happened to the workload and its pods in a trial that has just ended."""
        is_there = self._are_there() or self._is_lost
        self.others.look(self.pods)
        lost = None
        if self._is_asked and not is_there:
            self._is_lost = True
            lost = (
                f"the pods of {self._workload} that are asked were replaced, or are more or less, "
                "during the trial"
            )
        return Seen(lost, tuple(self.others.changes), self._is_lost)

    def _stopped_by(self) -> DeadzoneError | None:
        return self.others.stopped() if self._original else None

    def _check_others(self) -> None:
        """Raise ChangedError where others changed something, seen now or before."""
        self.others.look(self.pods)
        self.others.check()

    def _change(self, must: resources.Resources, wanted: Limits) -> None:
        self.check_lease()
        change, specification = self.spec.change, self._specification(self.pods[0])
        if change == "auto" and resources.why_not_resizable(specification, must):
            change = "patch"
        if change != "patch":
            try:
                for container in self._every:
                    container.pod = self._resize(container.pod, must)
                return
            except RefusedError:
                if change == "resize":
                    raise
        self._patch(wanted)

    def _resize(self, pod: Object, must: resources.Resources) -> Object:
        def attempt() -> Object:
            now = pod_now(self.cluster, pod)
            self.others.look_at_pods([now])
            self.others.check()
            had = resources.Resources.of(self._specification(now), must.names)
            self._keep(self.original.with_pod(now, had))
            uid = now["metadata"]["uid"]
            before = next(known for known in self.original.pods if known.uid == uid)
            wanted = resources.for_resize(now, must, before.resources)
            return resize(self.cluster, now, self._name, wanted, self.spec.start_timeout_s)

        resized = self.cluster.without_conflict(attempt)
        self.others.wrote(resized)
        return resized

    def _patch(self, levels: Limits) -> None:
        self._workload.check_rollout_possible(self._workload.read())
        leaving = self.pods
        self._leave()
        wanted = resources.for_template(self.original.resources, levels)
        if not self.original.rolled:
            self.around.note(
                f"the history of rollouts of {self._workload} will have the levels of this sweep "
                "in it: `kubectl rollout undo` needs --to-revision afterwards"
            )
        original = replace(self.original, rolled=True)

        def attempt() -> Object:
            for pod in leaving:
                with contextlib.suppress(AbsentError):
                    self.others.look_at_pods([pod_now(self.cluster, pod)])
            manifest = self._workload.read()
            self.others.look_at(manifest)
            self.others.check()
            return self._workload.patch_template(
                self._name, wanted, manifest, {giving_back.ANNOTATION: original.dumps()}
            )

        self.others.wrote(self.cluster.without_conflict(attempt))
        self._original, self.others.are_rolled = original, True
        self._choose_pods()

    # --- a trial in the container
    # ----------------------------------------------------------------------

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run the command in the container; a pod that is gone, restarted or replaced meanwhile
        makes the trial lost."""
        measured = trial.execute(self._every[0], command, timeout_s, self.around.note)
        self._is_lost = measured.status == "lost"  # whatever is there next is looked at anew
        return measured

    def read(self) -> Counters:
        """The container's accounting now; of one that did not survive, what is known of its end."""
        if not self._every or self._is_lost:
            return Counters()
        counted = []
        try:
            for container in self._every:
                counted.append(container.count())
        except ClusterError as error:
            status, why = trial.what_became_of(container, str(error))
            self._is_lost = True
            self.around.note(why)
            return Counters(oom_kills=(self._counted.oom_kills or 0) + (status == "oom_killed"))
        self._counted = Counters.sum(counted)
        return self._counted

    def identity(self) -> dict[str, str]:
        """The workload as the sweep found it, but for what the sweep changes."""
        swept = set(self.original.resources.amounts)
        return trial.identity(self._workload, self._manifest, self.pods[0], self._name, swept)

    def facts(self) -> dict[str, Any]:
        """Where trials run and how limits are changed, for the provenance."""
        pod, own = self.pods[0], self.original.resources
        return {
            **trial.where_and_how(self.spec, pod, self._name, self.probe),
            "workload": str(self._workload),
            "container": self._name,
            "applied_by": applier(self.original.owned),
            "pods_at_level": [pod["metadata"]["name"] for pod in self.pods],
            "replicas": self._replicas,
            "autoscalers": [
                dict(zip(("kind", "name"), it.split("/"), strict=True))
                for it in self.original.autoscalers
            ],
            "image": self._specification(pod).get("image"),
            **{ASKED_BEFORE[name]: own.asked(name) for name in own.names},
            "limits_mechanism": f"Kubernetes, change: {self.spec.change}",
            "qos_class": (pod.get("status") or {}).get("qosClass"),
        }


def make_target(planned: PlannedTarget, around: Surroundings) -> Target:
    """The target that a plan names."""
    spec = planned.spec
    assert isinstance(spec, KubernetesTargetSpec)
    if spec.mode == "job":
        return JobTarget(spec, planned.limits, around)
    return ExecTarget(spec, planned.limits, around, planned.is_asked)
