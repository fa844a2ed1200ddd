"""Objectives of a load test: which statistic each bounds, what it was measured to be, and whether it is met."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError, did_you_mean
from deadzone.study.objective_specs import DERIVED, ObjectiveSpec

Sense = Literal["at_most", "at_least"]

ERRORS = "error_share"
"""The one column that is judged by what was counted."""

METRICS = {"latency": "latency_us", "broadcast": "broadcast_us", "connect": "connect_us"}
"""Columns that begin with these words and end in `_ms` are statistics of a histogram."""

STATISTIC = re.compile(r"^(latency|broadcast|connect)_(mean|max|p(\d{1,2}(?:_\d+)?))_ms$")


@dataclass(frozen=True)
class Objective:
    """A bound on a column. sense: whether it is the most or the least allowed; bound in the column's unit."""

    column: str
    sense: Sense
    bound: float

    @property
    def metric(self) -> str | None:
        """The histogram whose statistic the column is, or None."""
        found = STATISTIC.match(self.column)
        return METRICS[found[1]] if found else None

    @property
    def is_extreme(self) -> bool:
        """Whether it bounds the worst value of a trial, which is a matter of each trial rather than of their mean."""
        return self.column.endswith(("_max_ms", "_min_ms"))

    @property
    def percentile(self) -> float | None:
        """The percentile that the column is, 0 to 100, or None."""
        found = STATISTIC.match(self.column)
        return float(found[3].replace("_", ".")) if found and found[3] else None

    def met(self, values: np.ndarray) -> np.ndarray:
        """Whether values meet the bound, same shape; a missing value does not."""
        with np.errstate(invalid="ignore"):
            kept: np.ndarray = values <= self.bound if self.sense == "at_most" else values >= self.bound
        return kept


@dataclass(frozen=True)
class Objectives:
    """All bounds of a study.

    bounds: on responses, all to be met at once. load: the least of each factor that has to be borne, by its name.
    """

    bounds: tuple[Objective, ...]
    load: Mapping[str, float]


def objectives_of(specs: Mapping[str, ObjectiveSpec], factors: tuple[str, ...] = ()) -> Objectives:
    """The objectives of a study. specs: by column.

    factors: names of the study's factors; a lower bound on one says which load has to be borne.
    """
    bounds = tuple(
        Objective(column, "at_most" if spec.at_least is None else "at_least", spec.value)
        for column, spec in specs.items()
        if column not in factors
    )
    return Objectives(bounds, {name: spec.value for name, spec in specs.items() if name in factors})


def column_values(trials: pd.DataFrame, column: str) -> np.ndarray:
    """The values of an objective's column, shape (trials,); shares are made from what was counted.

    Raises PhaseError if the trials have no such column.
    """
    if column in trials:
        return trials[column].to_numpy(float)
    if column in DERIVED and set(DERIVED[column]) <= set(trials):
        part, whole = (trials[name].to_numpy(float) for name in DERIVED[column])
        total = part + whole if column == ERRORS else whole
        with np.errstate(invalid="ignore", divide="ignore"):
            share: np.ndarray = part / total
        return share
    known = [str(name) for name in trials.columns]
    raise PhaseError(
        f"An objective bounds {column!r}, which the trials do not have.{did_you_mean(column, [*known, *DERIVED])}"
    )
