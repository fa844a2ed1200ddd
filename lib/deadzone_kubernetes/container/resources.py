"""What the limits and requests of a trial mean for a container's resources, and the QoS class of a
pod that follows from them.

Only what a study sweeps is ever touched: `cpu`, and `memory` where a limit or request of it is
asked for. Sources: the Kubernetes documentation, "Resource Management for Pods and Containers",
"Pod Quality of Service Classes" and "Resize CPU and Memory Resources".
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deadzone.plugins import NONE, UNCHANGED, Level, Limits, TargetError

GUARANTEED = "Guaranteed"

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
    def of(cls, container: Mapping[str, Any], names: Iterable[str] = (CPU,)) -> "Resources":
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

    def holds(self, wanted: "Resources") -> bool:
        """Whether each wanted amount is one of these, however it is written."""
        return all(self.number(key) == wanted.number(key) for key in wanted.amounts)

    def only(self, keys: Iterable[str]) -> "Resources":
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


def why_not_resizable(container: Mapping[str, Any], must: Resources) -> str | None:
    """Why amounts are not put in force on a running container, or None where the API server is
    asked.

    A resize removes no amount, so that one which it adds could not be given back.
    """
    now = Resources.of(container, must.names)
    restarted = {
        policy["resourceName"]
        for policy in container.get("resizePolicy") or []
        if policy.get("restartPolicy") == "RestartContainer"
    }
    for key, amount in must.amounts.items():
        kind = in_words(key)
        if amount is None and now.amounts[key] is not None:
            return f"a {kind} cannot be removed from a running pod, only changed"
        if amount is not None and now.amounts[key] is None:
            return f"the running pod has no {kind}, and one that is added could not be removed"
        if now.number(key) != must.number(key) and key.partition(".")[2] in restarted:
            return f"its container's resizePolicy asks for a restart where its {kind} is changed"
    return None


def for_resize(pod: Mapping[str, Any], must: Resources, before: Resources) -> Resources:
    """What a running pod's container gets in a trial: with requests that keep the QoS class of the
    pod, where the study does not say them.

    before: what the container had before the sweep.
    """
    asked = {**before.amounts, **must.amounts}
    for name in must.names:
        request = f"{REQUESTS}.{name}"
        limit, had = must.number(f"{LIMITS}.{name}"), before.asked(name)
        if request in must.amounts or limit is None or had is None:
            continue
        if pod["status"]["qosClass"] == GUARANTEED:
            asked[request] = asked[f"{LIMITS}.{name}"]
        else:
            asked[request] = written(name, min(had, limit if had < limit else limit - LESS[name]))
    return Resources(asked)


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
