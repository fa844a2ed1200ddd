"""The objectives of a study: which statistic each bounds, and how sure it is that a setting meets
them.

That has one judge, of the objectives of a load test and of claims that something holds:

| bound on | confidence that it is met |
| --- | --- |
| a mean, a percentile, any other column | Student's t of the mean over the trials against the bound (`estimates`) |
| the largest or smallest value | that of the next trial, by its prediction interval (Hahn and Meeker 1991, Statistical Intervals, chapter 4): no sample knows a largest value. Missed as soon as one trial has missed it |
| the share of errors | Beta's of errors and requests with Jeffreys' prior (1946), counts divided by how much more they scatter between trials than chance has it (McCullagh and Nelder 1989, Generalized Linear Models, section 4.5); a bound of 0 is about the next trial |

All bounds at once are an intersection-union test (`hypothesis_tests.holm`): the least sure one
counts.
"""  # noqa: E501

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import betainc, betaincinv, hyp1f1

from deadzone.analysis.objectives.estimates import Estimate
from deadzone.analysis.trial_columns import numbers
from deadzone.errors import PhaseError, did_you_mean
from deadzone.study.objective_specs import DERIVED, ObjectiveSpec

Sense = Literal["at_most", "at_least"]

ERRORS = "error_share"
"""The one column that is judged by what was counted."""

STATISTIC = re.compile(r"^(latency|broadcast|connect)_(mean|max|p(\d{1,2}(?:_\d+)?))_ms$")
"""Columns that are statistics of a histogram: of `latency_us`, and so on."""


@dataclass(frozen=True)
class Objective:
    """A bound on a column. sense: whether it is the most or the least allowed; bound in the
    column's unit."""

    column: str
    sense: Sense
    bound: float

    @property
    def metric(self) -> str | None:
        """The histogram whose statistic the column is, or None."""
        match = STATISTIC.match(self.column)
        return f"{match[1]}_us" if match else None

    @property
    def is_extreme(self) -> bool:
        """Whether it bounds the worst value of a trial, which is a matter of each trial rather than
        of their mean."""
        return self.column.endswith(("_max_ms", "_min_ms"))

    @property
    def percentile(self) -> float | None:
        """The percentile that the column is, 0 to 100, or None."""
        match = STATISTIC.match(self.column)
        return float(match[3].replace("_", ".")) if match and match[3] else None

    def met(self, values: np.ndarray) -> np.ndarray:
        """Whether values meet the bound, same shape; a missing value does not."""
        return np.asarray(values <= self.bound if self.sense == "at_most" else values >= self.bound)


def objectives_of(
    specs: Mapping[str, ObjectiveSpec], factors: tuple[str, ...] = ()
) -> tuple[tuple[Objective, ...], dict[str, float]]:
    """The bounds on responses, all to be met at once, and the least of each factor that has to be
    borne, by its name.

    specs: the objectives of a study by column. factors: their names; a lower bound on one says
    which load has to be borne.
    """
    bounds = tuple(
        Objective(column, "at_most" if spec.at_least is None else "at_least", spec.value)
        for column, spec in specs.items()
        if column not in factors
    )
    return bounds, {name: spec.value for name, spec in specs.items() if name in factors}


def column_values(trials: pd.DataFrame, column: str) -> np.ndarray:
    """The values of an objective's column, shape (trials,); shares are made from what was counted.

    Raises PhaseError if the trials have no such column.
    """
    if column in trials:
        return numbers(trials, column).to_numpy()
    if column in DERIVED and set(DERIVED[column]) <= set(trials):
        part, whole = (numbers(trials, name).to_numpy() for name in DERIVED[column])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(part / (part + whole if column == ERRORS else whole))
    known = [str(name) for name in trials.columns]
    raise PhaseError(
        f"An objective bounds {column!r}, which the trials do not "
        f"have.{did_you_mean(column, [*known, *DERIVED])}"
    )


JEFFREYS = 0.5
"""Added to errors and to requests without one, as the prior of that name has it: no error seen is
not no error."""


def may_meet(objective: Objective, values: np.ndarray) -> bool:
    """Whether it was measured in every trial and, of a largest value, missed in none: such a cell's
    scatter is no other's."""
    return bool(
        np.isfinite(values).all() and (not objective.is_extreme or objective.met(values).all())
    )


def chance_met(
    bound: Objective,
    values: np.ndarray,
    mean: Estimate,
    counted: np.ndarray,
    *,
    is_log: bool = True,
) -> float:
    """Confidence that a bound is met at a setting.

    values: of the bound's column, shape (trials,). mean: over the trials, of logarithms where
    is_log. counted: errors and requests without one of each trial, shape (trials, 2); read of a
    share of errors alone.
    """
    if bound.column == ERRORS and counted.any():
        return _errors_met(bound, counted)
    if not may_meet(bound, values):
        return 0.0
    next_one = len(values) / (len(values) + 1)  # that the next trial is as these
    if bound.sense == "at_most" and bound.bound == 0 <= values.min():  # of counts
        return next_one if bound.met(values).all() else 0.0
    if bound.is_extreme:
        if math.isinf(mean.df):
            return next_one
        mean = replace(mean, error=mean.error * (len(values) + 1) ** 0.5)
    edge = bound.bound
    if is_log:
        edge = math.log(edge) if edge > 0 else -math.inf
    return mean.p_above(edge) if bound.sense == "at_most" else mean.p_below(edge)


def _errors_met(bound: Objective, counted: np.ndarray) -> float:
    a, b = _beta(counted)
    if bound.bound > 0:
        below = float(betainc(a, b, min(bound.bound, 1.0)))
        return below if bound.sense == "at_most" else 1 - below
    return 0.0 if counted[:, 0].any() else float(hyp1f1(a, a + b, -counted[:, 1].mean()))


def errors_interval(counted: np.ndarray) -> tuple[float, float]:
    """The ends of the 95 % interval of the share of errors. counted: as of `chance_met`."""
    low, high = betaincinv(*_beta(counted), (0.025, 0.975))
    return float(low) if counted[:, 0].any() else 0.0, float(high)


def _beta(counted: np.ndarray) -> tuple[float, float]:
    """What the counts say of the share of errors: the two parameters of Beta's distribution. The
    counts are divided by Pearson's chi square of the trials' errors over its degrees of freedom, at
    least 1."""
    asked, dispersion = counted.sum(axis=1), 1.0
    share = float(counted[:, 0].sum() / asked.sum())
    if len(counted) > 1 and 0 < share < 1:
        kept = asked > 0
        square = (counted[kept, 0] - share * asked[kept]) ** 2 / (share * (1 - share) * asked[kept])
        dispersion = max(1.0, float(square.sum()) / (len(counted) - 1))
    errors, requests = counted.sum(axis=0) / dispersion
    return float(errors) + JEFFREYS, float(requests) + JEFFREYS
