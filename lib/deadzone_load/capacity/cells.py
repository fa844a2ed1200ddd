"""The cells of a load test: for each pool and rate the trials, with what they measured and their
histograms.

Warm-up never mixes into the steady state: what precedes the measured window is left out, and so is
what a warm-up that was detected reaches into it, unless warm-up is asked for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import Objective, column_values
from deadzone.analysis.trial_columns import is_well
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
        least = share * (1 - 1e-12)  # 0.999 of 1,000 values are no more than 999
        return float(np.quantile(self.values, least, weights=self.counts, method="inverted_cdf"))


@dataclass(frozen=True, eq=False)
class Cell:
    """All trials of one pool at one rate.

    values: what those measured that ended well, shape (trials,), by the column of an objective.
    within: by column, the largest standard error of ln(value) that the histogram of a trial leaves.
    counted: errors and requests, shape (trials, 2). failed: trials that the server failed, with the
    reason; each of them misses every objective. unknown: trials that say nothing of the server,
    because the load could not be made.
    """

    values: Mapping[str, np.ndarray]
    within: Mapping[str, float]
    counted: np.ndarray
    failed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def typical(self, column: str) -> float:
        """The median over the trials; nan without any."""
        return float(pd.Series(self.values[column]).median())


Cells = Mapping[tuple[float, float], Cell]
"""The cells of a load test, by pool and rate."""


def cells_of(
    trials: pd.DataFrame,
    pool: str,
    rate: str,
    objectives: Sequence[Objective],
    histograms: Mapping[int, Mapping[str, Counts]] | None = None,
) -> Cells:
    """The cells of a table of trials.

    trials: one row a trial, warm-up trials and untrusted ones left out already; `status` and
    `error` are read where present. pool, rate: columns of the two factors, numbers. histograms: by
    trial number and metric, where they were kept; statistics of the objectives are then made from
    them, else read from the trials' columns.

    Raises PhaseError if a column that an objective bounds is missing, or a factor's level is not a
    number.
    """
    columns = {bound.column: column_values(trials, bound.column) for bound in objectives}
    numbers = {name: _numbers(trials, name) for name in (pool, rate)}
    places: Any = trials.assign(**columns, **numbers).groupby([pool, rate])
    return {place: _cell(rows, objectives, histograms or {}) for place, rows in places}


def _numbers(trials: pd.DataFrame, name: str) -> list[float]:
    """The levels of a factor in each trial."""
    levels = pd.to_numeric(trials[name], errors="coerce")
    if levels.isna().any():
        level = trials[name][levels.isna()].iloc[0]
        raise PhaseError(f"Level {level!r} of {name!r} is not a number; a load test needs numbers.")
    return levels.astype(float).tolist()


def _cell(
    rows: pd.DataFrame,
    objectives: Sequence[Objective],
    histograms: Mapping[int, Mapping[str, Counts]],
) -> Cell:
    status = [*map(str, rows["status"])] if "status" in rows else ["ok"] * len(rows)
    errors = rows.get("error", status)
    told = [e if isinstance(e, str) and e else s for e, s in zip(errors, status, strict=True)]
    is_excused = np.array(
        [why.startswith(NOT_OF_THE_SERVER) or NO_PROFILE.match(why) is not None for why in told]
    )
    ended_well, is_lost = is_well(rows).to_numpy(bool), np.array(status) == "lost"
    well = rows[ended_well]
    numbers = well["trial"] if "trial" in well else range(len(well))
    values, within = {}, {}
    for bound in objectives:
        kept = [histograms.get(number, {}).get(bound.metric or "") for number in numbers]
        measured = zip(well[bound.column].astype(float), kept, strict=True)
        values[bound.column] = np.array(
            [value if own is None else statistic(bound, own) for value, own in measured]
        )
        scatter = [scatter_within(bound, own) for own in kept if own is not None]
        within[bound.column] = max(scatter, default=0.0)
    counted = well.reindex(columns=["errors", "requests"]).to_numpy(float)
    return Cell(
        values,
        within,
        np.nan_to_num(counted, posinf=0.0, neginf=0.0),
        failed=tuple(np.array(told)[~ended_well & ~is_excused & ~is_lost]),
        unknown=tuple(np.array(told)[~ended_well & is_excused]),
    )


def statistic(objective: Objective, counts: Counts) -> float:
    """The statistic that an objective bounds [ms], of one histogram; nan of an empty one."""
    if counts.total <= 0:
        return float("nan")
    if objective.percentile is None and not objective.is_extreme:
        return float(counts.counts @ counts.values / counts.total)
    return counts.at(1.0 if objective.percentile is None else objective.percentile / 100)


def scatter_within(objective: Objective, counts: Counts) -> float:
    """The standard error of ln(statistic) that one trial's histogram alone leaves.

    Of a mean by its variance, of a percentile half of what lies between the ranks one standard
    error below and above it (David and Nagaraja 2003, Order Statistics, section 7.1).
    """
    if counts.total <= 0 or objective.is_extreme:
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
