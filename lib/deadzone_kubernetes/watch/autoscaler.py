"""Autoscalers of a workload that is swept: refused, or held meanwhile and given back.

A HorizontalPodAutoscaler scales on a share of the request, which a sweep changes. A
VerticalPodAutoscaler sets requests and limits itself. KEDA makes a HorizontalPodAutoscaler of a
ScaledObject, and undoes what others do to it (Kubernetes documentation, "Horizontal Pod
Autoscaling"; kubernetes/autoscaler, "VPA quick start"; KEDA documentation, "Pause autoscaling").
"""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import MANAGER, AbsentError, MissingVerbError, Object
from deadzone_kubernetes.watch.changes import (
    Owned,
    Path,
    is_ours,
    last_set,
    owned_again,
    owners,
    value_at,
)
from deadzone_kubernetes.workload import DEPLOYMENT, KubernetesWorkload

PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"
NOT_PAUSED = ("false", "f", "0")
"""Values of the annotation that pause nothing; any other word does (KEDA,
`NeedToBePausedByAnnotation`)."""

MERGE_PATCH = "application/merge-patch+json"

Note = Callable[[str], None]

Had = tuple[Sequence[Any], Owned]
"""What an autoscaler had in the fields that hold it, in their order, and who owned them."""


@dataclass(frozen=True)
class AutoscalerKind:
    """A kind of autoscaler.

    target: the key of its specification that names its workload. group, version, plural: where the
    API has it, if it is installed. hold: from the number of pods to the fields, with their values,
    by which one changes nothing.
    """

    name: str
    target: str
    group: str
    version: str
    plural: str
    hold: Callable[[int], Mapping[Path, Any]]

    def listed(self, workload: KubernetesWorkload, note: Note) -> list[Object]:
        """Those of a workload. note: told where the account may not look for them."""
        what = f"list each {self.name} in the namespace {workload.namespace}"
        where = (self.group, self.version, workload.namespace, self.plural)
        try:
            every = workload.cluster.call(what, "custom.list_namespaced_custom_object", *where)[
                "items"
            ]
        except AbsentError:
            return []
        except MissingVerbError as error:
            note(f"whether a {self.name} changes {workload} is not known: {error}")
            return []
        return [
            scaler for scaler in every if _is_of(scaler["spec"].get(self.target) or {}, workload)
        ]

    def patch(self, workload: KubernetesWorkload, manifest: Object, body: Object) -> Object:
        """Change one; as it is then. Raises ConflictError where something changed it since it was
        read."""
        name, version = manifest["metadata"]["name"], manifest["metadata"]["resourceVersion"]
        what = f"change the {self.name} {name} in the namespace {workload.namespace}"
        body = {**body, "metadata": {**body.get("metadata", {}), "resourceVersion": version}}
        where = (self.group, self.version, workload.namespace, self.plural, name, body)
        return workload.cluster.call(
            *(what, "custom.patch_namespaced_custom_object", *where),
            field_manager=MANAGER,
            _content_type=MERGE_PATCH,
        )


HORIZONTAL = AutoscalerKind(
    "HorizontalPodAutoscaler",
    "scaleTargetRef",
    *("autoscaling", "v2", "horizontalpodautoscalers"),
    lambda pods: {("spec", "minReplicas"): pods, ("spec", "maxReplicas"): pods},
)
VERTICAL = AutoscalerKind(
    "VerticalPodAutoscaler",
    "targetRef",
    *("autoscaling.k8s.io", "v1", "verticalpodautoscalers"),
    lambda pods: {("spec", "updatePolicy", "updateMode"): "Off"},
)
KEDA = AutoscalerKind(
    "ScaledObject",
    "scaleTargetRef",
    *("keda.sh", "v1alpha1", "scaledobjects"),
    lambda pods: {("metadata", "annotations", PAUSED_REPLICAS): str(pods)},
)
KINDS = {kind.name: kind for kind in (VERTICAL, KEDA, HORIZONTAL)}


@dataclass(frozen=True)
class Autoscaler:
    """An autoscaler as the API server has it."""

    kind: AutoscalerKind
    manifest: Object

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def makers(self) -> dict[str, str]:
        """The ScaledObjects that made it: name by uid."""
        owners = self.manifest["metadata"].get("ownerReferences") or []
        return {owner["uid"]: owner["name"] for owner in owners if owner.get("kind") == KEDA.name}

    def is_at_work(self) -> bool:
        """Whether its owner has not switched it off, or given it one number of pods alone."""
        annotations = self.manifest["metadata"].get("annotations") or {}
        spec = self.manifest["spec"]
        is_paused = annotations.get(PAUSED, "false").lower() not in NOT_PAUSED
        is_off = (spec.get("updatePolicy") or {}).get("updateMode") == "Off"
        is_held = self.kind is HORIZONTAL and spec.get("minReplicas", 1) == spec["maxReplicas"]
        return not (is_paused or PAUSED_REPLICAS in annotations or is_off or is_held)


def _is_of(target: Mapping[str, Any], workload: KubernetesWorkload) -> bool:
    # KEDA takes a Deployment where nothing is said
    kind = str(target.get("kind") or DEPLOYMENT).lower()
    return (kind, target.get("name")) == (workload.kind, workload.name)


def at_work(workload: KubernetesWorkload, note: Note) -> list[Autoscaler]:
    """The autoscalers that change a workload; one that KEDA made counts as its ScaledObject where
    that can be seen."""
    every = [
        Autoscaler(kind, manifest)
        for kind in KINDS.values()
        for manifest in kind.listed(workload, note)
    ]
    known = {scaler.manifest["metadata"]["uid"] for scaler in every}
    return [scaler for scaler in every if not known & scaler.makers.keys() and scaler.is_at_work()]


def check(
    scalers: Sequence[Autoscaler],
    workload: KubernetesWorkload,
    pods: int,
    *,
    is_paused: bool = False,
) -> None:
    """Raise TargetError, with how to hold them at so many pods, where autoscalers change the
    workload that the sweep does not hold. is_paused: it holds those that it can see."""
    held = []
    for scaler in (one for one in scalers if one.makers or not is_paused):
        made = [(KEDA, maker) for maker in scaler.makers.values()]
        kind, name = made[0] if made else (scaler.kind, scaler.name)
        patch = json.dumps(_nested(kind.hold(pods)), separators=(",", ":"))
        hold = f"patch {kind.name.lower()} {name} --type=merge -p '{patch}'"
        held.append(f"{kind.name} {name} (`kubectl -n {workload.namespace} {hold}`)")
    if held:
        pause = "Hold" if is_paused else "Write `autoscaler: pause` under target, or hold"
        raise TargetError(
            f"Autoscalers change {workload}: {', '.join(held)}. {pause} them for the sweep by the "
            "commands in parentheses, and give back what they had afterwards."
        )


def hold(workload: KubernetesWorkload, pods: int, keep: Callable[[str, Had], None]) -> None:
    """Keep the autoscalers of a workload at so many pods, or from changing anything.

    keep: notes by kind and name what one has that is about to be held.
    """

    def attempt() -> None:
        # one that is held, also by an attempt whose answer was lost, is not at work
        for scaler in at_work(workload, lambda sentence: None):
            held = scaler.kind.hold(pods)
            had = [value_at(scaler.manifest, path) for path in held]
            keep(f"{scaler.kind.name}/{scaler.name}", (had, owners(scaler.manifest, held)))
            scaler.kind.patch(workload, scaler.manifest, _nested(held))

    workload.cluster.without_conflict(attempt)


def let_go(workload: KubernetesWorkload, held: Mapping[str, Had], note: Note) -> list[str]:
    """Give autoscalers what they had, and each field its owner, but for what others set since,
    which note is told; says what was done.

    held: by kind and name. Raises TargetError where the account may not look for them.
    """
    done: list[str] = []

    def unseen(sentence: str) -> None:
        raise TargetError(f"An autoscaler of {workload} is still held: {sentence}")

    def give_back(it: str, had: Had) -> None:
        kind, name = KINDS[it.partition("/")[0]], it.partition("/")[2]
        for manifest in kind.listed(workload, unseen):
            if manifest["metadata"]["name"] != name:
                continue
            differ = {
                path: value
                for path, value in zip(kind.hold(1), had[0], strict=True)
                if value_at(manifest, path) != value
            }
            back = {path: value for path, value in differ.items() if is_ours(manifest, path)}
            if back:
                manifest = kind.patch(workload, manifest, _nested(back))
                had_in_words = (f"{path[-1]} {value or 'none'}" for path, value in back.items())
                done.append(f"{it} of {workload}: {', '.join(had_in_words)} again")
            kind.patch(workload, manifest, owned_again(manifest, had[1]))
            for path in differ.keys() - back.keys():
                now = f"{path[-1]} {value_at(manifest, path)}"
                told = ", set ".join(filter(None, (now, last_set(manifest, path))))
                note(f"{it} of {workload}: {told}; that stays")

    for it, had in held.items():
        with contextlib.suppress(AbsentError):  # it was removed meanwhile
            workload.cluster.without_conflict(partial(give_back, it, had))
    return done


def _nested(values: Mapping[Path, Any]) -> Object:
    """A patch of an object that sets values at their paths."""
    body: Object = {}
    for path, value in values.items():
        inner = body
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = value
    return body
