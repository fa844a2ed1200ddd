"""The resources a workload had before a sweep: kept in an annotation of it, and given back from
there.

The annotation is written before the first change and removed after the last is undone, so a
workload without it is as its owner left it, and one with it can be restored by anybody who finds
it, from any machine.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import Object
from deadzone_kubernetes.container.resources import FACTORS, Resources
from deadzone_kubernetes.watch.autoscaler import Had
from deadzone_kubernetes.watch.owners import Owned

ANNOTATION = "deadzone.dev/original-resources"


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
    so that pods may have a level by it. tries: how often pods were waited for in vain. owned: who
    owned these amounts. removed: the amounts that a level takes away; another one that is gone,
    others removed. autoscalers: what each had that is held, by kind and name.
    """

    container: str
    resources: Resources
    run: str
    started_at: str
    scratch: str
    pods: tuple[ResizedPod, ...] = ()
    rolled: bool = False
    tries: int = 0
    swept: tuple[str, ...] = ("limits.cpu",)
    owned: Owned = field(default_factory=list)
    removed: tuple[str, ...] = tuple(FACTORS.values())
    autoscalers: Mapping[str, Had] = field(default_factory=dict)

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
            every = json.loads(text).items()
            document = {key: value for key, value in every if key in cls.__dataclass_fields__}
            if isinstance(owned := document.get("owned"), dict):  # of an earlier version, by object
                held = document.get("autoscalers") or {}
                document["autoscalers"] = {it: (held[it], owned.pop(it, [])) for it in held}
                document["owned"] = list(itertools.chain(*owned.values()))
            resized = tuple(ResizedPod(**_read(entry)) for entry in document.pop("pods"))
            swept = tuple(document.pop("swept"))
            removed = tuple(document.pop("removed", cls.removed))
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
