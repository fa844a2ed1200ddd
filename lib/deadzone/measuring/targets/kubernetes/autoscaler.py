"""Autoscalers of a workload that is swept: refused, or held at the replicas of now and given back.

A HorizontalPodAutoscaler scales on a share of the request, which a sweep changes, and a VerticalPodAutoscaler sets requests and
limits itself: both work against a sweep.
"""

import contextlib
from collections.abc import Mapping
from typing import Any

from deadzone.errors import TargetError
from deadzone.measuring.targets.kubernetes.changes import is_ours
from deadzone.measuring.targets.kubernetes.cluster import MANAGER, Cluster, Object
from deadzone.measuring.targets.kubernetes.errors import AbsentError, MissingVerbError
from deadzone.measuring.targets.kubernetes.workload import Workload

HPA = "autoscaling.{}_namespaced_horizontal_pod_autoscaler"

VPA = ("autoscaling.k8s.io", "v1", "verticalpodautoscalers")

LEAST, MOST = "minReplicas", "maxReplicas"

KEDA = "ScaledObject"


def horizontal(cluster: Cluster, workload: Workload) -> list[Object]:
    """The HorizontalPodAutoscalers of a workload; none where the account may not look."""
    what = f"list the autoscalers in the namespace {workload.namespace}"
    with contextlib.suppress(MissingVerbError):
        return [
            one
            for one in cluster.call(what, HPA.format("list"), workload.namespace)["items"]
            if _is_of(one["spec"], "scaleTargetRef", workload)
        ]
    return []


def vertical(cluster: Cluster, workload: Workload) -> list[Object]:
    """The VerticalPodAutoscalers of a workload that change its pods; none where the cluster has none, or the account may not look."""
    group, version, plural = VPA
    what = f"list the vertical autoscalers in the namespace {workload.namespace}"
    with contextlib.suppress(MissingVerbError, AbsentError):
        listed = cluster.call(
            what, "custom.list_namespaced_custom_object", group, version, workload.namespace, plural
        )
        of_it = [one for one in listed["items"] if _is_of(one["spec"], "targetRef", workload)]
        return [one for one in of_it if (one["spec"].get("updatePolicy") or {}).get("updateMode") != "Off"]
    return []


def _is_of(spec: Mapping[str, Any], key: str, workload: Workload) -> bool:
    target = spec.get(key) or {}
    return (str(target.get("kind")).lower(), target.get("name")) == (workload.kind, workload.name)


def pausable(cluster: Cluster, workload: Workload, *, is_paused: bool) -> dict[str, list[int]]:
    """The autoscalers that are held for the sweep, each with the least and most replicas that it has now.

    is_paused: whether the study says so. Raises TargetError where one is there that may not or cannot be held.
    """
    if others := vertical(cluster, workload):
        name, owner = others[0]["metadata"]["name"], workload
        raise TargetError(
            f"The VerticalPodAutoscaler {name} sets the resources of {owner} itself. Set its updatePolicy.updateMode to Off for the "
            "sweep."
        )
    found = horizontal(cluster, workload)
    for one in found:
        metadata, name = one["metadata"], one["metadata"]["name"]
        owners = [owner for owner in metadata.get("ownerReferences") or [] if owner.get("kind") == KEDA]
        if owners:
            raise TargetError(
                f"KEDA scales {workload} ({KEDA} {owners[0]['name']}), and would undo what a sweep does to its autoscaler. Pause it: "
                f"`kubectl -n {workload.namespace} annotate scaledobject {owners[0]['name']} autoscaling.keda.sh/paused=true`."
            )
        if not is_paused:
            raise TargetError(
                f"The autoscaler {name} scales {workload} between {one['spec'].get(LEAST, 1)} and {one['spec'][MOST]} pods, on a share of "
                "the request that a sweep changes. Write `autoscaler: pause` under target, then it is held at its pods of now and "
                "given back."
            )
    return {one["metadata"]["name"]: [one["spec"].get(LEAST, 1), one["spec"][MOST]] for one in found}


def hold(cluster: Cluster, workload: Workload, held: Mapping[str, Any], replicas: int) -> None:
    """Keep autoscalers at so many replicas; whoever calls this has noted what they had."""
    for name in held:
        _set(cluster, workload, name, {LEAST: replicas, MOST: replicas})


def let_go(cluster: Cluster, workload: Workload, held: Mapping[str, Any]) -> list[str]:
    """Give autoscalers their range again, where nobody set another one since; says what was done."""
    done = []
    for one in horizontal(cluster, workload):
        name = one["metadata"]["name"]
        had = dict(zip((LEAST, MOST), held.get(name, ()), strict=False))
        back = {
            key: value
            for key, value in had.items()
            if one["spec"].get(key) != value and is_ours(one, ("spec", key))
        }
        if back:
            _set(cluster, workload, name, back)
            done.append(f"autoscaler {name} of {workload}: {had[LEAST]} to {had[MOST]} pods again")
    return done


def _set(cluster: Cluster, workload: Workload, name: str, spec: Mapping[str, Any]) -> None:
    what = f"hold the autoscaler {name} in the namespace {workload.namespace}"
    method = HPA.format("patch")
    cluster.call(what, method, name, workload.namespace, {"spec": dict(spec)}, field_manager=MANAGER)
