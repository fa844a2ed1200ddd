"""Which cells meet all objectives, the smallest pool that does at a rate, and the highest rate a pool bears.

Cells share no trials, so the probability of a smallest pool is that it meets the objectives and that none of its
smaller neighbours does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import pandas as pd

from deadzone.explaining.capacity.cells import Cell, Cells, Objective
from deadzone.explaining.capacity.confidence import Judged, judge_cells

CONFIDENCE = 0.95
"""A pool is said to meet the objectives when it does with this probability."""

HOPELESS = 0.05
"""A pool is said to miss them when it meets them with no more than this."""

CERTAINTY = 0.90
"""Coverage of the interval of a capacity."""


@dataclass(frozen=True)
class SmallestPool:
    """The smallest pool that meets all objectives at a rate.

    pool: the smallest that does with `CONFIDENCE`; None where none does. likely: the smallest that more probably does than
    not, which may be smaller; None where none does. sure: by pool, the confidence that it does. undecided: pools smaller
    than `pool` (or all, without one) that can be neither said to meet nor to miss.
    """

    pool: float | None
    likely: float | None
    sure: Mapping[float, float]
    undecided: tuple[float, ...]

    @property
    def named(self) -> tuple[str, float]:
        """What to say, as the last part of a catalogue's key, and the pool: the smallest, the likely one, or the surest."""
        if self.pool is not None:
            return "smallest", self.pool
        if self.likely is not None:
            return "smallest_likely", self.likely
        return "smallest_none", max(self.sure, key=lambda pool: self.sure[pool])


@dataclass(frozen=True)
class Capacity:
    """The highest measured rate up to which a pool meets all objectives.

    shown: up to this rate it does with `CONFIDENCE`; None where not even at the lowest. low, high: interval at
    `CERTAINTY`, 0 for below the lowest rate. limited_by: the objective least sure to be met at the next rate up, or an
    empty text.
    """

    shown: float | None
    low: float
    high: float
    limited_by: str


@dataclass(frozen=True, eq=False)
class Feasibility:
    """All cells of a load test against its objectives."""

    cells: Cells
    objectives: tuple[Objective, ...]
    judged: Mapping[tuple[float, float], Judged]

    @property
    def confidence(self) -> pd.DataFrame:
        """Probability that all objectives are met: one row a rate, one column a pool; nan where nothing is known."""
        sure = {place: judged.confidence for place, judged in self.judged.items()}
        return self.cells.by_rate_and_pool(sure)

    @property
    def is_region(self) -> pd.DataFrame:
        """The feasible region: the cells that meet all objectives with `CONFIDENCE`; by rate and pool."""
        return self.confidence >= CONFIDENCE

    @property
    def scatter_known(self) -> bool:
        """Whether trials were repeated, so that what they differ by is known."""
        return all(judged.scatter_known for judged in self.judged.values())

    def missed(self, place: tuple[float, float]) -> tuple[Objective, ...]:
        """The objectives that a cell's typical trial misses; all of them where the server failed a trial."""
        cell = self.cells.by_place[place]
        if cell.failed:
            return self.objectives
        return tuple(one for one in self.objectives if not one.met(np.array([_told(cell, one)]))[0])

    def smallest(self, rate: float) -> SmallestPool:
        """The smallest pool that meets all objectives at a rate."""
        sure = {p: self.judged[p, rate].confidence for p in self.cells.pools if (p, rate) in self.judged}
        pool = next((p for p, c in sure.items() if c >= CONFIDENCE), None)
        likely = next((p for p, c in sure.items() if c >= 0.5), None)
        unsure = [p for p, c in sure.items() if HOPELESS < c < CONFIDENCE]
        undecided = tuple(p for p in unsure if pool is None or p < pool)
        return SmallestPool(pool, likely, sure, undecided)

    def capacity(self, pool: float) -> Capacity | None:
        """The highest rate up to which a pool meets all objectives, at that rate and at all lower ones.

        None where nothing is known of the pool. Beyond a cell that says nothing of the server nothing is claimed.
        """
        measured = [rate for rate in self.cells.rates if self.cells.at(pool, rate)]
        rates = list(takewhile(lambda rate: (pool, rate) in self.judged, measured))
        if not rates:
            return None
        sure = np.minimum.accumulate([self.judged[pool, rate].confidence for rate in rates])
        shown, low, high = (
            int((sure >= least).sum()) for least in (CONFIDENCE, (1 + CERTAINTY) / 2, (1 - CERTAINTY) / 2)
        )
        borne, weakest = [0.0, *rates], ""
        if shown < len(rates):
            met = self.judged[pool, rates[shown]].met
            weakest = min(met, key=lambda column: met[column])
        return Capacity(borne[shown] or None, borne[low], borne[high], weakest)


def _told(cell: Cell, objective: Objective) -> float:
    """What a cell is judged by without any chance: its typical trial, for the largest value its worst one."""
    values = cell.values(objective.column)
    if not objective.is_extreme or not np.isfinite(values).any():
        return cell.typical(objective.column)
    return float(np.nanmax(values) if objective.sense == "at_most" else np.nanmin(values))


def feasibility(cells: Cells, objectives: Sequence[Objective]) -> Feasibility:
    """Judge all cells by all objectives, of which there is at least one."""
    return Feasibility(cells, tuple(objectives), judge_cells(cells, objectives))
