"""Looking after a workload while it is swept: what others change there since the sweep began."""

from collections.abc import Callable, Collection

from deadzone.errors import LostError, TargetError
from deadzone.measuring.targets.kubernetes import history
from deadzone.measuring.targets.kubernetes.changes import PERMISSION_PATH, Change, differences, path_of
from deadzone.measuring.targets.kubernetes.cluster import Cluster, Object
from deadzone.measuring.targets.kubernetes.errors import AbsentError, ChangedError
from deadzone.measuring.targets.kubernetes.workload import PERMISSION, Workload


class Others:
    """What others changed at a workload, look by look. changes: each once, in the order in which they were seen."""

    def __init__(
        self,
        workload: Workload,
        container: str,
        keys: Collection[str],
        found: Object,
        note: Callable[[str], None],
    ) -> None:
        """container: whose resources the sweep changes. keys: its amounts that a sweep sets. found: the workload as the sweep
        met it. note: told of each change."""
        self._workload, self._note, self._baseline = workload, note, found
        self._swept = {*(path_of(workload.kind, container, key) for key in keys), ("spec", history.LIMIT)}
        self.changes: list[Change] = []

    def look(self, cluster: Cluster) -> Object | None:
        """See and say what others changed since the last look; the workload as it is now, where they did and it is the one of
        before."""
        try:
            now = self._workload.read(cluster)
        except AbsentError:
            self._add([Change("it was deleted", None)])
            return None
        found = self.between(now)
        self._add(found)
        if not found:
            return None
        is_same = now["metadata"]["uid"] == self._baseline["metadata"]["uid"]
        self._baseline = now
        return now if is_same else None

    def between(self, now: Object) -> list[Change]:
        """What others changed from the last look until the workload was read."""
        return differences(self._baseline, now, self._swept, {(*PERMISSION_PATH, PERMISSION)})

    def _add(self, found: list[Change]) -> None:
        for change in found:
            if str(change) not in map(str, self.changes):
                self._note(f"{self._workload}: {change}; that stays")
                self.changes.append(change)

    def stopped(self) -> ChangedError | None:
        """The error that ends a sweep for what others changed; None where they changed nothing."""
        if not self.changes:
            return None
        return ChangedError(
            f"Others changed {self._workload} since the sweep began: {'; '.join(map(str, self.changes))}. That stays as it "
            "is, and the sweep is stopped, for later trials would not be as the first ones. Agree with them and sweep "
            "again; `on_change: continue` of the target goes on, with trials that are not trusted."
        )

    def blamed(self, error: TargetError, known: int) -> TargetError:
        """The error of a trial that is lost for what others changed beyond the changes known; the error itself without any."""
        changes = self.changes[known:]
        return (
            LostError(f"others changed {self._workload} before the trial: {changes[0]}") if changes else error
        )
