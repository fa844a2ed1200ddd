"""How sure it is that a setting meets its bounds: the one judge of objectives and of claims that something holds.

| bound on | confidence that it is met |
| --- | --- |
| a mean, a percentile, any other column | Student's t of the mean over the trials against the bound (`estimates`) |
| the largest or smallest value | that of the next trial, by its prediction interval (Hahn and Meeker 1991, Statistical Intervals, chapter 4): no sample knows a largest value. Missed as soon as one trial has missed it |
| the share of errors | Beta's of errors and requests with Jeffreys' prior (1946), counts divided by how much more they scatter between trials than chance has it (McCullagh and Nelder 1989, Generalized Linear Models, section 4.5); a bound of 0 is about the next trial |

All bounds at once are an intersection-union test (`hypothesis_tests.holm`): the least sure one counts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadzone.explaining.capacity.cells import ERRORS, Cell, Cells, Objective, scatter_within
from deadzone.explaining.capacity.estimates import Estimate, cell_means

LEAST_WITHIN = 1e-3
"""What one trial scatters where nothing else tells: a tenth of a percent."""

JEFFREYS = 0.5
"""Added to errors and to requests without one, as the prior of that name has it: no error seen is not no error."""


@dataclass(frozen=True)
class Judged:
    """A cell's chances. met: by the column of each objective, the confidence that it is met.

    scatter_known: False where the confidence rests on one trial and no other cell says how much trials differ.
    """

    met: Mapping[str, float]
    scatter_known: bool

    @property
    def confidence(self) -> float:
        """That every objective is met: that in the least sure one."""
        return min(self.met.values())


def judge_cells(cells: Cells, objectives: Sequence[Objective]) -> dict[tuple[float, float], Judged]:
    """The chances of every cell, by (pool, rate); cells without a trial that says something are left out.

    A trial that the server failed misses everything, and one that did not measure a column its objective.
    """
    known = {place: cell for place, cell in sorted(cells.by_place.items()) if cell.trials or cell.failed}
    unbroken = {place: cell for place, cell in known.items() if not cell.failed}
    met: dict[tuple[float, float], dict[str, float]] = {
        place: dict.fromkeys((one.column for one in objectives), 0.0) for place in known
    }
    for one in objectives:
        told = {place: cell for place, cell in unbroken.items() if _may_meet(one, cell.values(one.column))}
        for (place, cell), mean in zip(told.items(), _means(list(told.values()), one), strict=True):
            counted = np.array([(trial.errors, trial.requests) for trial in cell.trials])
            met[place][one.column] = chance_met(one, cell.values(one.column), mean, counted)
    repeated = any(len(cell.trials) > 1 for cell in unbroken.values())
    return {place: Judged(met[place], repeated or bool(known[place].failed)) for place in known}


def _may_meet(objective: Objective, values: np.ndarray) -> bool:
    """Whether it was measured in every trial and, of a largest value, missed in none: such a cell's scatter is no other's."""
    return bool(np.isfinite(values).all() and (not objective.is_extreme or objective.met(values).all()))


def _means(cells: Sequence[Cell], objective: Objective) -> list[Estimate]:
    """The mean of every cell on the scale it is judged on; of a single trial never surer than its histogram is."""
    groups = [_scaled(cell.values(objective.column)) for cell in cells]
    means = cell_means(groups, (LEAST_WITHIN, math.inf)) if groups else []
    assert means is not None
    within = [
        max((scatter_within(objective, trial.histograms) for trial in cell.trials), default=0.0)
        for cell in cells
    ]
    return [
        replace(mean, error=max(mean.error, least / mean.n**0.5))
        for mean, least in zip(means, within, strict=True)
    ]


def _scaled(values: np.ndarray) -> np.ndarray:
    """Logarithms; a value of 0 counts as the smallest that was seen."""
    smallest = values[values > 0].min() if (values > 0).any() else 1.0
    return np.log(np.maximum(values, smallest))


def chance_met(
    bound: Objective, values: np.ndarray, mean: Estimate, counted: np.ndarray, *, is_log: bool = True
) -> float:
    """Confidence that a bound is met at a setting.

    values: of the bound's column, shape (trials,). mean: over the trials, of logarithms where is_log. counted: errors and
    requests without one of each trial, shape (trials, 2); read of a share of errors alone.
    """
    if bound.column == ERRORS and counted.any():
        return _errors_met(bound, counted)
    if not _may_meet(bound, values):
        return 0.0
    if bound.is_extreme:
        if math.isinf(mean.df):
            return len(values) / (len(values) + 1)
        mean = replace(mean, error=mean.error * (len(values) + 1) ** 0.5)
    edge = bound.bound
    if is_log:
        edge = math.log(edge) if edge > 0 else -math.inf
    return mean.p_above(edge) if bound.sense == "at_most" else mean.p_below(edge)


def _errors_met(bound: Objective, counted: np.ndarray) -> float:
    from scipy.special import betainc, hyp1f1

    a, b = _beta(counted)
    if bound.bound > 0:
        below = float(betainc(a, b, min(bound.bound, 1.0)))
        return below if bound.sense == "at_most" else 1 - below
    return 0.0 if counted[:, 0].any() else float(hyp1f1(a, a + b, -counted[:, 1].mean()))


def errors_interval(counted: np.ndarray) -> tuple[float, float]:
    """The ends of the 95 % interval of the share of errors. counted: as of `chance_met`."""
    from scipy.special import betaincinv

    low, high = betaincinv(*_beta(counted), (0.025, 0.975))
    return float(low) if counted[:, 0].any() else 0.0, float(high)


def _beta(counted: np.ndarray) -> tuple[float, float]:
    """What the counts say of the share of errors: the two parameters of Beta's distribution."""
    errors, requests = counted.sum(axis=0) / _dispersion(counted)
    return float(errors) + JEFFREYS, float(requests) + JEFFREYS


def _dispersion(counted: np.ndarray) -> float:
    """Pearson's chi square of the trials' errors over its degrees of freedom, at least 1."""
    asked = counted.sum(axis=1)
    share = float(counted[:, 0].sum() / asked.sum())
    if len(counted) < 2 or not 0 < share < 1:
        return 1.0
    kept = asked > 0
    square = (counted[kept, 0] - share * asked[kept]) ** 2 / (share * (1 - share) * asked[kept])
    return max(1.0, float(square.sum()) / (len(counted) - 1))
