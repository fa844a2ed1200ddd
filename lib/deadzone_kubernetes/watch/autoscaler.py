"""Autoscalers of a workload that is swept: refused, or held meanwhile and given back.

A HorizontalPodAutoscaler scales on a share of the request, which a sweep changes. A
VerticalPodAutoscaler sets requests and limits itself. KEDA makes a HorizontalPodAutoscaler of a
ScaledObject, and undoes what others do to it. Each kind has fields that hold it (Kubernetes
documentation, "Horizontal Pod Autoscaling"; kubernetes/autoscaler, "VPA quick start"; KEDA
documentation, "Pause autoscaling").
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from deadzone.plugins import TargetError
from deadzone_kubernetes.api.cluster import MANAGER, Cluster, Object
from deadzone_kubernetes.api.errors import AbsentError, MissingVerbError
from deadzone_kubernetes.watch.changes import Change
from deadzone_kubernetes.watch.owners import (
    Owned,
    Path,
    is_ours,
    owned_again,
    owner_of,
    owners,
    value_at,
)
from deadzone_kubernetes.workload import DEPLOYMENT, KubernetesWorkload

MERGE_PATCH = "application/merge-patch+json"

PAUSED = "autoscaling.keda.sh/paused"
PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas"
NOT_PAUSED = ("false", "f", "0")
"""Values of the annotation that pause nothing; any other word does (KEDA,
`NeedToBePausedByAnnotation`)."""

MODE: Path = ("spec", "updatePolicy", "updateMode")
"""Where a VerticalPodAutoscaler says whether it changes pods."""

OFF = "Off"

Note = Callable[[str], None]


@dataclass(frozen=True)
class AutoscalerKind:
    """A kind of autoscaler.

    target: the key of its specification that names its workload. fields: those that hold it. group,
    version, plural: where the API has it, if it is installed.
    """

    name: str
    target: str
    fields: tuple[Path, ...]
    group: str
    version: str
    plural: str

    def listed(self, cluster: Cluster, workload: KubernetesWorkload, note: Note) -> list[Object]:
        """Those of a workload. note: told where the account may not look for them."""
        what = f"list each {self.name} in the namespace {workload.namespace}"
        where = (self.group, self.version, workload.namespace, self.plural)
        try:
            every = cluster.call(what, "custom.list_namespaced_custom_object", *where)["items"]
        except AbsentError:
            return []
        except MissingVerbError as error:
            if self._is_installed(cluster):
                note(f"whether a {self.name} changes {workload} is not known: {error}")
            return []
        return [
            scaler for scaler in every if _is_of(scaler["spec"].get(self.target) or {}, workload)
        ]

    def _is_installed(self, cluster: Cluster) -> bool:
        what, where = f"look for {self.group}", (self.group, self.version)
        try:
            known = cluster.call(what, "custom.get_api_resources", *where)
        except (AbsentError, MissingVerbError):
            return False
        return self.plural in {resource["name"] for resource in known["resources"]}

    def named(self, cluster: Cluster, workload: KubernetesWorkload, name: str) -> list[Object]:
        """The one of a name, as it is now; none where it is gone, or of another workload now."""
        every = self.listed(cluster, workload, lambda sentence: None)
        return [manifest for manifest in every if manifest["metadata"]["name"] == name]

    def patch(
        self, cluster: Cluster, workload: KubernetesWorkload, manifest: Object, body: Object
    ) -> None:
        """Change an autoscaler of the kind. Raises ConflictError where something changed it since
        it was found."""
        name, version = manifest["metadata"]["name"], manifest["metadata"]["resourceVersion"]
        what = f"change the {self.name} {name} in the namespace {workload.namespace}"
        body = {**body, "metadata": {**body.get("metadata", {}), "resourceVersion": version}}
        where = (self.group, self.version, workload.namespace, self.plural, name, body)
        method, options = "custom.patch_namespaced_custom_object", {"_content_type": MERGE_PATCH}
        cluster.call(what, method, *where, field_manager=MANAGER, **options)


HORIZONTAL = AutoscalerKind(
    "HorizontalPodAutoscaler",
    "scaleTargetRef",
    (("spec", "minReplicas"), ("spec", "maxReplicas")),
    *("autoscaling", "v2", "horizontalpodautoscalers"),
)
VERTICAL = AutoscalerKind(
    "VerticalPodAutoscaler",
    "targetRef",
    (MODE,),
    *("autoscaling.k8s.io", "v1", "verticalpodautoscalers"),
)
KEDA = AutoscalerKind(
    "ScaledObject",
    "scaleTargetRef",
    (("metadata", "annotations", PAUSED_REPLICAS),),
    *("keda.sh", "v1alpha1", "scaledobjects"),
)
KINDS = {kind.name: kind for kind in (HORIZONTAL, VERTICAL, KEDA)}


@dataclass(frozen=True)
class Autoscaler:
    """An autoscaler as the API server has it."""

    kind: AutoscalerKind
    manifest: Object

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.manifest["metadata"]["uid"])

    @property
    def makers(self) -> list[tuple[str, str]]:
        """The ScaledObjects that made it: name and uid."""
        owners = self.manifest["metadata"].get("ownerReferences") or []
        return [(owner["name"], owner["uid"]) for owner in owners if owner.get("kind") == KEDA.name]

    def is_at_work(self) -> bool:
        """Whether its owner has not switched it off."""
        annotations = self.manifest["metadata"].get("annotations") or {}
        is_paused = annotations.get(PAUSED, "false").lower() not in NOT_PAUSED
        return (
            not is_paused
            and PAUSED_REPLICAS not in annotations
            and value_at(self.manifest, MODE) != OFF
        )


def _is_of(target: Mapping[str, Any], workload: KubernetesWorkload) -> bool:
    # KEDA takes a Deployment where nothing is said
    kind = str(target.get("kind") or DEPLOYMENT).lower()
    return (kind, target.get("name")) == (workload.kind, workload.name)


def at_work(cluster: Cluster, workload: KubernetesWorkload, note: Note) -> list[Autoscaler]:
    """The autoscalers that change a workload; one that KEDA made counts as its ScaledObject where
    that can be seen."""
    every = [
        Autoscaler(kind, manifest)
        for kind in (VERTICAL, KEDA, HORIZONTAL)
        for manifest in kind.listed(cluster, workload, note)
    ]
    known = {scaler.uid for scaler in every}
    of_others = [scaler for scaler in every if not known & {uid for _, uid in scaler.makers}]
    return [scaler for scaler in of_others if scaler.is_at_work()]


def check(scalers: Sequence[Autoscaler], workload: KubernetesWorkload, *, is_paused: bool) -> None:
    """Raise TargetError where autoscalers are there that the study does not pause, or one that
    cannot be held.

    is_paused: whether the study says `autoscaler: pause`.
    """
    for scaler in scalers:
        if scaler.makers:
            name = scaler.makers[0][0]
            raise TargetError(
                f"KEDA scales {workload} ({KEDA.name} {name}), and the account may not look at it. "
                "Give it the verbs of deploy/rbac.yaml, or pause it: `kubectl -n "
                f"{workload.namespace} annotate scaledobject {name} {PAUSED}=true`."
            )
    if scalers and not is_paused:
        raise TargetError(
            f"{' '.join(_in_words(scaler, workload) for scaler in scalers)} Write `autoscaler: "
            "pause` under target: a vertical one is switched off meanwhile, others are held at "
            "the pods of now, and all are given back."
        )


def _in_words(scaler: Autoscaler, workload: KubernetesWorkload) -> str:
    """What an autoscaler would do to a sweep."""
    if scaler.kind is VERTICAL:
        return f"The {VERTICAL.name} {scaler.name} sets the resources of {workload} itself."
    if scaler.kind is KEDA:
        return f"KEDA scales {workload} ({KEDA.name} {scaler.name}) while it is swept."
    spec = scaler.manifest["spec"]
    return (
        f"The autoscaler {scaler.name} scales {workload} between {spec.get('minReplicas', 1)} and "
        f"{spec['maxReplicas']} pods, on a share of the request that a sweep changes."
    )


def hold(
    cluster: Cluster,
    workload: KubernetesWorkload,
    scalers: Sequence[Autoscaler],
    replicas: int,
    keep: Callable[[str, list[Any], Owned], None],
) -> None:
    """Keep autoscalers at so many replicas, or from changing anything.

    keep: notes what one has, by its kind and name, and who owns that, before it is changed.
    """
    values: dict[str, Sequence[Any]] = {
        HORIZONTAL.name: (replicas, replicas),
        VERTICAL.name: (OFF,),
        KEDA.name: (str(replicas),),
    }
    for scaler in scalers:
        held = dict(zip(scaler.kind.fields, values[scaler.kind.name], strict=True))
        cluster.without_conflict(partial(_hold, cluster, workload, scaler, held, keep))


def _hold(
    cluster: Cluster,
    workload: KubernetesWorkload,
    scaler: Autoscaler,
    held: Mapping[Path, Any],
    keep: Callable[[str, list[Any], Owned], None],
) -> None:
    for manifest in scaler.kind.named(cluster, workload, scaler.name):
        has = {field: value_at(manifest, field) for field in held}
        if has == held and owned_again(manifest, []):
            return  # by an attempt whose answer was lost
        keep(f"{scaler.kind.name}/{scaler.name}", list(has.values()), owners(manifest, held))
        scaler.kind.patch(cluster, workload, manifest, _nested(held))


def let_go(
    cluster: Cluster,
    workload: KubernetesWorkload,
    had: Mapping[str, Sequence[Any]],
    owned: Mapping[str, Owned],
    note: Note,
) -> list[str]:
    """Give autoscalers what they had, but for what others set since, which note is told; says what
    was done.

    owned: who owned that, by kind and name of each.
    """
    done = []
    for key, values in had.items():
        kind, name = KINDS[key.split("/", 1)[0]], key.split("/", 1)[1]
        back = dict(zip(kind.fields, values, strict=True))
        given, stays = cluster.without_conflict(
            partial(_let_go, cluster, workload, kind, name, back)
        )
        for change in stays:
            note(f"{key} of {workload}: {change}; that stays")
        done += [f"{key} of {workload}: {given} again"] if given else []
        cluster.without_conflict(
            partial(_own_again, cluster, workload, kind, name, owned.get(key, []))
        )
    return done


def _let_go(
    cluster: Cluster,
    workload: KubernetesWorkload,
    kind: AutoscalerKind,
    name: str,
    had: Mapping[Path, Any],
) -> tuple[str, list[Change]]:
    """What was given back, in words, and what others set, which stays."""
    for manifest in kind.named(cluster, workload, name):
        differ = {
            field: value for field, value in had.items() if value_at(manifest, field) != value
        }
        back = {field: value for field, value in differ.items() if is_ours(manifest, field)}
        if back:
            kind.patch(cluster, workload, manifest, _nested(back))
        stays = [
            Change(f"{field[-1]} {value_at(manifest, field)}, set", owner_of(manifest, field))
            for field in differ.keys() - back.keys()
        ]
        return ", ".join(f"{field[-1]} {value or 'none'}" for field, value in back.items()), stays
    return "", []


def _own_again(
    cluster: Cluster, workload: KubernetesWorkload, kind: AutoscalerKind, name: str, owned: Owned
) -> None:
    for manifest in kind.named(cluster, workload, name):
        if body := owned_again(manifest, owned):
            kind.patch(cluster, workload, manifest, body)


def _nested(values: Mapping[Path, Any]) -> Object:
    """A patch of an object that sets values at their paths."""
    body: Object = {}
    for path, value in values.items():
        inner = body
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = value
    return body
