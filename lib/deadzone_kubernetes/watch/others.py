"""Looking after a workload while it is swept: what others change there since the sweep began."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from deadzone.plugins import LostError, TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import AbsentError, ChangedError
from deadzone_kubernetes.watch import autoscaler
from deadzone_kubernetes.watch.autoscaler import Autoscaler
from deadzone_kubernetes.watch.changes import PERMISSION_PATH, Change, Look
from deadzone_kubernetes.watch.owners import owner_of
from deadzone_kubernetes.workload import PERMISSION, POD, KubernetesWorkload

DELETED = "it was deleted"

SCALERS_EVERY_S = 5.0
"""How often autoscalers are asked for; a HorizontalPodAutoscaler acts every 15 s [s]."""


class OtherChanges:
    """What others changed at a workload, look by look. changes: each once, in the order in which
    they were seen."""

    def __init__(
        self,
        workload: KubernetesWorkload,
        manifest: Object,
        scalers: Sequence[Autoscaler],
        note: Callable[[str], None],
    ) -> None:
        """manifest, scalers: the workload and its autoscalers as the sweep met them. note: told of
        each change."""
        self._workload, self._note, self._last = workload, note, Look.now(manifest)
        self._scalers = {scaler.uid for scaler in scalers}
        self._scalers_at = -math.inf
        self._pods: dict[str, Look] = {}
        self.changes: list[Change] = []

    def wrote(self, manifest: Object) -> None:
        """Take in the workload, or a pod of it, as it is by a write of the sweep."""
        if manifest["metadata"]["uid"] == self._last.manifest["metadata"]["uid"]:
            self._last = Look.now(manifest)
        else:
            self._pods[manifest["metadata"]["uid"]] = Look.now(manifest)

    def look(self, cluster: Cluster) -> Object | None:
        """See and say what others changed since the last look; the workload as it is now, where
        they did and it is the one of before."""
        try:
            now = self._workload.read(cluster)
        except AbsentError:
            if DELETED not in {change.what for change in self.changes}:
                self._add([Change(DELETED, self._last.until(datetime.now(UTC)))])
            return None
        changes = [*self.between(now), *self._autoscalers_made(cluster)]
        self._add(changes)
        is_same = now["metadata"]["uid"] == self._last.manifest["metadata"]["uid"]
        self._last = Look.now(now)
        return now if is_same and changes else None

    def _autoscalers_made(self, cluster: Cluster) -> list[Change]:
        """Those that change the workload and did not when the sweep began."""
        if time.monotonic() - self._scalers_at < SCALERS_EVERY_S:
            return []
        self._scalers_at = time.monotonic()
        found = autoscaler.at_work(cluster, self._workload, lambda sentence: None)
        made = [scaler for scaler in found if scaler.uid not in self._scalers]
        self._scalers |= {scaler.uid for scaler in made}
        return [
            Change(
                f"a {scaler.kind.name} {scaler.name} changes it now, made or switched on",
                owner_of(scaler.manifest, target := ("spec", scaler.kind.target))
                or owner_of(scaler.manifest, (*target, "name")),
            )
            for scaler in made
        ]

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
            self._pods[pod["metadata"]["uid"]] = Look.now(pod)
            where = f"pod {pod['metadata']['name']}{until}"
            self._add([replace(change, what=f"{where}: {change.what}") for change in changes])
            changed += [pod] if changes else []
        return changed

    def between_pod(self, now: Object) -> list[Change]:
        """What others changed at a pod since the last look at it; nothing where it was not seen
        yet."""
        last = self._pods.get(now["metadata"]["uid"])
        return last.differences(now) if last else []

    def between(self, now: Object) -> list[Change]:
        """What others changed from the last look until the workload was read."""
        return self._last.differences(now, {(*PERMISSION_PATH, PERMISSION)})

    def _add(self, changes: list[Change]) -> None:
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
