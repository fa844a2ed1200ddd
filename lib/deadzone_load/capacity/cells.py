"""The cells of a load test: for each pool and rate the trials, with what they measured and their
histograms.

Warm-up never mixes into the steady state: what precedes the measured window is left out, and so is
what a warm-up that was detected reaches into it, unless warm-up is asked for.

Which cells meet all objectives, the smallest pool that does at a rate, and the highest rate a
pool bears.

Cells share no trials, so the probability of a smallest pool is that it meets the objectives and
that none of its smaller neighbours does.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import (
    Estimate,
    Objective,
    cell_means,
    chance_met,
    column_values,
    may_meet,
)
from deadzone.errors import PhaseError
from deadzone.store.histograms import counts_ms, merged

NOT_OF_THE_SERVER = (
    "generator saturated", "the generator ran out of", "the generator stopped", "k6 ended",
    "k6 left", "locust ended", "locust left",
)  # fmt: skip
"""How the error of a trial begins whose load was not made as asked: it says nothing of the
server."""

NO_PROFILE = re.compile(r"the \w+ profile was not taken")
"""Nor does a profiler that failed beside a load that was borne."""


@dataclass(frozen=True, eq=False)
class Counts:
    """A histogram: values [ms], rising, and how often each was seen; both of shape (k,)."""

    values: np.ndarray
    counts: np.ndarray

    @property
    def total(self) -> float:
        """How many values there are."""
        return float(self.counts.sum())

    def at(self, share: float) -> float:
        """The value at a share of all values, 0 to 1, of a histogram that is not empty."""
        wanted = max(np.ceil(share * self.total * (1 - 1e-12)), 1.0)
        place = np.searchsorted(np.cumsum(self.counts), wanted)
        return float(self.values[min(place, len(self.values) - 1)])


@dataclass(frozen=True, eq=False)
class CellTrial:
    """One measured trial of a cell.

    values: by the column of an objective. histograms: by metric. errors, requests: what failed and
    what did not.
    """

    number: int
    values: Mapping[str, float]
    histograms: Mapping[str, Counts] = field(default_factory=dict)
    errors: float = 0.0
    requests: float = 0.0


@dataclass(frozen=True, eq=False)
class Cell:
    """All trials of one pool at one rate.

    failed: trials that the server failed, with the reason; each of them misses every objective.
    unknown: trials that say nothing of the server, because the load could not be made.
    """

    pool: float
    rate: float
    trials: tuple[CellTrial, ...]
    failed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def values(self, column: str) -> np.ndarray:
        """What the trials measured, shape (trials,)."""
        return np.array([trial.values.get(column, np.nan) for trial in self.trials])

    def typical(self, column: str) -> float:
        """The median over the trials; nan without any."""
        values = self.values(column)
        values = values[np.isfinite(values)]
        return float(np.median(values)) if len(values) else float("nan")


@dataclass(frozen=True, eq=False)
class LoadCells:
    """All cells of a load test. pool, rate: names of the two factors; pools, rates: their levels,
    rising."""

    pool: str
    rate: str
    pools: tuple[float, ...]
    rates: tuple[float, ...]
    by_place: Mapping[tuple[float, float], Cell]

    def at(self, pool: float, rate: float) -> Cell | None:
        """The cell of a pool and a rate; None where nothing was measured."""
        return self.by_place.get((pool, rate))


def cells_of(
    trials: pd.DataFrame,
    pool: str,
    rate: str,
    objectives: Sequence[Objective],
    histograms: Mapping[int, Mapping[str, Counts]] | None = None,
) -> LoadCells:
    """The cells of a table of trials.

    trials: one row a trial, warm-up trials and untrusted ones left out already; `status` and
    `error` are read where present. pool, rate: columns of the two factors, numbers. histograms: by
    trial number and metric, where they were kept; statistics of the objectives are then made from
    them, else read from the trials' columns.

    Raises PhaseError if a column is missing or a factor's level is not a number.
    """
    places = zip(*(_numbers(trials, name) for name in (pool, rate)), strict=True)
    columns = {bound.column: column_values(trials, bound.column) for bound in objectives}
    rows_at: dict[tuple[float, float], list[dict[Any, Any]]] = {}
    for place, row in zip(places, trials.assign(**columns).to_dict("records"), strict=True):
        rows_at.setdefault(place, []).append(row)
    by_place = {
        place: _cell(place, rows, objectives, histograms or {}) for place, rows in rows_at.items()
    }
    pools, rates = (tuple(sorted({place[i] for place in by_place})) for i in (0, 1))
    return LoadCells(pool, rate, pools, rates, by_place)


def _numbers(trials: pd.DataFrame, name: str) -> list[float]:
    """The levels of a factor in each trial."""
    if name not in trials:
        raise PhaseError(
            f"The trials have no column {name!r}; a load test needs its pool and its rate."
        )
    levels = pd.to_numeric(trials[name], errors="coerce")
    if levels.isna().any():
        level = trials[name][levels.isna()].iloc[0]
        raise PhaseError(f"Level {level!r} of {name!r} is not a number; a load test needs numbers.")
    return levels.astype(float).tolist()


def _cell(
    place: tuple[float, float],
    rows: list[dict[Any, Any]],
    objectives: Sequence[Objective],
    histograms: Mapping[int, Mapping[str, Counts]],
) -> Cell:
    kept: list[CellTrial] = []
    failed, unknown = [], []
    for row in rows:
        status = str(row.get("status", "ok"))
        reason = str(row.get("error") or status)
        if status == "ok":
            number = int(row.get("trial", len(kept)))
            own = histograms.get(number, {})
            values = {
                bound.column: statistic(bound, own[bound.metric])
                if bound.metric and bound.metric in own
                else float(row[bound.column])
                for bound in objectives
            }
            counts = (_count(row.get(name)) for name in ("errors", "requests"))
            kept.append(CellTrial(number, values, own, *counts))
        elif reason.startswith(NOT_OF_THE_SERVER) or NO_PROFILE.match(reason):
            unknown.append(reason)
        elif status != "lost":
            failed.append(reason)
    return Cell(*place, tuple(kept), tuple(failed), tuple(unknown))


def _count(value: Any) -> float:
    return float(value) if value is not None and np.isfinite(float(value)) else 0.0


def statistic(objective: Objective, counts: Counts) -> float:
    """The statistic that an objective bounds [ms], of one histogram; nan of an empty one."""
    if counts.total <= 0:
        return float("nan")
    if objective.percentile is None and not objective.is_extreme:
        return float(counts.counts @ counts.values / counts.total)
    return counts.at(1.0 if objective.percentile is None else objective.percentile / 100)


def scatter_within(objective: Objective, histograms: Mapping[str, Counts]) -> float:
    """The standard error of ln(statistic) that one trial's histogram alone leaves; 0 where none was
    kept.

    Of a mean by its variance, of a percentile half of what lies between the ranks one standard
    error below and above it (David and Nagaraja 2003, Order Statistics, section 7.1).
    """
    counts = histograms.get(objective.metric or "")
    if counts is None or counts.total <= 0 or objective.is_extreme:
        return 0.0
    if objective.percentile is None:
        mean = statistic(objective, counts)
        variance = float(counts.counts @ (counts.values - mean) ** 2) / counts.total
        return float((variance / counts.total) ** 0.5 / mean)
    share = objective.percentile / 100
    half = (share * (1 - share) / counts.total) ** 0.5
    return float(np.log(counts.at(min(share + half, 1.0)) / counts.at(max(share - half, 0.0)))) / 2


def trial_counts(
    histograms: pd.DataFrame, begins_s: Mapping[int, float]
) -> dict[int, dict[str, Counts]]:
    """What every trial counted in its steady state, by trial and metric.

    histograms: slices in long format as a run keeps them. begins_s: by trial, where its steady
    state begins [s]; 0, the start of the measured window, for trials that are not named.
    """
    by_trial: dict[int, dict[str, Counts]] = {}
    for (trial, metric), rows in histograms.groupby(["trial", "metric"], sort=True):
        number = int(str(trial))
        steady = rows[rows["t_s"] >= max(begins_s.get(number, 0.0), 0.0)]
        if len(steady):
            values, counts = counts_ms(merged(steady["histogram"]))
            by_trial.setdefault(number, {})[str(metric)] = Counts(values, counts.astype(float))
    return by_trial


LEAST_WITHIN = 1e-3
"""What one trial scatters where nothing else tells: a tenth of a percent."""


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

    def capacity(self, pool: float) -> dict[str, Any] | None:
        """The highest measured rate up to which a pool meets all objectives, at that rate and at
        all lower ones.

        rate_shown: up to this rate it does with `CONFIDENCE`; None where not even at the lowest.
        rate_low, rate_high: interval at `CERTAINTY`, 0 for below the lowest rate. limited_by: the
        objective least sure to be met at the next rate up, or an empty text. None where nothing is
        known of the pool. Beyond a cell that says nothing of the server nothing is claimed.
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
        rates_borne = {"rate_low": borne[low], "rate_high": borne[high]}
        return {"rate_shown": borne[shown] or None, **rates_borne, "limited_by": weakest}


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
        places = [place for place, own in values.items() if may_meet(objective, own)]
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
