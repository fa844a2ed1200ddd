"""Bounds on columns, told in any unit of the kind of the column's own."""

import re
from collections.abc import Mapping
from typing import Any

from deadzone.study.sizes import UNITS as SIZES

UNITS = {"s": ("time", 1.0), "ms": ("time", 1e-3), "us": ("time", 1e-6), "ns": ("time", 1e-9), "min": ("time", 60.0),
         "bytes": ("size", 1.0), **{name.lower(): ("size", float(scale)) for name, scale in SIZES.items()}}  # fmt: skip
"""Units a bound may be told in: their kind, and how many of the kind's first unit they are."""

BOUND = re.compile(r"([\d.]+(?:e[-+]?\d+)?) ?([a-zµ]*)", re.IGNORECASE)


def in_unit_of(column: str, value: float, unit: str) -> float:
    """A bound in its column's unit. unit: that it was told in, in small letters.

    Raises ValueError if the unit is of another kind, or missing where the column has one.
    """
    own = next((end for end in sorted(UNITS, key=len, reverse=True) if column.endswith(f"_{end}")), None)
    if own is None and not unit:
        return value
    if own is None or (unit and UNITS.get(unit, ("", 0))[0] != UNITS[own][0]):
        raise ValueError(
            f"{column} is not measured in {unit!r}; write the bound in {own or 'its own unit, without one'}"
        )
    if not unit:
        raise ValueError(f"{column}: {value:g} of what? Write the unit, such as {value:g} {own}")
    return float(f"{value * UNITS[unit][1] / UNITS[own][1]:.12g}")


def in_own_units(bounds: object) -> object:
    """Bounds by column as a study file has them, those with a unit (`20 ms`) as numbers in their column's.

    Raises ValueError as in_unit_of does.
    """
    if not isinstance(bounds, Mapping):
        return bounds
    return {
        column: {key: told(str(column), bound) for key, bound in one.items()}
        if isinstance(one, Mapping)
        else one
        for column, one in bounds.items()
    }


def told(column: str, bound: Any) -> Any:
    """A bound that has a unit as a number; anything else as it is."""
    found = BOUND.fullmatch(bound.strip()) if isinstance(bound, str) else None
    return bound if found is None else in_unit_of(column, float(found[1]), found[2].lower())
