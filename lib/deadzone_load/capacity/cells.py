"""The cells of a load test: for each pool and rate the trials, with what they measured and their
histograms.

Warm-up never mixes into the steady state: what precedes the measured window is left out, and so is
what a warm-up that was detected reaches into it, unless warm-up is asked for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import Objective, column_values
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
