"""What a CPU limit means for a container's resources, and the QoS class of a pod that follows from them.

Only `cpu` is ever touched, in limits and requests. Sources: the Kubernetes documentation, "Resource Management
for Pods and Containers", "Pod Quality of Service Classes" and "Resize CPU and Memory Resources".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadzone.errors import TargetError

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"


LEAST_MILLICORES = 10
"""The kernel takes no quota under 1 ms a period of 100 ms."""


@dataclass(frozen=True)
class CpuResources:
    """The cpu part of a container's resources, as quantities; None where there is none."""

    limit: str | None
    request: str | None

    @classmethod
    def of(cls, container: Mapping[str, Any]) -> CpuResources:
        """Those of a container's specification."""
        resources = container.get("resources") or {}
        return cls((resources.get("limits") or {}).get("cpu"), (resources.get("requests") or {}).get("cpu"))

    @property
    def limit_cores(self) -> float | None:
        """The limit in cores; None for no limit."""
        return None if self.limit is None else cores_of(self.limit)

    @property
    def request_cores(self) -> float | None:
        """The request in cores; None for no request."""
        return None if self.request is None else cores_of(self.request)

    def as_patch(self) -> dict[str, Any]:
        """The resources of a strategic merge patch: what is not set is removed, memory and others stay."""
        return {"limits": {"cpu": self.limit}, "requests": {"cpu": self.request}}

    def same(self, other: CpuResources) -> bool:
        """Equal amounts, however they are written."""
        return (self.limit_cores, self.request_cores) == (other.limit_cores, other.request_cores)

    def __str__(self) -> str:
        return f"limit {self.limit or 'none'}, request {self.request or 'none'}"


def qos_class(containers: Sequence[Mapping[str, Any]]) -> str:
    """The class that a pod of these containers belongs to."""
    told = [container.get("resources") or {} for container in containers]
    if not any(resources.get("limits") or resources.get("requests") for resources in told):
        return BEST_EFFORT
    return GUARANTEED if all(_guaranteed(resources) for resources in told) else BURSTABLE


def qos_class_with(pod: Mapping[str, Any], name: str, cpu: CpuResources) -> str:
    """The class that a pod would belong to if its container of that name had such cpu resources."""
    return qos_class([_with(one, cpu) if one["name"] == name else one for one in pod["spec"]["containers"]])


def _with(container: Mapping[str, Any], cpu: CpuResources) -> dict[str, Any]:
    resources = dict(container.get("resources") or {})
    for kind, amounts in cpu.as_patch().items():
        merged = {**(resources.get(kind) or {}), **amounts}
        resources[kind] = {name: amount for name, amount in merged.items() if amount is not None}
    return {**container, "resources": resources}


def _guaranteed(resources: Mapping[str, Any]) -> bool:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if not {"cpu", "memory"} <= set(limits):
        return False
    same_cpu = cores_of(requests.get("cpu", limits["cpu"])) == cores_of(limits["cpu"])
    return same_cpu and requests.get("memory", limits["memory"]) == limits["memory"]


def for_template(original: CpuResources, cores: float | None) -> CpuResources:
    """What a workload's template gets for a limit: the request stays, but never above the limit."""
    limit = None if cores is None else cpu_quantity(cores)
    is_above = cores is not None and (original.request_cores or 0.0) > cores
    return CpuResources(limit, limit if is_above else original.request)


def why_not_resizable(
    pod: Mapping[str, Any], container: Mapping[str, Any], cores: float | None
) -> str | None:
    """Why a limit cannot be put in force on a running pod, or None where it can.

    A resize adds and removes no resource and never changes the QoS class.
    """
    now = CpuResources.of(container)
    if cores is None:
        return "a limit cannot be removed from a running pod, only changed"
    if now.limit is None:
        return "the running pod has no CPU limit, and one that is added could not be removed again"
    if for_resize(pod, container, cores) is None:
        return f"the pod would leave its QoS class {qos_class(pod['spec']['containers'])}, which a resize may not"
    return None


def for_resize(
    pod: Mapping[str, Any], container: Mapping[str, Any], cores: float, original: CpuResources | None = None
) -> CpuResources | None:
    """What a running pod's container gets for a limit, so that the pod keeps its QoS class; None if nothing does.

    original: resources before the sweep, from which the request is taken; by default those of now.
    """
    wanted_class = (pod.get("status") or {}).get("qosClass") or qos_class(pod["spec"]["containers"])
    before = original or CpuResources.of(container)
    request = before.request_cores if before.request_cores is not None else before.limit_cores
    assert request is not None
    candidates = [cores] if wanted_class == GUARANTEED else [min(request, cores), cores - 0.001]
    for amount in candidates:
        if amount <= 0:
            continue
        # A request may be below the least limit: the kernel takes any share.
        asked = CpuResources(cpu_quantity(cores), _request(amount))
        if qos_class_with(pod, container["name"], asked) == wanted_class:
            return asked
    return None


def _request(cores: float) -> str:
    thousandths = round(cores * 1000)
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"


def cores_of(quantity: str) -> float:
    """A quantity of CPU in cores. Raises TargetError for what is none."""
    from kubernetes.utils.quantity import parse_quantity

    try:
        return float(parse_quantity(quantity.strip()))
    except ValueError as error:
        raise TargetError(f"{quantity!r} is no quantity of CPU.") from error


def cpu_quantity(cores: float) -> str:
    """Cores as Kubernetes writes them: 1500m, 2.

    Raises TargetError where the amount is finer than a thousandth of a core, or less than the kernel takes.
    """
    thousandths = round(cores * 1000)
    if abs(thousandths - cores * 1000) > 1e-6 or thousandths < LEAST_MILLICORES:
        raise TargetError(
            f"A CPU limit of {cores:g} cores cannot be put in force: Kubernetes counts in thousandths of a core, "
            f"and the kernel takes {LEAST_MILLICORES} of them or more."
        )
    return _request(cores)


def in_words(cores: float | None) -> str:
    """A CPU limit as a sentence names it; none for no limit."""
    return "none" if cores is None else f"{cores:g} cores"
