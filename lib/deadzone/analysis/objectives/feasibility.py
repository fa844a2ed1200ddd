"""Which cells meet all objectives, the smallest pool that does at a rate, and the highest rate a
pool bears.

Cells share no trials, so the probability of a smallest pool is that it meets the objectives and
that none of its smaller neighbours does.

How sure it is that a setting meets its bounds has one judge, of objectives and of claims that
something holds:

| bound on | confidence that it is met |
| --- | --- |
| a mean, a percentile, any other column | Student's t of the mean over the trials against the bound (`estimates`) |
| the largest or smallest value | that of the next trial, by its prediction interval (Hahn and Meeker 1991, Statistical Intervals, chapter 4): no sample knows a largest value. Missed as soon as one trial has missed it |
| the share of errors | Beta's of errors and requests with Jeffreys' prior (1946), counts divided by how much more they scatter between trials than chance has it (McCullagh and Nelder 1989, Generalized Linear Models, section 4.5); a bound of 0 is about the next trial |

All bounds at once are an intersection-union test (`hypothesis_tests.holm`): the least sure one
counts.
"""  # noqa: E501

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.cells import (
    ERRORS,
    Cell,
    Estimate,
    LoadCells,
    Objective,
    cell_means,
    scatter_within,
)

LEAST_WITHIN = 1e-3
"""What one trial scatters where nothing else tells: a tenth of a percent."""

JEFFREYS = 0.5
"""Added to errors and to requests without one, as the prior of that name has it: no error seen is
not no error."""


@dataclass(frozen=True)
class CellChances:
    """A cell's chances. met: by the column of each objective, the confidence that it is met.

    scatter_known: False where the confidence rests on one trial and no other cell says how much
    trials differ.
    """

    met: Mapping[str, float]
    scatter_known: bool

    @property
    def confidence(self) -> float:
        """That every objective is met: that in the least sure one."""
        return min(self.met.values())


def _may_meet(objective: Objective, values: np.ndarray) -> bool:
    """Whether it was measured in every trial and, of a largest value, missed in none: such a cell's
    scatter is no other's."""
    return bool(
        np.isfinite(values).all() and (not objective.is_extreme or objective.met(values).all())
    )


def _means(cells: Sequence[Cell], objective: Objective) -> list[Estimate]:
    """The mean of every cell on the scale it is judged on; of a single trial never surer than its
    histogram is."""
    groups = []
    for cell in cells:
        values = cell.values(objective.column)
        # A value of 0 counts as the smallest that was seen.
        smallest = values[values > 0].min() if (values > 0).any() else 1.0
        groups.append(np.log(np.maximum(values, smallest)))
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


CONFIDENCE = 0.95
"""A pool is said to meet the objectives when it does with this probability."""

HOPELESS = 0.05
"""A pool is said to miss them when it meets them with no more than this."""

CERTAINTY = 0.90
"""Coverage of the interval of a capacity."""


@dataclass(frozen=True)
class SmallestPool:
    """The smallest pool that meets all objectives at a rate.

    pool: the smallest that does with `CONFIDENCE`; None where none does. likely: the smallest that
    more probably does than not, which may be smaller; None where none does. sure: by pool, the
    confidence that it does. undecided: pools smaller than `pool` (or all, without one) that can be
    neither said to meet nor to miss.
    """

    pool: float | None
    likely: float | None
    sure: Mapping[float, float]
    undecided: tuple[float, ...]

    @property
    def named(self) -> tuple[str, float]:
        """What to say, in a word, and the pool: the smallest, the likely one, or the surest."""
        if self.pool is not None:
            return "smallest", self.pool
        if self.likely is not None:
            return "smallest_likely", self.likely
        return "smallest_none", max(self.sure, key=lambda pool: self.sure[pool])


@dataclass(frozen=True)
class Capacity:
    """The highest measured rate up to which a pool meets all objectives.

    shown: up to this rate it does with `CONFIDENCE`; None where not even at the lowest. low, high:
    interval at `CERTAINTY`, 0 for below the lowest rate. limited_by: the objective least sure to be
    met at the next rate up, or an empty text.
    """

    shown: float | None
    low: float
    high: float
    limited_by: str


@dataclass(frozen=True, eq=False)
class Feasibility:
    """All cells of a load test against its objectives."""

    cells: LoadCells
    objectives: tuple[Objective, ...]
    judged: Mapping[tuple[float, float], CellChances]

    @property
    def confidence(self) -> pd.DataFrame:
        """Probability that all objectives are met: one row a rate, one column a pool; nan where
        nothing is known."""
        cells, sure = self.cells, {at: judged.confidence for at, judged in self.judged.items()}
        table = [[sure.get((pool, rate), np.nan) for pool in cells.pools] for rate in cells.rates]
        rates, pools = (
            pd.Index(cells.rates, name=cells.rate),
            pd.Index(cells.pools, name=cells.pool),
        )
        return pd.DataFrame(table, index=rates, columns=pools)

    @property
    def scatter_known(self) -> bool:
        """Whether trials were repeated, so that what they differ by is known."""
        return all(judged.scatter_known for judged in self.judged.values())

    def missed(self, place: tuple[float, float]) -> tuple[Objective, ...]:
        """The objectives that a cell's typical trial misses, of the largest value its worst one;
        all of them where the server failed a trial."""
        cell = self.cells.by_place[place]
        missed = []
        for objective in self.objectives:
            values = cell.values(objective.column)
            typical = cell.typical(objective.column)
            if objective.is_extreme and np.isfinite(values).any():
                worst = np.nanmax if objective.sense == "at_most" else np.nanmin
                typical = float(worst(values))
            if cell.failed or not objective.met(np.array([typical]))[0]:
                missed.append(objective)
        return tuple(missed)

    def smallest(self, rate: float) -> SmallestPool:
        """The smallest pool that meets all objectives at a rate."""
        sure = {
            p: self.judged[p, rate].confidence for p in self.cells.pools if (p, rate) in self.judged
        }
        pool = next((p for p, c in sure.items() if c >= CONFIDENCE), None)
        likely = next((p for p, c in sure.items() if c >= 0.5), None)
        unsure = [p for p, c in sure.items() if HOPELESS < c < CONFIDENCE]
        undecided = tuple(p for p in unsure if pool is None or p < pool)
        return SmallestPool(pool, likely, sure, undecided)

    def capacity(self, pool: float) -> Capacity | None:
        """The highest rate up to which a pool meets all objectives, at that rate and at all lower
        ones.

        None where nothing is known of the pool. Beyond a cell that says nothing of the server
        nothing is claimed.
        """
        measured = [rate for rate in self.cells.rates if self.cells.at(pool, rate)]
        rates = list(takewhile(lambda rate: (pool, rate) in self.judged, measured))
        if not rates:
            return None
        sure = np.minimum.accumulate([self.judged[pool, rate].confidence for rate in rates])
        shown, low, high = (
            int((sure >= least).sum())
            for least in (CONFIDENCE, (1 + CERTAINTY) / 2, (1 - CERTAINTY) / 2)
        )
        borne, weakest = [0.0, *rates], ""
        if shown < len(rates):
            met = self.judged[pool, rates[shown]].met
            weakest = min(met, key=lambda column: met[column])
        return Capacity(borne[shown] or None, borne[low], borne[high], weakest)


def feasibility(cells: LoadCells, objectives: Sequence[Objective]) -> Feasibility:
    """Judge all cells by all objectives, of which there is at least one; cells without a trial that
    says something are left out.

    A trial that the server failed misses everything, and one that did not measure a column its
    objective.
    """
    known = {
        place: cell for place, cell in sorted(cells.by_place.items()) if cell.trials or cell.failed
    }
    unbroken = {place: cell for place, cell in known.items() if not cell.failed}
    columns = [objective.column for objective in objectives]
    met = {place: dict.fromkeys(columns, 0.0) for place in known}
    for objective in objectives:
        values = {place: cell.values(objective.column) for place, cell in unbroken.items()}
        places = [place for place, own in values.items() if _may_meet(objective, own)]
        means = _means([unbroken[place] for place in places], objective)
        for place, mean in zip(places, means, strict=True):
            counts = [(trial.errors, trial.requests) for trial in unbroken[place].trials]
            chance = chance_met(objective, values[place], mean, np.array(counts))
            met[place][objective.column] = chance
    repeated = any(len(cell.trials) > 1 for cell in unbroken.values())
    judged = {
        place: CellChances(met[place], repeated or bool(known[place].failed)) for place in known
    }
    return Feasibility(cells, tuple(objectives), judged)
