"""The resources a workload had before a sweep: kept in an annotation of it, and given back from
there.

The annotation is written before the first change and removed after the last is undone, so a
workload without it is as its owner left it, and one with it can be restored by anybody who finds
it, from any machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from deadzone.plugins import SaidAs, TargetError
from deadzone_kubernetes.api.cluster import Cluster, Object
from deadzone_kubernetes.api.errors import MissingVerbError, RefusedError
from deadzone_kubernetes.container.resources import FACTORS, Resources
from deadzone_kubernetes.watch.owners import Owned
from deadzone_kubernetes.workload import KubernetesWorkload

ANNOTATION = "deadzone.dev/original-resources"

FILE = "original-resources-{0.namespace}-{0.kind}-{0.name}.json"
"""In the run's folder: what the workload had before, beside the annotation that says the same."""


@dataclass(frozen=True)
class ResizedPod:
    """What a pod had that was resized in place, and which one it is."""

    resources: Resources
    name: str
    uid: str


@dataclass(frozen=True)
class Original:
    """What a workload's container had before the sweep.

    resources: of the template (of the pod, where the workload is one). swept: the amounts among
    them that levels set. run: the run that changes them. pods: those that were resized in place.
    scratch: folder of the container that trials write in. rolled: whether the template was changed,
    so that pods may have a level by it. history: of the rollouts, see `history.recorded`. tries:
    how often pods were waited for in vain. autoscalers: those that are held, each with what it had,
    see `autoscaler.hold`. owned: who owned the fields of these and of the workload, by kind and
    name. removed: the amounts that a level takes away; another one that is gone, others removed.
    """

    container: str
    resources: Resources
    run: str
    started_at: str
    scratch: str
    pods: tuple[ResizedPod, ...] = ()
    rolled: bool = False
    history: Object | None = None
    tries: int = 0
    autoscalers: Object | None = None
    swept: tuple[str, ...] = ("limits.cpu",)
    owned: Mapping[str, Owned] = field(default_factory=dict)
    removed: tuple[str, ...] = tuple(FACTORS.values())

    def with_pod(self, pod: Mapping[str, Any], have: Resources) -> Original:
        """The same with one more pod that is about to be resized; one that is known already keeps
        its entry."""
        uid = pod["metadata"]["uid"]
        if any(known.uid == uid for known in self.pods):
            return self
        resized = ResizedPod(have, pod["metadata"]["name"], uid)
        return replace(self, pods=(*self.pods, resized))

    def dumps(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def loads(cls, text: str, where: str) -> Original:
        """Raises TargetError for an annotation that something else changed."""
        try:
            document = json.loads(text)
            resized = tuple(ResizedPod(**_read(entry)) for entry in document.pop("pods"))
            swept = tuple(document.pop("swept"))
            removed = tuple(document.pop("removed", cls.removed))
            document.pop("manager", None)  # of version 0.2
            return cls(**_read(document), pods=resized, swept=swept, removed=removed)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise TargetError(
                f"The annotation {ANNOTATION} of {where} cannot be read, so what it had before is "
                f"not known: {text!r}. Set its resources by hand, then remove the annotation."
            ) from error


def _read(entry: Object) -> Object:
    return {**entry, "resources": Resources(dict(entry["resources"]["amounts"]))}


def kept(manifest: Object, where: str) -> Original | None:
    """The original resources that an object's annotation keeps; None without one."""
    text = (manifest["metadata"].get("annotations") or {}).get(ANNOTATION)
    return None if text is None else Original.loads(text, where)


class Note:
    """What a workload had before the sweep, kept at the workload and in the run's folder for as
    long as it is not given back."""

    def __init__(self, cluster: Cluster, workload: KubernetesWorkload, folder: Path) -> None:
        """folder: of the run; the file there has a name that no other workload of the run has."""
        self._cluster, self._workload = cluster, workload
        self.path = folder / FILE.format(workload)
        self.original: Original
        self.is_kept = False

    def keep(self, original: Original) -> None:
        """Write down what there was, in the run's folder and at the workload, before anything is
        changed."""
        if self.is_kept and original == self.original:
            return
        self.write(original)
        was, self.is_kept = self.is_kept, True
        try:
            self._workload.annotate(self._cluster, {ANNOTATION: original.dumps()})
        except (MissingVerbError, RefusedError):
            self.is_kept = was
            raise

    def keep_autoscaler(self, key: str, values: list[Any], owned: Owned) -> None:
        """Write down what an autoscaler has that is about to be held, and who owns that; key: its
        kind and name."""
        had = {**(self.original.autoscalers or {}), key: values}
        known = {**self.original.owned, key: owned}
        self.keep(replace(self.original, autoscalers=had, owned=known))

    def write(self, original: Original) -> None:
        """Write it down in the run's folder alone; whoever calls this annotates the workload in the
        same change."""
        self.original = original
        with SaidAs(TargetError, f"{self.path}: cannot be written, so nothing was changed"):
            self.path.write_text(original.dumps() + "\n", encoding="utf-8")
            with self.path.open() as handle:
                os.fsync(handle.fileno())
