"""What a study's responses have to be for a setting to be good enough: its service level
objectives.

A bound on a column is told in any unit of the kind of the column's own.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from deadzone.study.base import COLUMN_PATTERN, Spec
from deadzone.study.direction import kind_of
from deadzone.study.quantity import SECONDS
from deadzone.study.quantity import UNITS as SIZES

UNITS = {
    **{unit: ("time", seconds) for unit, seconds in SECONDS.items()},
    **{unit.lower(): ("size", float(size)) for unit, size in {**SIZES, "bytes": 1}.items()},
}
"""Units a bound may be told in: their kind, and how many of the kind's first unit they are."""

BOUND = re.compile(r"([\d.]+(?:e[-+]?\d+)?) ?([a-zµ]*)", re.IGNORECASE)


def in_unit_of(column: str, value: float, unit: str) -> float:
    """A bound in its column's unit. unit: that it was told in, in small letters.

    Raises ValueError if the unit is of another kind, or missing where the column has one.
    """
    ends = (end for end in sorted(UNITS, key=len, reverse=True) if column.endswith(f"_{end}"))
    is_per = "_per_" in column or kind_of(column) == "rate"
    own = None if is_per else next(ends, None)
    if own is None and not unit:
        return value
    if own is None or (unit and UNITS.get(unit, ("", 0))[0] != UNITS[own][0]):
        raise ValueError(
            f"{column} is not measured in {unit!r}; write the bound in "
            f"{own or 'its own unit, without one'}"
        )
    if not unit:
        raise ValueError(f"{column}: {value:g} of what? Write the unit, such as {value:g} {own}")
    return float(f"{value * UNITS[unit][1] / UNITS[own][1]:.12g}")


def in_own_units(bounds: object) -> object:
    """Bounds by column as a study file has them, those with a unit (`20 ms`) as numbers in their
    column's.

    Raises ValueError as in_unit_of does.
    """
    if not isinstance(bounds, Mapping):
        return bounds
    return {
        column: {key: bound_value(str(column), bound) for key, bound in limits.items()}
        if isinstance(limits, Mapping)
        else limits
        for column, limits in bounds.items()
    }


def bound_value(column: str, bound: Any) -> Any:
    """A bound that has a unit as a number; anything else as it is."""
    match = BOUND.fullmatch(bound.strip()) if isinstance(bound, str) else None
    return bound if match is None else in_unit_of(column, float(match[1]), match[2].lower())


Column = Annotated[str, Field(pattern=COLUMN_PATTERN)]

DERIVED = {
    "error_share": ("errors", "requests"),
    "achieved_share": ("achieved_rate", "offered_rate"),
}
"""Objectives on shares that are made from two columns of the trials."""


Bound = Annotated[
    float | None,
    Field(
        ge=0,
        json_schema_extra={
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}, {"type": "null"}]
        },
    ),
]


class ObjectiveSpec(Spec):
    """A bound on one column of the trials."""

    one_of = ("at_most", "at_least")

    at_most: Bound = None
    """largest value allowed, in the column's unit, or with its own (20 ms)"""

    at_least: Bound = None
    """smallest value allowed; of a factor such as rate: the load to be borne"""

    @property
    def value(self) -> float:
        """The bound itself, whichever way it bounds."""
        return float(self.at_most if self.at_least is None else self.at_least)  # type: ignore[arg-type]


def check_objectives(
    objectives: Mapping[str, ObjectiveSpec], factors: Sequence[str], knob: str, searched: str | None
) -> None:
    """Raise ValueError where something is wrong with the objectives of a study with such factors.

    A factor can only be bounded from below, as the load to be borne; the knob, which is sought,
    cannot be bounded, nor can what is searched by the objectives: the rate, or None.
    """
    if searched and (searched in factors or searched in objectives):
        raise ValueError(
            f"searches workload.{searched}, which then is neither a factor nor an objective"
        )
    if knob in objectives:
        raise ValueError(
            f"has an objective on {knob}, the knob, which is what is sought; bound responses"
        )
    loads = set(objectives) & set(factors)
    if unbounded := [name for name in loads if objectives[name].at_least is None]:
        raise ValueError(
            f"has an objective on {unbounded[0]}: for a factor give at_least, the required load"
        )
    if (objectives or searched) and set(objectives) == loads:
        raise ValueError(
            "has no objectives to meet; bound a response, such as latency_p99_ms: {at_most: 50}"
        )
