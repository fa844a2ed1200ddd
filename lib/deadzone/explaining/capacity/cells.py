"""The cells of a load test: for each pool and rate the trials, with what they measured and their histograms.

Warm-up never mixes into the steady state: what precedes the measured window is left out, and so is what a warm-up
that was detected reaches into it, unless warm-up is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.capacity.objectives import Objective, column_values

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

NOT_OF_THE_SERVER = (
    "generator saturated",
    "the generator ran out of",
    "the generator stopped",
    "k6 ended",
    "k6 left",
    "locust ended",
    "locust left",
)
"""How the error of a trial begins whose load was not made as asked: it says nothing of the server."""

NO_PROFILE = re.compile(r"the \w+ profile was not taken")
"""Nor does a profiler that failed beside a load that was borne."""

RESOLUTION = 0.01
"""Values of a histogram within 1 % of each other are one step for the bootstrap: finer ones change no conclusion."""


@dataclass(frozen=True, eq=False)
class Counts:
    """A histogram: values [ms], rising, and how often each was seen; both of shape (k,)."""

    values: np.ndarray
    counts: np.ndarray

    @property
    def total(self) -> float:
        """How many values there are."""
        return float(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Trial:
    """One measured trial of a cell.

    values: by the column of an objective. histograms: by metric. errors, requests: what failed and what did not.
    """

    number: int
    values: Mapping[str, float]
    histograms: Mapping[str, Counts] = field(default_factory=dict)
    errors: float = 0.0
    requests: float = 0.0


@dataclass(frozen=True, eq=False)
class Cell:
    """All trials of one pool at one rate.

    failed: trials that the server failed, with the reason; each of them misses every objective. unknown: trials that
    say nothing of the server, because the load could not be made.
    """

    pool: float
    rate: float
    trials: tuple[Trial, ...]
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
class Cells:
    """All cells of a load test. pool, rate: names of the two factors; pools, rates: their levels, rising."""

    pool: str
    rate: str
    pools: tuple[float, ...]
    rates: tuple[float, ...]
    by_place: Mapping[tuple[float, float], Cell]

    def at(self, pool: float, rate: float) -> Cell | None:
        """The cell of a pool and a rate; None where nothing was measured."""
        return self.by_place.get((pool, rate))

    def by_rate_and_pool(self, values: Mapping[tuple[float, float], float]) -> pd.DataFrame:
        """Values by (pool, rate) as a table, one row a rate, one column a pool; nan where there is none."""
        table = [[values.get((pool, rate), np.nan) for pool in self.pools] for rate in self.rates]
        return pd.DataFrame(
            table, index=pd.Index(self.rates, name=self.rate), columns=pd.Index(self.pools, name=self.pool)
        )


def cells_of(
    trials: pd.DataFrame,
    pool: str,
    rate: str,
    objectives: Sequence[Objective],
    histograms: Mapping[int, Mapping[str, Counts]] | None = None,
) -> Cells:
    """The cells of a table of trials.

    trials: one row a trial, warm-up trials and untrusted ones left out already; `status` and `error` are read where
    present. pool, rate: columns of the two factors, numbers. histograms: by trial number and metric, where they were
    kept; statistics of the objectives are then made from them, else read from the trials' columns.

    Raises PhaseError if a column is missing or a factor's level is not a number.
    """
    for name in (pool, rate):
        if name not in trials:
            raise PhaseError(f"The trials have no column {name!r}; a load test needs its pool and its rate.")
    found: dict[tuple[float, float], list[Any]] = {}
    columns = {one.column: column_values(trials, one.column) for one in objectives}
    for position, row in enumerate(trials.to_dict("records")):
        place = (_number(row[pool], pool), _number(row[rate], rate))
        found.setdefault(place, []).append((row, {name: float(v[position]) for name, v in columns.items()}))
    by_place = {place: _cell(place, rows, objectives, histograms or {}) for place, rows in found.items()}
    pools, rates = (tuple(sorted({place[i] for place in by_place})) for i in (0, 1))
    return Cells(pool, rate, pools, rates, by_place)


def _number(level: Any, name: str) -> float:
    try:
        return float(level)
    except (TypeError, ValueError):
        raise PhaseError(f"Level {level!r} of {name!r} is not a number; a load test needs numbers.") from None


def _cell(
    place: tuple[float, float],
    rows: list[tuple[dict[Any, Any], dict[str, float]]],
    objectives: Sequence[Objective],
    histograms: Mapping[int, Mapping[str, Counts]],
) -> Cell:
    kept: list[Trial] = []
    failed, unknown = [], []
    for row, values in rows:
        status = str(row.get("status", "ok"))
        reason = str(row.get("error") or status)
        if status == "ok":
            number = int(row.get("trial", len(kept)))
            kept.append(_trial(number, row, values, objectives, histograms.get(number, {})))
        elif reason.startswith(NOT_OF_THE_SERVER) or NO_PROFILE.match(reason):
            unknown.append(reason)
        elif status != "lost":
            failed.append(reason)
    return Cell(*place, tuple(kept), tuple(failed), tuple(unknown))


def _trial(
    number: int,
    row: Mapping[Any, Any],
    values: dict[str, float],
    objectives: Sequence[Objective],
    histograms: Mapping[str, Counts],
) -> Trial:
    """A trial; statistics of a histogram that was kept are taken from it."""
    for one in objectives:
        if one.metric is not None and one.metric in histograms:
            values[one.column] = statistic(one, histograms[one.metric])
    counted = {name: _count(row.get(name)) for name in ("errors", "requests")}
    return Trial(number, values, histograms, **counted)


def _count(value: Any) -> float:
    return float(value) if value is not None and np.isfinite(float(value)) else 0.0


def statistic(objective: Objective, counts: Counts) -> float:
    """The statistic that an objective bounds [ms], of one histogram; nan of an empty one."""
    return float(statistics(objective, counts.values, counts.counts[None, :])[0])


def statistics(objective: Objective, values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The statistic that an objective bounds [ms], of many histograms over the same values.

    values: shape (k,), rising. counts: shape (m, k). Returns shape (m,); nan where a histogram is empty.
    """
    totals = counts.sum(axis=1)
    empty = totals <= 0
    if objective.percentile is None and not objective.is_extreme:
        found = counts @ values / np.where(empty, 1.0, totals)
        return np.where(empty, np.nan, found)
    below = np.cumsum(counts, axis=1)
    share = 1.0 if objective.percentile is None else objective.percentile / 100
    wanted = np.maximum(np.ceil(share * totals * (1 - 1e-12)), 1.0)
    at = np.minimum((below < wanted[:, None]).sum(axis=1), len(values) - 1)
    return np.where(empty, np.nan, values[at])


def trial_counts(histograms: pd.DataFrame, begins_s: Mapping[int, float]) -> dict[int, dict[str, Counts]]:
    """What every trial counted in its steady state, by trial and metric.

    histograms: slices in long format as a run keeps them. begins_s: by trial, where its steady state begins [s];
    0, the start of the measured window, for trials that are not named.
    """
    from deadzone.store.histograms import merged

    found: dict[int, dict[str, Counts]] = {}
    for (trial, metric), rows in histograms.groupby(["trial", "metric"], sort=True):
        number = int(str(trial))
        steady = rows[rows["t_s"] >= max(begins_s.get(number, 0.0), 0.0)]
        if len(steady):
            found.setdefault(number, {})[str(metric)] = counts_of(merged(steady["histogram"]))
    return found


def counts_of(histogram: HdrHistogram) -> Counts:
    """A histogram's values in steps of `RESOLUTION`; the largest is kept as it was measured."""
    from deadzone.store.histograms import counts_ms

    values, counts = counts_ms(histogram)
    return Counts(values, counts.astype(float))


def coarse(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Histograms over the same values in steps of `RESOLUTION`.

    values: shape (k,), rising, > 0. counts: shape (m, k). Returns the mean of each step, shape (j,), and the counts,
    shape (m, j); the last step is the largest value.
    """
    step = np.floor(np.log(values) / RESOLUTION).astype(int)
    step[-1] += 1
    _, where = np.unique(step, return_inverse=True)
    total = counts.sum(axis=0)
    weight = np.bincount(where, total)
    mean = np.bincount(where, total * values) / np.maximum(weight, 1e-300)
    summed = np.stack([np.bincount(where, row, len(weight)) for row in counts])
    held = weight > 0
    return mean[held], summed[:, held]
