"""Looking after a workload while it is swept: what others change there since the sweep began."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from deadzone.plugins import LostError, TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import AbsentError, ChangedError
from deadzone_kubernetes.lease import history
from deadzone_kubernetes.watch.changes import PERMISSION_PATH, Change, differences, path_of
from deadzone_kubernetes.workload import PERMISSION, POD, KubernetesWorkload


class OtherChanges:
    """What others changed at a workload, look by look. changes: each once, in the order in which
    they were seen."""

    def __init__(
        self,
        workload: KubernetesWorkload,
        container: str,
        keys: Collection[str],
        manifest: Object,
        note: Callable[[str], None],
    ) -> None:
        """container: whose resources the sweep changes. keys: its amounts that a sweep sets. found:
        the workload as the sweep met it. note: told of each change."""
        self._workload, self._note, self._baseline = workload, note, manifest
        self._swept = {
            *(path_of(workload.kind, container, key) for key in keys),
            ("spec", history.LIMIT),
        }
        self._in_pods = {path_of(POD, container, key) for key in keys}
        self._pods: dict[str, Object] = {}
        self.changes: list[Change] = []

    def look(self, cluster: Cluster) -> Object | None:
        """See and say what others changed since the last look; the workload as it is now, where
        they did and it is the one of before."""
        try:
            now = self._workload.read(cluster)
        except AbsentError:
            self._add([Change("it was deleted", None)])
            return None
        changes = self.between(now)
        self._add(changes)
        if not changes:
            return None
        is_same = now["metadata"]["uid"] == self._baseline["metadata"]["uid"]
        self._baseline = now
        return now if is_same else None

    def look_at_pods(self, pods: Iterable[Object], *, are_rolled: bool) -> list[Object]:
        """See and say what others changed at pods since each was seen first; those pods.

        pods: as they are now. are_rolled: whether the sweep replaces them, by the next level or
        when it gives back.
        """
        if self._workload.kind == POD:
            return []  # it was looked at as the workload
        changed = []
        until = ", until it is replaced" if are_rolled else ""
        for pod in pods:
            changes = self.between_pod(pod)
            self._pods[pod["metadata"]["uid"]] = pod
            where = f"pod {pod['metadata']['name']}{until}"
            self._add([replace(change, what=f"{where}: {change.what}") for change in changes])
            changed += [pod] if changes else []
        return changed

    def between_pod(self, now: Object) -> list[Change]:
        """What others changed at a pod since the last look at it; nothing where it was not seen
        yet."""
        before = self._pods.get(now["metadata"]["uid"])
        return differences(before, now, self._in_pods) if before else []

    def between(self, now: Object) -> list[Change]:
        """What others changed from the last look until the workload was read."""
        return differences(self._baseline, now, self._swept, {(*PERMISSION_PATH, PERMISSION)})

    def _add(self, changes: list[Change]) -> None:
        for change in changes:
            if str(change) not in map(str, self.changes):
                self._note(f"{self._workload}: {change}; that stays")
                self.changes.append(change)

    def stopped(self) -> ChangedError | None:
        """The error that ends a sweep for what others changed; None where they changed nothing."""
        if not self.changes:
            return None
        return ChangedError(
            f"Others changed {self._workload} since the sweep began: "
            f"{'; '.join(map(str, self.changes))}. That stays as it is, and the sweep is stopped, "
            "for later trials would not be as the first ones. Agree with them and sweep again; "
            "`on_change: continue` of the target goes on, with trials that are not trusted."
        )

    def blamed(self, error: TargetError, known: int) -> TargetError:
        """The error of a trial that is lost for what others changed beyond the changes known; the
        error itself without any."""
        changes = self.changes[known:]
        return (
            LostError(f"others changed {self._workload} before the trial: {changes[0]}")
            if changes
            else error
        )
