"""The highest rate that meets all objectives, searched for each treatment of a load study.

The rate is doubled until it misses (or halved until it is met), then the bracket is halved on the
logarithmic scale until its ends are near enough: bracketing and bisection (Press et al. 2007,
Numerical Recipes, ch. 9.1). A miss that would end a search is repeated first, for one stall of the
machine must not decide. Each replicate is a search of its own; later ones begin where the one
before ended and take small steps, as a staircase does (Dixon and Mood 1948). All of it is a fold
over the trials in their order, so a resumed run and a report of later see the searches that the
sweep made.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import Objective, column_values, objectives_of
from deadzone.plugins import Message, Plan, Study, Treatment, _
from deadzone.store.table import rows_at
from deadzone.study.design import RATE, NextTreatments, treatments
from deadzone.study.reasons import reason
from deadzone.study.workload_spec import (
    CAPACITY,
    GENERATOR,
    LEAST_RATE,
    MOST_RATE,
    RateSearchSpec,
)
from deadzone_load.capacity.cells import NO_PROFILE, NOT_OF_THE_SERVER

WIDEST_STEP = 2.0
"""A bracket is sought by doubling, which from 100 requests a second is at a million after 14
trials."""

DIGITS = 3
"""Digits of a rate that is tried; the ends of a search are never nearer than 2 %."""

Outcome = Literal["met", "missed", "not_sent"]
"""What a trial says of its rate; not_sent: the load could not be made, so more was not asked of the
server."""


@dataclass(frozen=True)
class Search:
    """One search of the highest rate that is borne, as far as it is.

    begin: the rate tried first. step: by what the next rate out of the bracket differs [times].
    low: the highest rate that met all objectives, 0 without one. high: the lowest that did not,
    infinite without one. found_at: row of the trial at `low`. missed_at: row of the trial at
    `high`. repeated: whether the miss was seen twice. not_sent: whether it was the load that could
    not be made at `high`.
    """

    within: float
    begin: float
    step: float
    low: float = 0.0
    high: float = math.inf
    found_at: int | None = None
    missed_at: int | None = None
    repeated: bool = False
    not_sent: bool = False

    @property
    def next_rate(self) -> float | None:
        """The rate to try next [1/s]; None where the search has ended."""
        if self.low == 0 and self.high == math.inf:
            return self.begin
        if self.high == math.inf:
            return _written(min(self.low * self.step, MOST_RATE)) if self.low < MOST_RATE else None
        if self.low > 0 and self.high > self.low * (1 + self.within):
            return _written(math.sqrt(self.low * self.high))
        if self.low == 0 and self.high > LEAST_RATE:
            return _written(max(self.high / self.step, LEAST_RATE))
        return None if self.repeated else self.high

    def with_outcome(self, rate: float, outcome: Outcome, row: int) -> "Search":
        """The search after the trial in a row of the table."""
        one_sided = (self.low > 0) != (self.high < math.inf)
        step = min(self.step**2, WIDEST_STEP) if one_sided else self.step
        if outcome != "met":
            return replace(
                self, step=step, high=rate, missed_at=row, repeated=rate == self.high,
                not_sent=outcome == "not_sent",
            )  # fmt: skip
        if rate < self.high:
            return replace(self, step=step, low=rate, found_at=row)
        # The miss was no miss: the search goes on above it.
        return Search(self.within, self.begin, 1 + self.within, low=rate, found_at=row)


def _written(rate: float) -> float:
    return float(f"{rate:.{DIGITS}g}")


def searches_of(
    rows: pd.DataFrame, objectives: Sequence[Objective], how: RateSearchSpec
) -> list[Search]:
    """The searches that the trials of one treatment made, in their order; the last may be open.

    rows: a tidy table without warm-up, the last attempt at each trial counts; empty before the
    first. Trials that were lost say nothing.
    """
    searches = [Search(how.within, how.start, WIDEST_STEP)]
    if rows.empty:
        return searches
    last = rows.groupby("trial").tail(1).sort_values("trial")
    met = np.all(
        [objective.met(column_values(last, objective.column)) for objective in objectives], axis=0
    )
    for row, rate, status, error, good in zip(
        last.index, last[RATE], last["status"], last["error"].fillna(""), met, strict=True
    ):
        if status == "lost" or NO_PROFILE.match(error):
            continue
        if searches[-1].next_rate is None:
            begin = searches[-1].low or searches[-1].high
            searches.append(Search(how.within, begin, 1 + how.within))
        outcome: Outcome = "met" if status == "ok" and good else "missed"
        if status != "ok" and error.startswith(NOT_OF_THE_SERVER):
            outcome = "not_sent"
        searches[-1] = searches[-1].with_outcome(float(rate), outcome, int(row))
    return searches


def next_rates(plan: Plan, table: pd.DataFrame) -> NextTreatments:
    """The next trials of a plan whose rate is searched: of the treatments that were searched least,
    in random order."""
    design = plan.study.design
    rng = np.random.default_rng([design.seed, len(table)])
    waiting: list[tuple[int, float, Treatment, float]] = []
    still_open: list[Message] = []
    for treatment, searches in searches_in(plan.study, table):
        rate = searches[-1].next_rate
        ended = len(searches) - (rate is not None)
        if ended < design.replicates:
            next_rate = rate or searches[-1].low or searches[-1].high
            waiting.append((ended, rng.random(), treatment, next_rate))
            still_open.append(
                reason("open_search", setting=treatment.label(), n=design.replicates - ended)
            )
    if not waiting:
        why = reason("searches_done", n=design.replicates, settings=len(plan.treatments))
        return NextTreatments((), why, (), ())
    first = sorted(waiting, key=lambda entry: entry[:2])[: design.batch]
    chosen = tuple(Treatment({**treatment.levels, RATE: rate}) for _, _, treatment, rate in first)
    return NextTreatments(chosen, reason("search"), (0.0,) * len(chosen), tuple(still_open))


def bounds_of(study: Study) -> tuple[Objective, ...]:
    """What a rate has to meet."""
    return objectives_of(study.objectives, study.factor_names())[0]


def searches_in(study: Study, table: pd.DataFrame) -> list[tuple[Treatment, list[Search]]]:
    """The searches of every treatment of a resolved study. table: its trials so far without
    warm-up; may be empty."""
    assert study.search is not None
    bounds, how = bounds_of(study), study.search
    return [
        (one, searches_of(rows_at(table, one.levels) if len(table) else table, bounds, how))
        for one in treatments(study)
    ]


def capacities(study: Study, trials: pd.DataFrame) -> pd.DataFrame:
    """What the searches found: of each that ended the trial at the highest rate that met all
    objectives.

    trials: the tidy table of a run whose study searches the rate. Beside its columns:
    `capacity_rps`, that rate; `missed_rps`, the lowest that did not (infinite where none was
    tried); `limited_by`, what it missed. A search that not even the least rate ended well is a
    failed trial. A row is trusted where both trials are.
    """
    table = trials[~trials["warmup"].fillna(False).astype(bool)]
    rows = []
    for _setting, searches in searches_in(study, table):
        for number, search in enumerate((s for s in searches if s.next_rate is None), start=1):
            ends = [at for at in (search.found_at, search.missed_at) if at is not None]
            row = table.loc[ends[0]].copy()
            row["replicate"], row["trusted"] = number, bool(table.loc[ends, "trusted"].all())
            row[CAPACITY], row["missed_rps"] = search.low or math.nan, search.high
            row["limited_by"] = _limit(search, table, bounds_of(study))
            if not search.low:
                none = _("not even {rate:count} requests/s meet the objectives", rate=search.high)
                row["status"], row["error"] = "failed", none
            row["counted"] = row["trusted"] and bool(search.low)
            rows.append(row)
    columns = [*table.columns, CAPACITY, "missed_rps", "limited_by"]
    found = pd.DataFrame(rows, columns=columns).astype(table.dtypes)
    return found.sort_values("trial", ignore_index=True)


def _limit(search: Search, table: pd.DataFrame, bounds: Sequence[Objective]) -> str:
    """Columns of the objectives that the lowest rate above the capacity missed; the generator where
    it could not send it."""
    if search.missed_at is None or search.not_sent:
        return GENERATOR
    row = table.loc[[search.missed_at]]
    has_failed = row["status"].iloc[0] != "ok"
    return ", ".join(
        bound.column
        for bound in bounds
        if has_failed or not bound.met(column_values(row, bound.column))[0]
    )
