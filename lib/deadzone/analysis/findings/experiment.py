"""An experiment as the checks see it: its attempts in the order they were made, and what is asked
of them.

Tests that assume nothing of how responses scatter: what is exchangeable is exchanged.

Permutation tests with a fixed seed, p = (1 + as extreme) / (1 + permutations) (Phipson and Smyth
2010, Statistical Applications in Genetics and Molecular Biology 9, 39), which is never 0 and never
too small.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis import trial_columns
from deadzone.analysis.finding import KINDS, Finding, Severity
from deadzone.analysis.phases.censored import is_bound
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.roles import check_column
from deadzone.analysis.trial_columns import answering, below_zero, measured, thinned, well
from deadzone.errors import PhaseError, check_known
from deadzone.study.direction import GoalFrom, Kind, is_time, kind_of
from deadzone.study.levels import format_level, is_number, read_level
from deadzone.study.response_cells import by_distinct, level_names
from deadzone.study.scales import MISSING, level_name, scale_of
from deadzone.study.scales import levels_in as known_levels

ROLES = ("setting", "work_size")
"""What a knob can be said to be."""

LEAST_A_LEVEL = 3
"""Fewer trials of a level say nothing of what they have in common."""

OWN_COLUMNS = ("level", "place", "number", "order")
"""Of `Experiment.attempts`, in place of those that a table has by these names."""


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

    def __post_init__(self) -> None:
        if self.role:
            check_known(PhaseError, f"The role is {self.role!r}", self.role, ROLES, "Roles are")
        for column in self.failures:
            check_column(self.table, column)

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
        trial = table.get("trial", table.index.to_series() + 1)
        places = {level: place for place, level in enumerate(self.levels)}
        names = level_names(table[self.knob])
        settings = table[factors].apply(lambda column: by_distinct(column, str, ""))
        table = table.assign(
            level=settings.groupby(factors, sort=False).ngroup().to_numpy(),
            place=by_distinct(names, lambda name: places[read_level(name)], -1),
            number=pd.to_numeric(trial, errors="coerce").fillna(0).astype(int),
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

    def found(
        self,
        key: str,
        p: float | bool,
        rows: pd.DataFrame | None = None,
        *,
        weight: bool | np.bool = True,
        levels: Sequence[Any] | None = None,
        severity: Severity | None = None,
        **figures: Any,
    ) -> Finding:
        """A test that was made. p: its p-value, or whether it was seen where it was counted and
        leaves nothing to chance.

        rows: at which it was seen. levels: in place of theirs; those of the run where there are
        neither. figures: of the sentence, beside the knob, the response, the levels in words and
        how many rows there are.
        """
        if levels is None:
            levels = self.levels if rows is None else self.at(rows)
        p = float(not p if isinstance(p, bool | np.bool) else p)
        numbers = [] if rows is None else rows["number"].tolist()
        known = {"knob": self.knob, "response": self.response, "trials": len(numbers)}
        return Finding(
            key,
            p,
            bool(weight),
            tuple(levels),
            tuple(dict.fromkeys(numbers)),
            severity or KINDS[key].severity,
            {**known, "levels": self.named(levels), **figures},
        )

    def named(self, levels: Iterable[Any]) -> str:
        """Levels in a sentence: `n 4, 6, 8`."""
        return f"{self.knob} {', '.join(format_level(level) for level in levels)}"


def levels_in(column: pd.Series) -> list[Any]:
    """The levels in a column of the knob, ascending, such as 4, 8 (HT); words behind the
    numbers."""
    levels = known_levels(level_names(column).unique())
    places = scale_of(levels).positions
    return sorted(
        levels,
        key=lambda level: level if is_number(level) else places.get(level_name(level), math.inf),
    )


def typical(
    seen: Experiment, rows: pd.DataFrame, values: np.ndarray, middle: str = "median"
) -> np.ndarray:
    """Median or mean at each level of the knob, shape (levels,); nan where there is none."""
    of_each = pd.Series(values).groupby(rows["place"].to_numpy()).agg(middle)
    return of_each.reindex(range(len(seen.levels))).to_numpy(float)


def numbers(rows: pd.DataFrame, column: str) -> np.ndarray:
    """A column as floats, nan where it is missing; all nan without the column."""
    return trial_columns.numbers(rows, column).to_numpy()


def logarithms(values: np.ndarray) -> np.ndarray:
    """ln of values; nan where there is none."""
    return np.log(np.where(values > 0, values, np.nan))


def cpu_s(rows: pd.DataFrame) -> np.ndarray:
    """CPU time of each row [s]."""
    return numbers(rows, "user_s") + numbers(rows, "sys_s")


def without_barred(
    trials: pd.DataFrame, knob: str, response: str, barred: Sequence[Any]
) -> pd.DataFrame:
    """The trials at no barred level of the knob, but those that time-outs bound."""
    if not barred:
        return trials
    level = by_distinct(level_names(trials[knob]), read_level, None)
    return trials[level.isin(level[is_bound(trials, response)]) | ~level.isin(barred)]


PERMUTATIONS = 9_999
"""Least p 0.0001, with which one test among 150 passes a family-wise 2 %."""

MOST_CELLS = 8_000_000
"""Permutations of long tables are fewer, so that a check takes no more than a fraction of a second,
nor much memory."""

LONG = MOST_CELLS // 999
"""Of more values than this the distribution that permutations tend to says the same at once: the
normal one of a linear statistic (Hoeffding 1951, Annals of Mathematical Statistics 22, 558-566),
chi-square of Kruskal and Wallis's."""

GLANCE, COMMON = 199, 0.1
"""A p-value that is not small after a few permutations needs no more of them (Besag and Clifford
1991, Biometrika 78, 301-304)."""

SEED = 21
"""Asked twice, a run gives the same findings."""


def permuted(values: np.ndarray, strata: np.ndarray, count: int) -> Iterator[np.ndarray]:
    """The values in random orders, exchanged within strata only; `count` rows of n, as many at once
    as MOST_CELLS hold."""
    rng = np.random.default_rng(SEED)
    by_stratum = np.argsort(strata, kind="stable")
    most = max(MOST_CELLS // len(values), 1)
    for drawn_before in range(0, count, most):
        keys = rng.random((min(most, count - drawn_before), len(values))) + strata[None, :]
        drawn = np.empty(keys.shape, dtype=values.dtype)
        drawn[:, by_stratum] = values[np.argsort(keys, axis=1)]
        yield drawn


def p_value(
    statistic: Callable[[np.ndarray], np.ndarray],
    values: np.ndarray,
    strata: np.ndarray | None = None,
) -> float:
    """How often exchanged values give a statistic at least as large.

    statistic: of an array of shape (m, n), one row an order; returns shape (m,). values: shape
    (n,). strata: shape (n,), integers; values are exchanged within one only.
    """
    groups = np.zeros(len(values), dtype=int) if strata is None else strata
    reached = float(statistic(values[None, :])[0])
    p = 1.0
    for count in (GLANCE, int(min(PERMUTATIONS, max(MOST_CELLS // max(len(values), 1), 999)))):
        drawn = np.concatenate([statistic(rows) for rows in permuted(values, groups, count)])
        p = (1 + int(np.sum(drawn >= reached - 1e-12))) / (1 + count)
        if p > COMMON:
            break
    return p


def centred(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Values less the mean of their stratum, shape (n,)."""
    counts = np.bincount(strata)
    return values - (np.bincount(strata, values) / np.maximum(counts, 1))[strata]


def contrast(values: np.ndarray, marked: np.ndarray, strata: np.ndarray) -> tuple[float, float]:
    """How far marked values lie above the others of their stratum on average, and its two-sided
    p-value; 0 and 1 where no stratum has both.

    values, marked, strata: shape (n,); `strata` are integers.
    """
    side = centred(marked.astype(float), strata)
    if not np.any(side):
        return 0.0, 1.0
    apart = centred(values, strata)
    if len(values) > LONG:
        products = np.bincount(strata, apart**2) * np.bincount(strata, side**2)
        variance = (products / np.maximum(np.bincount(strata) - 1, 1)).sum()
        p = math.erfc(abs(apart @ side) / math.sqrt(max(2 * variance, 1e-300)))
    else:
        p = p_value(lambda rows: np.abs(rows @ side), apart, strata)
    return float(values @ side / (side @ side)), p


def association(values: np.ndarray, groups: np.ndarray) -> float:
    """p-value of values that do not depend on their group: Kruskal and Wallis's statistic (1952,
    Journal of the American Statistical Association 47, 583-621), permuted; ties, as of counts, do
    no harm. 1 where all are equal."""
    if len(values) == 0 or np.ptp(values) == 0:
        return 1.0
    rank = pd.Series(values).rank().to_numpy(float)
    sizes = np.maximum(np.bincount(groups), 1)
    if len(values) > LONG:
        from scipy.special import chdtrc  # a sweep, whose rehearsal is examined, does without

        between = float((np.bincount(groups, rank - rank.mean()) ** 2 / sizes).sum())
        return float(chdtrc(len(set(groups)) - 1, between / rank.var(ddof=1)))
    member = np.eye(len(sizes))[groups]
    return p_value(lambda rows: (((rows - rank.mean()) @ member) ** 2 / sizes).sum(axis=1), rank)


def depends(levels: pd.Series, values: np.ndarray, exact: int | None = None) -> float:
    """p-value of values, shape (n,), that do not depend on the level; those that are not known are
    left out.

    levels: of each. exact: trials of each level that leave nothing to chance where all of a level
    agree and levels do not.
    """
    known = np.isfinite(values)
    codes = pd.factorize(levels.to_numpy()[known])[0]
    at = pd.Series(values[known]).groupby(codes)
    agree = (at.nunique() == 1).all() and at.first().nunique() > 1
    return (
        0.0 if exact and agree and at.size().min() >= exact else association(values[known], codes)
    )
