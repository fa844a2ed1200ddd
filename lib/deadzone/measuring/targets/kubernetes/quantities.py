"""Amounts of CPU as Kubernetes writes them: `500m` is half a core."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from deadzone.errors import TargetError
from deadzone.study.levels import NONE, Level, is_number

SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(1000),
    "": Decimal(1),
}

LEAST_MILLICORES = 10
"""The kernel takes no quota under 1 ms a period of 100 ms."""


def cores_of(quantity: str) -> float:
    """A quantity of CPU in cores. Raises TargetError for what is none."""
    text = quantity.strip()
    number, suffix = (text[:-1], text[-1]) if text[-1:] in "numk" else (text, "")
    try:
        return float(Decimal(number) * SUFFIXES[suffix])
    except (InvalidOperation, KeyError) as error:
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
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"


def check_limits(levels: Iterable[Level]) -> None:
    """Raise TargetError for a CPU limit that cannot be put in force as it is written."""
    for level in levels:
        if (cores := as_cores(level)) is not None:
            cpu_quantity(cores)


def as_cores(level: Level) -> float | None:
    """The cores of a limit level; None for `none`."""
    return float(level) if level != NONE and is_number(level) else None
