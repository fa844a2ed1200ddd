"""An experiment as the checks see it: its attempts in the order they were made, and what is asked
of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.analysis import trial_columns
from deadzone.analysis.finding import KINDS, Severity, Suspicion
from deadzone.analysis.phases.censored import is_bound
from deadzone.analysis.thinning import thinned
from deadzone.analysis.trial_columns import answering, below_zero, measured, well
from deadzone.study.direction import GoalFrom, Kind, is_time, kind_of
from deadzone.study.levels import format_level, is_number, read_level
from deadzone.study.response_cells import by_distinct, level_names
from deadzone.study.scales import MISSING, level_name

if TYPE_CHECKING:
    from deadzone.analysis.phases.model import PhaseModel

LEAST_A_LEVEL = 3
"""Fewer trials of a level say nothing of what they have in common."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """Attempts at trials, one a row, warm-up and failed ones too.

    table: in the order of execution where that is known. knob, response: columns of it. goal: `min`
    or `max`. by: further factors. cores: that trials can use, None where unknown. model: the
    phases, if they could be fitted. serves: whether the trials ask a service that is measured
    beside them. failures: columns that count failures, or hold their share, by any name. role: what
    the knob is said to be, `setting` or `work_size`. option: the word that the knob's level stands
    behind in a command, such as `shared_buffers` in `shared_buffers={mb}MB`; empty where unknown.
    goal_from: how the goal is known. unit: of the cells of the response, empty without one. others:
    attempts that measured another workload; the table has none of them.
    """

    table: pd.DataFrame
    knob: str
    response: str
    goal: str = "min"
    by: tuple[str, ...] = ()
    cores: float | None = None
    model: PhaseModel | None = None
    serves: bool = False
    failures: tuple[str, ...] = ()
    role: str = ""
    option: str = ""
    goal_from: GoalFrom = "asked"
    unit: str = ""
    others: pd.DataFrame | None = None

    @property
    def kind(self) -> Kind:
        """What the response measures, by its name or by the unit of its cells."""
        return kind_of(self.response) or kind_of(self.unit)

    @property
    def is_time(self) -> bool:
        """Whether the response is a time, or one per thing."""
        return is_time(self.response) or (not kind_of(self.response) and is_time(self.unit))

    @cached_property
    def attempts(self) -> pd.DataFrame:
        """All attempts at a known level, in order, with `level` (which treatment), `place` (of the
        knob's level among its levels), `number` (of the trial) and `order`."""
        table = self.table[level_names(self.table[self.knob]) != MISSING].reset_index(drop=True)
        if "started_at" in table and table["started_at"].notna().all():
            table = table.sort_values("started_at", kind="stable", ignore_index=True)
        factors = [*dict.fromkeys((self.knob, *self.by))]
        trial = table["trial"] if "trial" in table else pd.Series(np.arange(1, len(table) + 1))
        number = pd.to_numeric(trial, errors="coerce").fillna(0).astype(int)
        places = {level: place for place, level in enumerate(self.levels)}
        names = level_names(table[self.knob])
        settings = table[factors].apply(lambda column: by_distinct(column, str, ""))
        table = table.assign(
            level=settings.groupby(factors, sort=False).ngroup().to_numpy(),
            place=by_distinct(names, lambda name: places[plain(name)], -1),
            number=number,
            order=np.arange(len(table)),
        )
        return thinned(table, ["level"]).reset_index(drop=True)

    @cached_property
    def measured(self) -> pd.DataFrame:
        """The attempts that are no warm-up."""
        return measured(self.attempts)

    @cached_property
    def ended(self) -> pd.DataFrame:
        """The attempts that ended well, warm-up left out."""
        return well(self.measured)

    @cached_property
    def sound(self) -> pd.DataFrame:
        """What the verdict rests on: ended well, trusted where any is, and no time or count below
        zero."""
        trusted = answering(self.ended, self.knob)
        return trusted[~below_zero(trusted, self.response)]

    @cached_property
    def levels(self) -> list[Any]:
        """The levels of the knob, ascending; words behind the numbers."""
        return levels_in(self.table[self.knob])

    def at(self, rows: pd.DataFrame) -> tuple[Any, ...]:
        """The levels of the knob in some rows, ascending."""
        here = set(rows["place"])
        return tuple(level for place, level in enumerate(self.levels) if place in here)

    def suspicion(
        self,
        key: str,
        p: float | bool,
        rows: pd.DataFrame | None = None,
        *,
        weight: bool | np.bool = True,
        levels: Sequence[Any] | None = None,
        severity: Severity | None = None,
        **figures: Any,
    ) -> Suspicion:
        """A test that was made. p: its p-value, or whether it was seen where it was counted and
        leaves nothing to chance.

        rows: at which it was seen. levels: in place of theirs; those of the run where there are
        neither. figures: of the sentence, beside the knob, the response, the levels in words and
        how many rows there are.
        """
        if levels is None:
            levels = self.levels if rows is None else self.at(rows)
        p = float(not p if isinstance(p, bool | np.bool) else p)
        trials = () if rows is None else tuple(rows["number"])
        known = {"knob": self.knob, "response": self.response, "trials": len(trials)}
        said = {**known, "levels": self.named(levels), **figures}
        severity = severity or KINDS[key].severity
        return Suspicion(key, p, bool(weight), tuple(levels), trials, severity, said)

    def named(self, levels: Iterable[Any]) -> str:
        """Levels in a sentence: `n 4, 6, 8`."""
        return f"{self.knob} {', '.join(format_level(level) for level in levels)}"


def levels_in(column: pd.Series) -> list[Any]:
    """The levels in a column of the knob, ascending; words behind the numbers."""
    names = level_names(column).unique()
    levels = dict.fromkeys(map(plain, names[names != MISSING]))
    return sorted(
        levels, key=lambda level: (not is_number(level), level if is_number(level) else 0)
    )


def plain(level: Any) -> Any:
    """A level as Python knows it: a number where it is one; MISSING where it is not known."""
    if level_name(level) == MISSING:
        return MISSING
    return read_level(level.item() if hasattr(level, "item") else level)


def typical(seen: Experiment, rows: pd.DataFrame, values: np.ndarray) -> np.ndarray:
    """Median at each level of the knob, shape (levels,); nan where there is none."""
    medians = pd.Series(values).groupby(rows["place"].to_numpy()).median()
    return medians.reindex(range(len(seen.levels))).to_numpy(float)


def numbers(rows: pd.DataFrame, column: str) -> np.ndarray:
    """A column as floats, nan where it is missing; all nan without the column."""
    return trial_columns.numbers(rows, column).to_numpy()


def cpu_s(rows: pd.DataFrame) -> np.ndarray:
    """CPU time of each row [s]."""
    return numbers(rows, "user_s") + numbers(rows, "sys_s")


def without_barred(
    trials: pd.DataFrame, knob: str, response: str, barred: Sequence[Any]
) -> pd.DataFrame:
    """The trials at no barred level of the knob, but those that time-outs bound."""
    if not barred:
        return trials
    level = trials[knob].map(plain)
    return trials[level.isin(level[is_bound(trials, response)]) | ~level.isin(barred)]
