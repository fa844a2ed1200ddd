"""What an autoscaler goes by, as plain values: kept with a run, so that a report can say what it
makes of a setting."""

from collections.abc import Iterator
from typing import Any

from deadzone_kubernetes.api.cluster import Object
from deadzone_kubernetes.container.resources import CPU
from deadzone_kubernetes.watch.autoscaler import KEDA, MODE, VERTICAL, Autoscaler
from deadzone_kubernetes.watch.changes import value_at

DEFAULT_MODE = "Recreate"
"""What a VerticalPodAutoscaler does where nothing is said (kubernetes/autoscaler, "VPA quick
start")."""

MOST_OF_KEDA = 100
"""maxReplicaCount where a ScaledObject says nothing (KEDA documentation, "ScaledObject
specification")."""


def described(scaler: Autoscaler, container: str) -> Object:
    """An autoscaler of the workload of a container. Keys: kind, name; mode and sets_limits (of a
    vertical one: whether it changes limits too); of others pods_min, pods_max, cpu_share (of the
    request that it keeps in use, None where it does not go by it) and goes_by (names of all other
    quantities)."""
    common: Object = {"kind": scaler.kind.name, "name": scaler.name}
    spec = scaler.manifest["spec"]
    if scaler.kind is VERTICAL:
        policy = _policy(spec, container)
        sets_limits = policy.get("controlledValues", "RequestsAndLimits") != "RequestsOnly"
        mode = (
            "Off"
            if policy.get("mode") == "Off"
            else value_at(scaler.manifest, MODE) or DEFAULT_MODE
        )
        return {**common, "mode": mode, "sets_limits": sets_limits}
    if scaler.kind is KEDA:
        ends = (spec.get("minReplicaCount", 0), spec.get("maxReplicaCount", MOST_OF_KEDA))
        goals = dict(_triggers(spec))
    else:
        ends = (spec.get("minReplicas", 1), spec["maxReplicas"])
        goals = dict(_metrics(spec, container))
    share = goals.pop(CPU, None)
    return {
        **common,
        "pods_min": ends[0],
        "pods_max": ends[1],
        "cpu_share": share,
        "goes_by": sorted(goals),
    }


def _policy(spec: Object, container: str) -> Object:
    """What a VerticalPodAutoscaler says of a container, by its name or of all."""
    named = {
        policy.get("containerName"): policy
        for policy in (spec.get("resourcePolicy") or {}).get("containerPolicies") or []
    }
    policy_of: Object = named.get(container) or named.get("*") or {}
    return policy_of


def _metrics(spec: Object, container: str) -> Iterator[tuple[str, Any]]:
    """The quantities of a HorizontalPodAutoscaler, each with the share of the request where it is
    one of CPU."""
    for metric in spec.get("metrics") or []:
        source: Object = next((value for value in metric.values() if isinstance(value, dict)), {})
        name = str(source.get("name") or (source.get("metric") or {}).get("name") or metric["type"])
        share = (source.get("target") or {}).get("averageUtilization")
        if name == CPU and share is not None and source.get("container", container) == container:
            yield CPU, share / 100
        else:
            yield (
                f"{name} of {source['container']}" if "container" in source else _plain(name),
                None,
            )


def _triggers(spec: Object) -> Iterator[tuple[str, Any]]:
    """The same of a ScaledObject."""
    for trigger in spec.get("triggers") or []:
        metadata = trigger.get("metadata") or {}
        kind = trigger.get("metricType") or metadata.get("type") or "Utilization"
        if trigger["type"] == CPU and kind == "Utilization":
            yield CPU, float(metadata["value"]) / 100
        else:
            yield _plain(str(trigger["type"])), None


def _plain(name: str) -> str:
    """CPU that is no share of the request is named apart from the one that is."""
    return f"{name} in cores" if name == CPU else name
