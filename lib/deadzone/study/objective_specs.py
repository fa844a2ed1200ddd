"""What a study's responses have to be for a setting to be good enough: its service level objectives."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from deadzone.study.base import COLUMN_PATTERN, Spec

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
        json_schema_extra={"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}, {"type": "null"}]},
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


def objective_problem(
    objectives: Mapping[str, ObjectiveSpec], factors: Sequence[str], knob: str, searched: str | None
) -> str | None:
    """What is wrong with the objectives of a study with such factors, or None.

    A factor can only be bounded from below, as the load to be borne; the knob, which is sought, cannot be bounded, nor
    can what is searched by the objectives: the rate, or None.
    """
    if searched in factors:
        return f"has a factor {searched} and a workload.{searched} that is searched; it is one of them"
    if searched in objectives:
        return f"has an objective on {searched}, which is searched; bound responses, such as latency_p99_ms"
    if searched and not set(objectives) - set(factors):
        return (
            f"searches the {searched} and has no objectives to meet, such as latency_p99_ms: {{at_most: 50}}"
        )
    for name, objective in objectives.items():
        if name == knob:
            return f"has an objective on {name}, the knob, which is what is sought; bound responses and loads"
        if name in factors and objective.at_least is None:
            return f"has an objective on the factor {name} without at_least: the load that has to be borne"
    if objectives and set(objectives) <= set(factors):
        return "has objectives on factors alone; bound at least one response, such as latency_mean_ms"
    return None
