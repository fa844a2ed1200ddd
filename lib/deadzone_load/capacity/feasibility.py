"""Which cells meet all objectives, the smallest pool that does at a rate, and the highest rate a
pool bears.

Cells share no trials, so the probability of a smallest pool is that it meets the objectives and
that none of its smaller neighbours does.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import Objective, chance_met, may_meet
from deadzone.analysis.objectives.estimates import Estimate, cell_means
from deadzone_load.capacity.cells import Cell, Cells

LEAST_WITHIN = 1e-3
"""What one trial scatters where nothing else tells: a tenth of a percent."""


def _means(cells: Sequence[Cell], column: str, least: float) -> list[Estimate]:
    """The mean of every cell on the scale it is judged on; of a single trial never surer than its
    histogram is."""
    groups = []
    for cell in cells:
        values = cell.values[column]
        # A value of 0 counts as the smallest that was seen, else as `least`.
        smallest = values[values > 0].min() if (values > 0).any() else least
        groups.append(np.log(np.maximum(values, smallest)))
    means = cell_means(groups, (LEAST_WITHIN, math.inf)) if groups else []
    assert means is not None
    return [
        replace(mean, error=max(mean.error, cell.within[column] / mean.n**0.5))
        for mean, cell in zip(means, cells, strict=True)
    ]


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


@dataclass(frozen=True, eq=False)
class Feasibility:
    """All cells of a load test against its objectives.

    cells: by pool and rate. met: of those that say something, by the column of each objective, the
    probability that it is met. scatter_known: whether trials were repeated, so that what they
    differ by is known.
    """

    cells: Cells
    objectives: tuple[Objective, ...]
    met: Mapping[tuple[float, float], Mapping[str, float]]
    scatter_known: bool

    @cached_property
    def sure(self) -> dict[tuple[float, float], float]:
        """Probability that every objective is met, that of the least sure one, by pool and rate."""
        return {place: min(met.values()) for place, met in self.met.items()}

    @cached_property
    def pools(self) -> list[float]:
        """Those that were tried, rising."""
        return sorted({pool for pool, _rate in self.cells})

    @property
    def confidence(self) -> pd.DataFrame:
        """`sure` as a table, one row a rate, one column a pool; nan where nothing is known."""
        rates = sorted({rate for _pool, rate in self.cells})
        table = [[self.sure.get((pool, rate), np.nan) for pool in self.pools] for rate in rates]
        return pd.DataFrame(table, index=rates, columns=self.pools)

    def missed(self, place: tuple[float, float]) -> tuple[Objective, ...]:
        """The objectives that a cell's typical trial misses, of the largest value its worst one;
        all of them where the server failed a trial."""
        cell = self.cells[place]
        missed = []
        for objective in self.objectives:
            values = cell.values[objective.column]
            typical = cell.typical(objective.column)
            if objective.is_extreme and np.isfinite(values).any():
                worst = np.nanmax if objective.sense == "at_most" else np.nanmin
                typical = float(worst(values))
            if cell.failed or not objective.met(np.array([typical]))[0]:
                missed.append(objective)
        return tuple(missed)

    def smallest(self, rate: float) -> SmallestPool:
        """The smallest pool that meets all objectives at a rate."""
        sure = {p: self.sure[p, rate] for p in self.pools if (p, rate) in self.sure}
        pool = next((p for p, c in sure.items() if c >= CONFIDENCE), None)
        likely = next((p for p, c in sure.items() if c >= 0.5), None)
        unsure = [p for p, c in sure.items() if HOPELESS < c < CONFIDENCE]
        undecided = tuple(p for p in unsure if pool is None or p < pool)
        return SmallestPool(pool, likely, sure, undecided)

    def capacity(self, pool: float) -> dict[str, Any] | None:
        """The highest measured rate up to which a pool meets all objectives, at that rate and at
        all lower ones.

        rate_shown: up to this rate it does with `CONFIDENCE`; None where not even at the lowest.
        rate_low, rate_high: interval at `CERTAINTY`, 0 for below the lowest rate. limited_by: the
        objective least sure to be met at the next rate up, or an empty text. None where nothing is
        known of the pool. Beyond a cell that says nothing of the server nothing is claimed.
        """
        measured = sorted(rate for size, rate in self.cells if size == pool)
        rates = list(takewhile(lambda rate: (pool, rate) in self.met, measured))
        if not rates:
            return None
        sure = np.minimum.accumulate([self.sure[pool, rate] for rate in rates])
        shown, low, high = (
            int((sure >= least).sum())
            for least in (CONFIDENCE, (1 + CERTAINTY) / 2, (1 - CERTAINTY) / 2)
        )
        borne, weakest = [0.0, *rates], ""
        if shown < len(rates):
            met = self.met[pool, rates[shown]]
            weakest = min(met, key=lambda column: met[column])
        return {
            "rate_shown": borne[shown] or None, "rate_low": borne[low], "rate_high": borne[high],
            "limited_by": weakest,
        }  # fmt: skip


def feasibility(cells: Cells, objectives: Sequence[Objective]) -> Feasibility:
    """Judge all cells by all objectives; cells without a trial that says something are left out,
    and all where there is no objective.

    A trial that the server failed misses everything, and one that did not measure a column its
    objective.
    """
    columns = [objective.column for objective in objectives]
    cells = cells if objectives else {}
    unbroken = {at: cell for at, cell in cells.items() if len(cell.counted) and not cell.failed}
    met = {
        place: dict.fromkeys(columns, 0.0)
        for place, cell in cells.items()
        if cell.failed or place in unbroken
    }
    for objective in objectives:
        column = objective.column
        judged = {
            at: cell for at, cell in unbroken.items() if may_meet(objective, cell.values[column])
        }
        means = _means([*judged.values()], column, objective.bound / 2 or 1.0)
        for (place, cell), mean in zip(judged.items(), means, strict=True):
            met[place][column] = chance_met(objective, cell.values[column], mean, cell.counted)
    is_known = any(len(cell.counted) > 1 for cell in unbroken.values()) or not unbroken
    return Feasibility(cells, tuple(objectives), met, is_known)
