"""What the limits and requests of a trial mean for a container's resources, and the QoS class of a
pod that follows from them.

Only what a study sweeps is ever touched: `cpu`, and `memory` where a limit or request of it is
asked for. Sources: the Kubernetes documentation, "Resource Management for Pods and Containers",
"Pod Quality of Service Classes" and "Resize CPU and Memory Resources".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadzone.plugins import NONE, UNCHANGED, Level, Limits, TargetError

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"

CPU, MEMORY = "cpu", "memory"

LIMITS, REQUESTS = "limits", "requests"

FACTORS = {
    "cpu_limit": "limits.cpu",
    "cpu_request": "requests.cpu",
    "memory_limit": "limits.memory",
    "memory_request": "requests.memory",
}
"""The factors of a pod, each with the amount that it sets, as quotas name it."""

LEAST_MILLICORES = 10
"""The kernel takes no quota under 1 ms a period of 100 ms."""

LESS = {CPU: 0.001, MEMORY: 4096.0}
"""A request that is smaller than the limit, so that a pod does not become Guaranteed [cores,
bytes]."""

BINARY = {"Gi": 2**30, "Mi": 2**20, "Ki": 2**10}


@dataclass(frozen=True)
class Resources:
    """Amounts of a container that a sweep changes, as quantities: `limits.cpu`, `requests.cpu`, and
    those of memory where it is swept; None where there is none."""

    amounts: Mapping[str, str | None]

    @classmethod
    def of(cls, container: Mapping[str, Any], names: Iterable[str] = (CPU,)) -> Resources:
        """Those of a container's specification. names: cpu, memory."""
        parts = container.get("resources") or {}
        keys = [(part, name) for name in names for part in (LIMITS, REQUESTS)]
        return cls({f"{part}.{name}": (parts.get(part) or {}).get(name) for part, name in keys})

    @property
    def names(self) -> tuple[str, ...]:
        """The resources whose amounts these are."""
        return resources_of(self.amounts)

    def number(self, key: str) -> float | None:
        """An amount in cores or bytes; None for none."""
        quantity = self.amounts.get(key)
        return None if quantity is None else number_of(quantity)

    def asked(self, name: str) -> float | None:
        """The request that counts: where there is none, the API server takes the limit for it."""
        request = self.number(f"{REQUESTS}.{name}")
        return self.number(f"{LIMITS}.{name}") if request is None else request

    def as_patch(self) -> dict[str, dict[str, str | None]]:
        """The resources of a strategic merge patch: what is not set is removed, other resources
        stay."""
        patch: dict[str, dict[str, str | None]] = {}
        for key, quantity in self.amounts.items():
            part, _, name = key.partition(".")
            patch.setdefault(part, {})[name] = quantity
        return patch

    def holds(self, wanted: Resources) -> bool:
        """Whether each wanted amount is one of these, however it is written."""
        return all(self.number(key) == wanted.number(key) for key in wanted.amounts)

    def same(self, other: Resources) -> bool:
        """Equal amounts, however they are written."""
        return self.holds(other) and other.holds(self)

    def only(self, keys: Iterable[str]) -> Resources:
        """Those of the keys alone."""
        return Resources({key: self.amounts[key] for key in keys if key in self.amounts})

    def __str__(self) -> str:
        return ", ".join(
            f"{in_words(key)} {quantity or 'none'}" for key, quantity in self.amounts.items()
        )


def resources_of(keys: Iterable[str]) -> tuple[str, ...]:
    """The resources, cpu or memory, of amounts by their keys."""
    return tuple(dict.fromkeys(key.partition(".")[2] for key in keys))


def in_words(key: str) -> str:
    """What an amount is: limit, request, memory limit, memory request."""
    part, _, name = key.partition(".")
    return part.removesuffix("s") if name == CPU else f"{name} {part.removesuffix('s')}"


def keys_swept(every: Iterable[Limits]) -> tuple[str, ...]:
    """The amounts that trials must have: the CPU limit always, others where a level of them is
    asked for."""
    asked = {
        factor for limits in every for factor in FACTORS if getattr(limits, factor) != UNCHANGED
    }
    return tuple(key for factor, key in FACTORS.items() if factor == "cpu_limit" or factor in asked)


def required(own: Resources, wanted: Limits) -> Resources:
    """What a container must have in a trial: limits, and requests where the study says them.

    own: what the workload had before the sweep, which stays where the level is `unchanged`.
    """
    amounts: dict[str, str | None] = {}
    for factor, key in FACTORS.items():
        level = getattr(wanted, factor)
        if key in own.amounts and (key.startswith(LIMITS) or level != UNCHANGED):
            amounts[key] = own.amounts[key] if level == UNCHANGED else quantity(key, level)
    return Resources(amounts)


def for_template(original: Resources, wanted: Limits) -> Resources:
    """What a workload's template gets in a trial: a request that the study does not say stays, but
    never above the limit."""
    amounts = {**original.amounts, **(must := required(original, wanted)).amounts}
    made = Resources(amounts)
    for name in original.names:
        limit, request = f"{LIMITS}.{name}", f"{REQUESTS}.{name}"
        most, now = made.number(limit), made.number(request)
        if request not in must.amounts and most is not None and now is not None and now > most:
            amounts[request] = amounts[limit]
    return Resources(amounts)


def why_not_resizable(
    pod: Mapping[str, Any], container: Mapping[str, Any], must: Resources
) -> str | None:
    """Why amounts cannot be put in force on a running pod, or None where they can.

    A resize adds and removes no resource and never changes the QoS class.
    """
    now = Resources.of(container, must.names)
    changed = [key for key in must.amounts if now.number(key) != must.number(key)]
    for key in changed:
        part, _, name = key.partition(".")
        kind, called = part.removesuffix("s"), "CPU" if name == CPU else name
        if must.amounts[key] is None:
            return f"a {kind} cannot be removed from a running pod, only changed"
        if now.amounts[key] is None:
            return (
                f"the running pod has no {called} {kind}, and one that is added could not be "
                "removed again"
            )
        if name in _restarted_by(container):
            return f"its container's resizePolicy asks for a restart where {called} is changed"
    if for_resize(pod, container, must) is None:
        return (
            f"the pod would leave its QoS class {qos_class(pod['spec']['containers'])}, which a "
            "resize may not"
        )
    return None


def _restarted_by(container: Mapping[str, Any]) -> set[str]:
    policies = container.get("resizePolicy") or []
    return {
        policy["resourceName"]
        for policy in policies
        if policy.get("restartPolicy") == "RestartContainer"
    }


def for_resize(
    pod: Mapping[str, Any],
    container: Mapping[str, Any],
    must: Resources,
    original: Resources | None = None,
) -> Resources | None:
    """What a running pod's container gets in a trial, so that the pod keeps its QoS class; None if
    nothing does.

    original: resources before the sweep, from which requests are taken that the study does not say;
    by default those of now.
    """
    wanted_class = (pod.get("status") or {}).get("qosClass") or qos_class(pod["spec"]["containers"])
    before = original or Resources.of(container, must.names)
    choices = [list(_requests(name, must, before, wanted_class)) for name in must.names]
    for requests in itertools.product(*choices):
        chosen = {
            f"{REQUESTS}.{name}": request
            for name, request in zip(must.names, requests, strict=True)
        }
        asked = Resources({**before.amounts, **must.amounts, **chosen})
        if qos_class_with(pod, container["name"], asked) == wanted_class:
            return asked
    return None


def _requests(
    name: str, must: Resources, before: Resources, wanted_class: str
) -> Iterator[str | None]:
    """Requests of one resource that may go with its limit: the one that the study says, else those
    that keep the QoS class."""
    if f"{REQUESTS}.{name}" in must.amounts:
        yield must.amounts[f"{REQUESTS}.{name}"]
        return
    limit, had = must.number(f"{LIMITS}.{name}"), before.asked(name)
    if limit is None or had is None:
        yield before.amounts[f"{REQUESTS}.{name}"]
        return
    for amount in [limit] if wanted_class == GUARANTEED else [min(had, limit), limit - LESS[name]]:
        if amount > 0:  # a request may be below the least limit: the kernel takes any share
            yield written(name, amount)


def qos_class(containers: Sequence[Mapping[str, Any]]) -> str:
    """The class that a pod of these containers belongs to."""
    parts = [container.get("resources") or {} for container in containers]
    if not any(resources.get(LIMITS) or resources.get(REQUESTS) for resources in parts):
        return BEST_EFFORT
    return GUARANTEED if all(_guaranteed(resources) for resources in parts) else BURSTABLE


def qos_class_with(pod: Mapping[str, Any], name: str, have: Resources) -> str:
    """The class that a pod would belong to if its container of that name had such resources."""
    return qos_class(
        [
            _with(container, have) if container["name"] == name else container
            for container in pod["spec"]["containers"]
        ]
    )


def _with(container: Mapping[str, Any], have: Resources) -> dict[str, Any]:
    resources = dict(container.get("resources") or {})
    for part, amounts in have.as_patch().items():
        merged = {**(resources.get(part) or {}), **amounts}
        resources[part] = {name: amount for name, amount in merged.items() if amount is not None}
    return {**container, "resources": resources}


def _guaranteed(resources: Mapping[str, Any]) -> bool:
    have = Resources.of({"resources": resources}, (CPU, MEMORY))
    limits = [have.number(f"{LIMITS}.{name}") for name in have.names]
    return None not in limits and limits == [have.asked(name) for name in have.names]


def number_of(quantity: str) -> float:
    """A quantity in cores or bytes. Raises TargetError for what is none."""
    from kubernetes.utils.quantity import parse_quantity

    try:
        return float(parse_quantity(quantity.strip()))
    except ValueError as error:
        raise TargetError(f"{quantity!r} is no quantity of CPU or memory.") from error


def quantity(key: str, level: Level) -> str | None:
    """A level as Kubernetes writes it: 1500m, 2, 64Mi; None for `none`.

    Raises TargetError where the amount is finer than Kubernetes counts, or less than the kernel
    takes.
    """
    if level == NONE:
        return None
    part, _, name = key.partition(".")
    amount = float(level)
    if name == CPU:
        thousandths = round(amount * 1000)
        is_fine = abs(thousandths - amount * 1000) <= 1e-6
        if not is_fine or thousandths < (LEAST_MILLICORES if part == LIMITS else 1):
            raise TargetError(
                f"A CPU {part.removesuffix('s')} of {amount:g} cores cannot be put in force: "
                "Kubernetes counts in thousandths of a core, and the kernel takes a limit of "
                f"{LEAST_MILLICORES} of them or more."
            )
    return written(name, amount)


def written(name: str, amount: float) -> str:
    """An amount of cpu or memory as people write it: 1500m, 64Mi."""
    if name == MEMORY:
        size = math.floor(amount)
        unit = next((unit for unit, size_of_unit in BINARY.items() if size % size_of_unit == 0), "")
        return f"{size // BINARY.get(unit, 1)}{unit}"
    thousandths = round(amount * 1000)
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"
