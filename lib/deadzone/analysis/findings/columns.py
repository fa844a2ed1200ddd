"""Other columns of a table that are settings too: one that goes with the knob, or that splits the
trials of a level.

What is measured has as many values as trials, a setting has few. Ids, times, notes, the columns of
the account that Deadzone adds, and counts of failures are no settings.

Figures that cannot be, or contradict each other: below zero, more in flight than there are
connections, faster than the knob.

Little's law (Little 1961, Operations Research 9, 383-387): what is in flight on average is the rate
times the mean time of one; a closed loop of n connections has no more than n in flight.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding, finding
from deadzone.analysis.findings.experiment import (
    OWN_COLUMNS,
    Experiment,
    association,
    centred,
    numbers,
    typical,
)
from deadzone.analysis.findings.work_size import LOADS, OF_EACH, PARALLEL
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.analysis.trial_columns import below_zero
from deadzone.store.table import COLUMNS
from deadzone.study.direction import kind_of, words_of
from deadzone.study.levels import is_number
from deadzone.study.quantity import SECONDS
from deadzone.study.scales import level_name

MEASURED = {"used", "avg", "mean", "max", "peak", "active", "busy", "per", "hits", "restarts"}
"""Words of a column of threads or clients that counts what there were."""

NO_SETTINGS = {
    "trial", "attempt", "block", "replicate", "rep", "run", "repeat", "id", "index", "order", "seq",
    "number", "seed", "date", "time", "timestamp", "started", "at", "note", "notes", "comment",
    "status", "error", "errors", "failed", "failures", "reason", "warmup", "trusted", "unit",
    "units", "title", "label", "verdict", "result", "outlier", "name", "url", "ok", "exit", "code",
    "hash", "commit", "batch_id", "description", "row", "line", "emphasised", "flagged", "author",
    "bold", "best", "chosen", "recommended",
}  # fmt: skip
"""Words of a column that is no setting."""

WORK = {
    "iterations", "items", "rows", "records", "files", "messages", "transactions", "queries",
    "tasks", "frames", "loops",
}  # fmt: skip
"""Words of a column that says how much a trial was told to do."""

SPLITS = 0.25
"""The share of the scatter within levels that a column explains which splits the trials of a level;
where levels scatter differently, the noisiest hold most of what it does not explain."""

BY_CHANCE = 0.05
"""Columns are rarely dealt out at random; one that was goes with the levels of the smallest tables
in so many of them."""

APART = np.log1p(PRACTICAL_TOLERANCE)
"""Groups of trials that differ by less leave the setting where it is [ln of the response]."""


@finding(
    seen={
        "": "Trials of the same level are split by {column} ({values}), {times:number} times "
        "apart: the curve is a mixture of several.",
        "product": "{knob} is {column} times {other}, and trials of the same level differ by how "
        "it is split, up to {times:number} times at {here}.",
    },
    mend={
        "": "Fit a curve for each: `--by {typed_column}`, in Python `by={column!r}`.",
        "product": "Compare the splits: `--knob {typed_column} --by {typed_other}`, in Python knob "
        "{column} and `by={other!r}`.",
    },
)
def other_factor(seen: Experiment) -> Iterator[Finding]:
    """A column with few values splits the trials of the same level. Tested are the share of the
    scatter of ln(response) within levels that its groups explain, and the groups, by Kruskal and
    Wallis's test, permuted."""
    for name, (rows, p, times) in splitting(seen).items():
        values = ", ".join(_shown(value) for value in list(dict.fromkeys(rows[name]))[:4])
        yield seen.found("other_factor", p, rows, column=name, values=values, times=times)
    yield from _split_in_two(seen)


def _split_in_two(seen: Experiment) -> Iterator[Finding]:
    """The knob is the product of two other columns in every trial, which is no accident, and the
    trials of a level differ by more than the tolerance."""
    rows, value = seen.sound, numbers(seen.sound, seen.response)
    if not all(map(is_number, seen.levels)) or not len(rows) or np.isnan(value).any():
        return
    level = np.array(seen.levels, dtype=float)[rows["place"].to_numpy()]
    names = [
        str(name) for name in seen.table.select_dtypes("number")
        if name not in (seen.knob, seen.response, *seen.by) and rows[name].nunique() > 1
    ]  # fmt: skip
    at = pd.Series(value).groupby(rows["place"].to_numpy())
    apart = at.max() / at.min()
    for name, other in combinations(names, 2):
        if (rows[name] * rows[other] == level).all() and np.log(apart.max()) >= APART:
            here = seen.named([seen.levels[apart.index[int(np.argmax(apart))]]])
            yield seen.found(
                "other_factor", True, levels=(), how="product", column=name, other=other,
                times=float(apart.max()), here=here,
            )  # fmt: skip


def splitting(seen: Experiment) -> dict[str, tuple[pd.DataFrame, float, float]]:
    """The columns that split the trials of a level: of each the rows of levels at which it has
    several values, the p-value of its groups, and how many times apart these are."""
    value = numbers(seen.sound, seen.response)
    split = {}
    for name in settings(seen):
        known = np.isfinite(value) & (value > 0) & seen.sound[name].notna().to_numpy()
        rows = seen.sound[known]
        rows = rows[rows.groupby("level")[name].transform("nunique").to_numpy() > 1]
        groups = pd.factorize(rows[name])[0]
        if len(rows) < 6:
            continue
        log = centred(np.log(numbers(rows, seen.response)), pd.factorize(rows["level"])[0])
        explained = 1 - float((centred(log, groups) ** 2).sum()) / max(float((log**2).sum()), 1e-12)
        apart = float(np.ptp(pd.Series(log).groupby(groups).mean()))
        if explained >= SPLITS and apart >= APART and (p := association(log, groups)) < 0.01:
            split[name] = rows, p, float(np.exp(apart))
    return split


def without_split(seen: Experiment) -> Experiment:
    """The experiment with the columns that split its levels as factors: what differs then has other
    causes."""
    split = splitting(seen)
    return replace(seen, by=(*seen.by, *split)) if split else seen


def settings(seen: Experiment) -> list[str]:
    """The columns that are settings beside the knob and the factors."""
    return [
        name for name in map(str, seen.table)
        if _may_be_set(seen, name) and _has_few_values(seen.table[name], len(seen.levels))
    ]  # fmt: skip


def _may_be_set(seen: Experiment, name: str) -> bool:
    known = (seen.knob, seen.response, *seen.by, *seen.failures, *COLUMNS, *OWN_COLUMNS)
    return name not in known and not set(words_of(name)) & NO_SETTINGS


def _is_option(seen: Experiment, name: str) -> bool:
    """Whether a name is that of an option such as threads or clients, and of no count of them."""
    words = set(words_of(name))
    return bool(words & (OF_EACH - {"limit"}) and not words & MEASURED) and _may_be_set(seen, name)


def _has_few_values(column: pd.Series, levels: int) -> bool:
    most = levels / 2 if pd.api.types.is_numeric_dtype(column) else levels - 1
    return 2 <= column.nunique() <= most


def goes_with_the_knob(seen: Experiment) -> Iterator[Finding]:
    """A setting is the same in all trials of a level and changes between levels: what it does
    cannot be told from what the knob does. Counted exactly: how often values dealt out to the
    trials at random are the same within every level, and, where they are, each in one stretch of
    levels. So does an option, known by its name, that rises or falls at every level."""
    if len(seen.levels) < 3:
        return
    rows = seen.sound
    for name in settings(seen):
        at = rows.groupby("place")[name]
        values = at.first()
        if rows[name].isna().any() or (at.nunique() > 1).any() or values.nunique() < 2:
            continue
        p = _by_chance(values, rows[name])
        changed = values[values.ne(values.shift())][:4]
        shown = "; ".join(
            f"{_shown(value)} from {seen.named([seen.levels[place]])} on"
            for place, value in zip(changed.index.to_list(), changed, strict=True)
        )
        yield seen.found(
            "levels_confounded", p <= BY_CHANCE, levels=(), how="column", column=name, values=shown
        )
    if "run_id" in rows:  # the options of a run are its factors; what it counted follows the knob
        return
    for name in filter(lambda one: _is_option(seen, one), map(str, rows.select_dtypes("number"))):
        at = rows.groupby("place")[name]
        values = at.first()
        is_one_a_level = at.nunique(dropna=False).max() <= 1 and (values % 1 == 0).all()
        moves = np.sign(np.diff(values.to_numpy(float)))
        is_in_step = abs(moves.sum()) == len(seen.levels) - 1 and [*values] != seen.levels
        if is_one_a_level and is_in_step:
            yield seen.found(
                "levels_confounded", True, levels=(), how="in_step", mend="column", column=name,
                values=f"{_shown(values.iloc[0])} to {_shown(values.iloc[-1])}",
            )  # fmt: skip


def _by_chance(of_levels: pd.Series, of_trials: pd.Series) -> float:
    """How often a column dealt out at random goes with the levels as it does. of_levels: its value
    at each. of_trials: in each."""
    from scipy.special import gammaln

    def arrangements(values: pd.Series) -> float:
        return float(gammaln(len(values) + 1) - gammaln(values.value_counts().to_numpy() + 1).sum())

    stretches = 1 + int((of_levels.to_numpy()[1:] != of_levels.to_numpy()[:-1]).sum())
    is_parted = stretches == of_levels.nunique()
    alike = float(gammaln(stretches + 1)) if is_parted else arrangements(of_levels)
    return float(np.exp(alike - arrangements(of_trials)))


def other_work(seen: Experiment) -> Iterator[Finding]:
    """A column that says how much a trial was told to do changes with the knob, in steps, while the
    response is the time of all of it. Counted: nothing is left to chance."""
    words = set(words_of(seen.response))
    if (
        seen.goal != "min"
        or not words & {"wall", "total", "elapsed", "duration", "time", "runtime"}
        or words & {"per", "real", "cpu"}
    ):
        return
    rows = seen.sound
    for name in map(str, rows):
        named = set(words_of(name))
        is_other = name not in (seen.knob, seen.response, *seen.by)
        if not is_other or not named & WORK or named & {"s", "per", "rate"}:
            continue
        value = numbers(rows, name)
        at = typical(seen, rows, value)
        is_set = np.isfinite(at).all() and (value == at[rows["place"]]).all()
        if is_set and 2 <= len(set(at)) < len(at):
            yield seen.found(
                "work_differs", True, rows[value != np.median(value)], how="column", column=name,
                least=float(at.min()), most=float(at.max()),
            )  # fmt: skip


def _shown(value: object) -> str:
    return level_name(value)[:40]


UNITS_OF_NAMES = ("s", "sec", "seconds", "ms", "us", "ns")
"""In the name of a column `min` is the shortest."""

IN_FLIGHT = {"connections", "clients", "users", "vus", "concurrency", "conns"}

TOO_MANY = 1.5
"""So many times more in flight than connections is no rounding."""

TOO_FAST = 3.0
"""A speed-up so many times the knob's is none that caches make."""


@finding(
    seen="{response} is below zero at {levels} (trials: {trials}), which it cannot be: these count "
    "as failed, and are left out.",
    mend="Find out why the measurement failed there.",
)
def impossible_numbers(seen: Experiment) -> Iterator[Finding]:
    """A time, rate or count below zero stands for a failed measurement. Counted: nothing is left to
    chance."""
    rows = seen.measured
    wrong = below_zero(rows, seen.response)
    if wrong.any():
        yield seen.found("impossible_numbers", True, rows[wrong])


@finding(
    seen={
        "in_flight": "{rate} times {latency} is {held:number} requests in flight at {level}, more "
        "than its connections hold (Little's law): one of the two is wrong, or of another part of "
        "the run.",
        "faster": "{response} falls by a factor of {faster:count} while {knob} grows {more:count} "
        "times: better than in proportion, which more of {knob} alone cannot do.",
        "divided": "{column} is {knob} itself at every level, and {response} falls by a factor of "
        "{faster:count}: the tool may have divided the time by {knob}.",
    },
    mend="Look at how the tool counts, and judge a figure that it does not derive.",
)
def contradicting_numbers(seen: Experiment) -> Iterator[Finding]:
    """Three contradictions. Rate times mean latency is more than the connections can hold in
    flight, by Little's law. A time falls TOO_FAST times faster than threads or the like are added.
    A count of iterations is the knob itself, which tools divide by."""
    if not all(is_number(level) for level in seen.levels):
        return
    named = set(words_of(seen.knob))
    if named & IN_FLIGHT:
        yield from _in_flight(seen)
    if named & PARALLEL:
        yield from _faster_than_the_knob(seen)


def _in_flight(seen: Experiment) -> Iterator[Finding]:
    rows = seen.sound
    words = {column: words_of(column) for column in map(str, rows)}
    rates = [
        c for c, named in words.items()
        if {*LOADS, "rate"} & set(named) and kind_of(c) == "rate" and "offered" not in c
    ]  # fmt: skip
    times = [
        c for c, named in words.items()
        if {"latency", "mean"} <= set(named) and named[-1] in UNITS_OF_NAMES
    ]  # fmt: skip
    if not rates or not times:
        return
    held = numbers(rows, rates[0]) * numbers(rows, times[0]) * SECONDS[words[times[0]][-1]]
    over = held / np.array(seen.levels, dtype=float)[rows["place"].to_numpy()]
    if (over > TOO_MANY).any():
        worst = int(np.nanargmax(over))
        yield seen.found(
            "contradicting_numbers", True, rows[over > TOO_MANY], how="in_flight", rate=rates[0],
            latency=times[0], held=float(held[worst]),
            level=seen.named(seen.at(rows.iloc[[worst]])),
        )  # fmt: skip


def _faster_than_the_knob(seen: Experiment) -> Iterator[Finding]:
    rows = seen.sound
    if seen.goal != "min" or not seen.is_time:
        return
    value = typical(seen, rows, numbers(rows, seen.response))
    level = np.array(seen.levels, dtype=float)
    use = np.isfinite(value) & (value > 0) & (level > 0)
    if use.sum() < 2:
        return
    first, last = np.flatnonzero(use)[[0, -1]]
    faster, more = value[first] / value[last], level[last] / level[first]
    same = [
        c for c in map(str, rows) if "iterations" in words_of(c) and len(seen.levels) > 2
        and np.array_equal(typical(seen, rows, numbers(rows, c))[use], level[use])
    ]  # fmt: skip
    if faster > TOO_FAST * more or same:
        yield seen.found(
            "contradicting_numbers", True, rows[rows["place"] == last],
            how="divided" if same else "faster", faster=round(faster), more=round(more),
            column=same[0] if same else "",
        )  # fmt: skip
