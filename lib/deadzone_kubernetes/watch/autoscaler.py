"""Autoscalers of a workload that is swept: refused, with the command that holds each meanwhile.

A HorizontalPodAutoscaler scales on a share of the request, which a sweep changes. A
VerticalPodAutoscaler sets requests and limits itself. KEDA makes a HorizontalPodAutoscaler of a
ScaledObject, and undoes what others do to it (Kubernetes documentation, "Horizontal Pod
Autoscaling"; kubernetes/autoscaler, "VPA quick start"; KEDA documentation, "Pause autoscaling").
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import Object
from deadzone_kubernetes.api.errors import AbsentError, MissingVerbError
from deadzone_kubernetes.workload import DEPLOYMENT, KubernetesWorkload

PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"
NOT_PAUSED = ("false", "f", "0")
"""Values of the annotation that pause nothing; any other word does (KEDA,
`NeedToBePausedByAnnotation`)."""

Note = Callable[[str], None]


@dataclass(frozen=True)
class AutoscalerKind:
    """A kind of autoscaler.

    target: the key of its specification that names its workload. group, version, plural: where the
    API has it, if it is installed. hold: what kubectl is told so that one changes nothing.
    """

    name: str
    target: str
    group: str
    version: str
    plural: str
    hold: str

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


HORIZONTAL = AutoscalerKind(
    "HorizontalPodAutoscaler",
    "scaleTargetRef",
    *("autoscaling", "v2", "horizontalpodautoscalers"),
    """patch {it} -p '{{"spec":{{"minReplicas":{n},"maxReplicas":{n}}}}}'""",
)
VERTICAL = AutoscalerKind(
    "VerticalPodAutoscaler",
    "targetRef",
    *("autoscaling.k8s.io", "v1", "verticalpodautoscalers"),
    """patch {it} --type=merge -p '{{"spec":{{"updatePolicy":{{"updateMode":"Off"}}}}}}'""",
)
KEDA = AutoscalerKind(
    "ScaledObject",
    "scaleTargetRef",
    *("keda.sh", "v1alpha1", "scaledobjects"),
    f"annotate {{it}} {PAUSED}=true",
)


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
        for kind in (VERTICAL, KEDA, HORIZONTAL)
        for manifest in kind.listed(workload, note)
    ]
    known = {scaler.manifest["metadata"]["uid"] for scaler in every}
    return [scaler for scaler in every if not known & scaler.makers.keys() and scaler.is_at_work()]


def check(scalers: Sequence[Autoscaler], workload: KubernetesWorkload) -> None:
    """Raise TargetError, with how to hold them, where autoscalers change the workload."""
    held = []
    for scaler in scalers:
        made_by = next(iter(scaler.makers.values()), None)
        kind, name = (KEDA, made_by) if made_by else (scaler.kind, scaler.name)
        n = (scaler.manifest.get("status") or {}).get("currentReplicas") or 1
        hold = kind.hold.format(it=f"{kind.name.lower()} {name}", n=n)
        held.append(f"{kind.name} {name} (`kubectl -n {workload.namespace} {hold}`)")
    if held:
        raise TargetError(
            f"Autoscalers change {workload}: {', '.join(held)}. Hold them for the sweep by the "
            "commands in parentheses, and give back what they had afterwards."
        )
