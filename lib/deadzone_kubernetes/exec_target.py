"""Trials in a container of a workload that runs already: its limit is changed before each trial,
and given back."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from deadzone.plugins import (
    NONE,
    Command,
    DeadzoneError,
    Limits,
    LostError,
    Measurement,
    Seen,
    Surroundings,
    TargetError,
    Treatment,
)
from deadzone.run.targets.limits.base import Counters
from deadzone_kubernetes.api.cluster import Object
from deadzone_kubernetes.api.errors import (
    AbsentError,
    ChangedError,
    ClusterError,
    MissingVerbError,
)
from deadzone_kubernetes.cluster_target import ClusterTarget
from deadzone_kubernetes.container import resources, trial
from deadzone_kubernetes.container.identity import identity
from deadzone_kubernetes.container.members import Members
from deadzone_kubernetes.container.place import PodPlace
from deadzone_kubernetes.container.reading_back import verified
from deadzone_kubernetes.container.resources import Resources
from deadzone_kubernetes.lease import giving_back, history, originals, restoring
from deadzone_kubernetes.lease.lease import lease_name
from deadzone_kubernetes.lease.originals import Original
from deadzone_kubernetes.specs import KubernetesTargetSpec
from deadzone_kubernetes.survey import reached
from deadzone_kubernetes.survey.trying import try_levels
from deadzone_kubernetes.watch import autoscaler, owners
from deadzone_kubernetes.watch.changes import Change
from deadzone_kubernetes.watch.others import OtherChanges
from deadzone_kubernetes.workload import POD, KubernetesWorkload, container_of, pod_now, resize


class ExecTarget(ClusterTarget):
    """A container of a Deployment, StatefulSet or pod that the study names."""

    counts_from_afar = True
    must_give_back = True
    place: PodPlace

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
        self.place = PodPlace(spec.inputs)
        self._workload: KubernetesWorkload
        self._note: originals.Note | None = None
        self._members: Members | None = None
        self._others: OtherChanges | None = None
        self._scalers: list[autoscaler.Autoscaler] = []
        self._replicas = 1
        self._is_lost = False
        self._counted = Counters()

    @property
    def note(self) -> originals.Note:
        """What the workload had before."""
        assert self._note is not None
        return self._note

    @property
    def others(self) -> OtherChanges:
        """What others change meanwhile."""
        assert self._others is not None
        return self._others

    @property
    def members(self) -> Members:
        """The pods that are at the level of a trial."""
        assert self._members is not None
        return self._members

    # --- opening and closing
    # ---------------------------------------------------------------------------

    def _open(self) -> None:
        spec, note, cluster = self.spec, self.around.note, self.cluster
        assert spec.workload is not None
        workload = KubernetesWorkload.find(cluster, spec.namespace, spec.workload)
        workload.check_allowed(workload.read(cluster), spec.allow)
        if spec.allow:
            note(f"{workload} is swept because --allow says so")
        self._workload = workload
        self._lock(lease_name(workload), str(workload))
        self._give_back_left()
        self._manifest = manifest = workload.read(cluster)
        container = container_of(workload.template(manifest), spec.container, str(workload))
        self._name: str = container["name"]
        if spec.change == "patch":
            workload.check_rollout_possible(manifest)
        swept = resources.keys_swept(self.levels)
        own = Resources.of(container, resources.resources_of(swept))
        self._scalers = autoscaler.at_work(cluster, workload, note)
        autoscaler.check(self._scalers, workload, is_paused=spec.autoscaler == "pause")
        self._others = OtherChanges(workload, manifest, self._scalers, note)
        self._note = originals.Note(cluster, workload, self.around.folder)
        started, home = datetime.now(UTC).isoformat(timespec="seconds"), str(self._home)
        run = self.around.run_id
        owned = {workload.key: giving_back.owned_now(workload, manifest, self._name, own)}
        removed = tuple(
            key
            for factor, key in resources.FACTORS.items()
            if NONE in {getattr(level, factor) for level in self.levels}
        )
        original = Original(self._name, own, run, started, home, swept=swept)
        self._note.keep(replace(original, owned=owned, removed=removed))
        self._replicas = int(manifest["spec"].get("replicas", 1))
        autoscaler.hold(
            cluster, workload, self._scalers, self._replicas, self._note.keep_autoscaler
        )
        self._members = Members(cluster, workload, self._name, spec, self._home)
        self._choose_pods()
        pod, cores = self.members.pod, float(self.members.probe.cores)
        node = pod["spec"].get("nodeName")
        self._check_fits(
            cores, f"the node {node}, which has {cores:g} to give: it would limit nothing"
        )
        if self._is_asked:
            reached.check(cluster, workload, pod, is_all=spec.pods == "all")
        pods = [pod for pod, _ in self.members]
        sentences = try_levels(cluster, workload, self._name, own, pods, self.levels, spec.change)
        list(map(note, sentences))

    def _give_back_left(self) -> None:
        """Give back what a killed sweep left at the workload."""
        workload, cluster, timeout_s = self._workload, self.cluster, self.spec.start_timeout_s
        if left := originals.kept(workload.read(cluster), str(workload)):
            for given in restoring.restore_workload(cluster, workload, left, timeout_s):
                self.around.note(f"left by the killed run {left.run}: {given}")
            if workload.kind != POD:
                workload.await_rollout(cluster, left.container, timeout_s, left.swept, frozenset())

    def _choose_pods(self) -> None:
        self.members.choose(self.note.original)
        self._look_at_pods([pod for pod, _ in self.members])
        self._is_lost = False
        self.place.enter(self.members.container)

    def _close(self) -> str | None:
        problem = None
        if self._note and self._note.is_kept and self._lease and self._lease.is_held:
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
        if self._members:
            self._members.leave(self.around.note)
        try:
            with contextlib.suppress(ClusterError):
                self._look_at_others()  # to say what they changed since the last trial
            original, timeout_s = self.note.original, self.spec.start_timeout_s
            giving_back.give_back(
                self.cluster, self._workload, original, timeout_s, note=self.around.note
            )
        except DeadzoneError as error:
            return (
                f"The resources of {self._workload} could not be given back: {error} They are kept "
                f"in its annotation {originals.ANNOTATION} and in {self.note.path}; `deadzone "
                "restore` gives them back."
            )
        self.note.is_kept = False
        return None

    # --- one treatment
    # ---------------------------------------------------------------------------------

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limits and requests in force, and see them in the container's own
        control group."""
        members = self.members
        is_there = bool(members) and members.are_there() and not self._is_lost
        self._look_at_others()
        if stopped := self._stopped_by():
            raise stopped
        if not is_there:
            self._choose_pods()
        wanted = self.wanted(treatment)
        must = resources.required(self.note.original.resources, wanted)
        if not members.have(must):
            self._change(must, wanted)
        try:
            members.probe, *_ = [verified(container, must) for _, container in members]
        except TargetError as error:
            raise self._by_others(error) from error

    def look(self) -> Seen:
        """What happened to the workload and its pods in a trial that has just ended."""
        is_there = self.members.are_there() or self._is_lost
        self._look_at_others()
        lost = None
        if self._is_asked and not is_there:
            self._is_lost = True
            lost = (
                f"the pods of {self._workload} that are asked were replaced, or are more or less, "
                "during the trial"
            )
        return Seen(lost, tuple(map(str, self.others.changes)), self._is_lost)

    def _stopped_by(self) -> ChangedError | None:
        return self._others.stopped() if self._others and self.spec.on_change == "stop" else None

    def _by_others(self, error: TargetError) -> TargetError:
        """Why a limit is not in force: what others changed since it was asked for, or the error
        itself."""
        known = len(self.others.changes)
        self.members.are_there()
        self._look_at_others()
        return self._stopped_by() or self.others.blamed(error, known)

    def _look_at_others(self) -> None:
        """See what others changed since the last look; where the sweep goes on, it gives back what
        they made of it."""
        self._look_at_pods([pod for pod, _ in self._members or ()])
        now = self.others.look(self.cluster)
        if now is None or self.spec.on_change == "stop":
            return
        original = giving_back.taken_over(self._workload, now, self.note.original)
        with contextlib.suppress(MissingVerbError):
            if known := original.history:
                fresh = history.recorded(self.cluster, self._workload, now)
                revisions = {**fresh["revisions"], **known["revisions"]}
                original = replace(original, history={**known, "revisions": revisions})
        self.note.keep(original)

    def _look_at_pods(self, pods: Sequence[Object]) -> None:
        """See what others changed at pods as they are now."""
        changed = self.others.look_at_pods(pods, are_rolled=self.note.original.rolled)
        if changed and self.spec.on_change == "continue":
            self.note.keep(giving_back.pods_taken_over(changed, self.note.original))

    def _change(self, must: Resources, wanted: Limits) -> None:
        self.check_lease()
        pod = self.members.pod
        why_not = resources.why_not_resizable(pod, self.members.specification(pod), must)
        if self.spec.change == "resize" or (self.spec.change == "auto" and why_not is None):
            if why_not:
                raise TargetError(
                    f"The resources of {self._workload} cannot be changed to {must} by a resize: "
                    f"{why_not}. Use target.change: auto or patch."
                )
            self.members.change(lambda pod: self._resize(pod, must))
            return
        if self._workload.kind == POD:
            raise TargetError(
                f"The resources of {self._workload} cannot be changed to {must}: "
                f"{why_not or 'it cannot be patched'}, and a pod by itself cannot be replaced. "
                "Name the Deployment it belongs to."
            )
        self._patch(wanted)

    def _resize(self, pod: Object, must: Resources) -> Object:
        def attempt() -> Object:
            now = pod_now(self.cluster, pod)
            self._refuse(self.others.between_pod(now))
            container = self.members.specification(now)
            original = self.note.original.with_pod(now, Resources.of(container, must.names))
            before = next(known for known in original.pods if known.uid == now["metadata"]["uid"])
            wanted = resources.for_resize(now, container, must, before.resources)
            assert wanted is not None
            self.note.keep(original)
            return resize(self.cluster, now, self._name, wanted, self.spec.start_timeout_s)

        resized = self.cluster.without_conflict(attempt)
        self.others.wrote(resized)
        return resized

    def _refuse(self, by_others: Sequence[Change]) -> None:
        """Raise LostError where others changed something that is about to be changed."""
        if by_others:
            raise LostError(f"others changed {self._workload} before the trial: {by_others[0]}")

    def _patch(self, levels: Limits) -> None:
        self._workload.check_rollout_possible(self._workload.read(self.cluster))
        leaving = [pod for pod, _ in self.members]
        self.members.leave(self.around.note)
        wanted = resources.for_template(self.note.original.resources, levels)
        room_made = self._keep_history()
        original = replace(self.note.original, rolled=True)

        def attempt() -> Object:
            manifest = self._workload.read(self.cluster)
            self._refuse([change for pod in leaving for change in self._between_pod(pod)])
            self._refuse(self.others.between(manifest))
            return self._workload.patch_template(
                *(self.cluster, self._name, wanted, manifest),
                annotations={originals.ANNOTATION: original.dumps()},
                spec=room_made,
            )

        patched = self.cluster.without_conflict(attempt)
        self.others.wrote(patched)
        self.note.write(original)
        self._choose_pods()

    def _between_pod(self, pod: Object) -> list[Change]:
        """What others changed at a pod, which is about to be replaced, since it was looked at."""
        with contextlib.suppress(AbsentError):
            known = len(self.others.changes)
            self._look_at_pods([pod_now(self.cluster, pod)])
            return self.others.changes[known:]
        return []

    def _keep_history(self) -> Object:
        """Note the history of rollouts before the first template of the sweep; what the
        specification needs to keep it."""
        manifest, original = self._workload.read(self.cluster), self.note.original
        if original.history is None:
            try:
                kept = history.recorded(self.cluster, self._workload, manifest)
            except MissingVerbError as error:
                if not original.rolled:
                    self.around.note(
                        f"the history of rollouts will have the levels of this sweep in it: {error}"
                    )
                return {}
            original = self.note.original = replace(original, history=kept)
        assert original.history is not None
        return history.room_for(original.history, len(self.levels))

    # --- a trial in the container
    # ----------------------------------------------------------------------

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run the command in the container; a pod that is gone, restarted or replaced meanwhile
        makes the trial lost."""
        measured = self.trial(self.members.container, self.members.pod, command, timeout_s)
        self._is_lost = measured.status == "lost"  # whatever is there next is looked at anew
        return measured

    def read(self) -> Counters:
        """The container's accounting now; of one that did not survive, what is known of its end."""
        if not self._members or self._is_lost:
            return Counters()
        try:
            self._counted = self._members.count()
        except ClusterError as error:
            status, why = trial.what_became_of(self.members.container, self.members.pod, str(error))
            self._is_lost = True
            self.around.note(why)
            return Counters(oom_kills=(self._counted.oom_kills or 0) + (status == "oom_killed"))
        return self._counted

    def identity(self) -> dict[str, str]:
        """The workload as the sweep found it, but for what the sweep changes."""
        swept = {
            f"{part}.{name}"
            for name in self.note.original.resources.names
            for part in (resources.LIMITS, resources.REQUESTS)
        }
        return identity(self._workload, self._manifest, self.members.pod, self._name, swept)

    def facts(self) -> dict[str, Any]:
        """Where trials run and how limits are changed, for the provenance."""
        pod = self.members.pod
        container = self.members.specification(pod)
        unlimited = Resources({**Resources.of(container).amounts, "limits.cpu": None})
        after_none = resources.qos_class_with(pod, self._name, unlimited)
        if NONE in {level.cpu_limit for level in self.levels}:
            self.around.note(
                f"without a limit the pods of {self._workload} are of the QoS class {after_none}"
            )
        return {
            **trial.where_and_how(self.spec, pod, self._name, self.members.probe),
            "workload": str(self._workload),
            "container": self._name,
            "applied_by": owners.applier(self.note.original.owned[self._workload.key]),
            "pods_at_level": [pod["metadata"]["name"] for pod, _ in self.members],
            "replicas": self._replicas,
            "autoscalers": [
                {"kind": scaler.kind.name, "name": scaler.name} for scaler in self._scalers
            ],
            "image": container.get("image"),
            **self._asked_before(),
            "limits_mechanism": f"Kubernetes, change: {self.spec.change}",
            "qos_class": (pod.get("status") or {}).get("qosClass"),
            "qos_class_without_limit": after_none,
        }

    def _asked_before(self) -> dict[str, float | None]:
        """What the container asked for before the sweep."""
        own = self.note.original.resources
        units = {"cpu": "cpu_request_before", "memory": "memory_request_before_bytes"}
        return {units[name]: own.asked(name) for name in own.names}
