"""Looking after a workload while it is swept: what others change there since the sweep began."""

import math
import time
from collections.abc import Callable, Collection, Iterable

from deadzone.plugins import resume_option
from deadzone_kubernetes.api.cluster import AbsentError, ChangedError, Object
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.watch.changes import Look, Path, last_set
from deadzone_kubernetes.workload import PERMISSION, POD, KubernetesWorkload

DELETED = "it was deleted"

WORKLOAD = "the workload"
"""Under which it was seen; a pod by its uid, for its name may be that of the next."""

SCALERS_EVERY_S = 5.0
"""How often autoscalers are asked for; a HorizontalPodAutoscaler acts every 15 s [s]."""


class OtherChanges:
    """What others changed at a workload, look by look.

    changes: each once, in the order in which they were seen. are_rolled: whether the sweep replaces
    the pods, by the next level or when it gives back.
    """

    def __init__(
        self, workload: KubernetesWorkload, manifest: Object, note: Callable[[str], None]
    ) -> None:
        """manifest: the workload as the sweep met it. note: told of each change."""
        self._workload, self._note = workload, note
        self._seen = {WORKLOAD: Look(manifest)}
        self._scalers_at = -math.inf
        self.changes: list[str] = []
        self.are_rolled = False

    def wrote(self, manifest: Object) -> None:
        """Take in the workload, or a pod of it, as it is by a write of the sweep."""
        uid = manifest["metadata"]["uid"]
        is_pod = uid != self._seen[WORKLOAD].manifest["metadata"]["uid"]
        self._seen[uid if is_pod else WORKLOAD] = Look(manifest)

    def look(self, pods: Iterable[Object]) -> None:
        """See and say what others changed at the workload since the last look. pods: of it, as they
        are now."""
        self.look_at_pods(pods)
        try:
            self.look_at(self._workload.read())
        except AbsentError:
            if not any(change.startswith(DELETED) for change in self.changes):
                self._add([f"{DELETED} {self._seen[WORKLOAD].until_now()}"])
            return
        if time.monotonic() - self._scalers_at > SCALERS_EVERY_S:
            self._scalers_at = time.monotonic()
            found = autoscaler.at_work(self._workload, lambda sentence: None)
            self._add([_made(scaler) for scaler in found])

    def look_at(self, now: Object) -> None:
        """The same of the workload as it has just been read, but for its autoscalers."""
        self._see(WORKLOAD, now, "", {("metadata", "annotations", PERMISSION)})

    def look_at_pods(self, pods: Iterable[Object]) -> None:
        """The same of pods as they are now, since each was seen first."""
        until = ", until it is replaced" if self.are_rolled else ""
        for pod in pods if self._workload.kind != POD else ():  # looked at as the workload
            self._see(pod["metadata"]["uid"], pod, f"pod {pod['metadata']['name']}{until}: ")

    def _see(self, key: str, now: Object, where: str, watched: Collection[Path] = ()) -> None:
        before = self._seen.get(key, Look(now))
        self._seen[key] = Look(now)
        self._add([f"{where}{change}" for change in before.differences(now, watched)])

    def _add(self, changes: list[str]) -> None:
        for change in changes:
            if change not in self.changes:
                self._note(f"{self._workload}: {change}; that stays")
                self.changes.append(change)

    def stopped(self) -> ChangedError | None:
        """The error that ends a sweep for what others changed; None where they changed nothing."""
        if not self.changes:
            return None
        return ChangedError(
            f"Others changed {self._workload} since the sweep began: "
            f"{'; '.join(self.changes)}. That stays as it is, and the sweep is stopped, "
            "for later trials would not be as the first ones. Agree with them and sweep again; "
            f"{resume_option('latest', is_changed=True)} goes on, with trials "
            "that are not trusted."
        )

    def check(self) -> None:
        """Raise ChangedError where others changed something."""
        if error := self.stopped():
            raise error


def _made(scaler: autoscaler.Autoscaler) -> str:
    """An autoscaler that changes the workload and did not when the sweep began."""
    target = ("spec", scaler.kind.target)
    who = last_set(scaler.manifest, target, (*target, "name"), *scaler.kind.hold(1))
    what = f"a {scaler.kind.name} {scaler.name} changes it now, made or switched on"
    return f"{what} {who}" if who else what
