"""Other columns of a table that are settings too: one that goes with the knob, or that splits the
trials of a level.

What is measured has as many values as trials, a setting has few. Ids, times, notes, the columns of
the account that Deadzone adds, and counts of failures are no settings.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Suspicion
from deadzone.analysis.findings.catalogue import finding
from deadzone.analysis.findings.experiment import Experiment, numbers
from deadzone.analysis.findings.permutation import association, centred
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.store.table import COLUMNS
from deadzone.study.direction import words_of
from deadzone.study.levels import is_number
from deadzone.study.scales import level_name

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
        "": "Fit a curve for each: --by {column}.",
        "product": "Compare the splits: `--knob {column} --by {other}`.",
    },
)
def other_factor(seen: Experiment) -> Iterator[Suspicion]:
    """A column with few values splits the trials of the same level. Tested are the share of the
    scatter of ln(response) within levels that its groups explain, and the groups, by Kruskal and
    Wallis's test, permuted."""
    for name, (rows, p, times) in splitting(seen).items():
        values = ", ".join(_shown(value) for value in list(dict.fromkeys(rows[name]))[:4])
        yield seen.suspicion("other_factor", p, rows, column=name, values=values, times=times)
    yield from _split_in_two(seen)


def _split_in_two(seen: Experiment) -> Iterator[Suspicion]:
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
            yield seen.suspicion(
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
        if len(rows) < 6 or len(np.unique(groups)) < 2:
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
    levels = len(seen.levels)
    return [
        name for name in map(str, seen.table)
        if name not in (seen.knob, seen.response, *seen.by, *seen.failures, *COLUMNS)
        and not set(words_of(name)) & NO_SETTINGS and _has_few_values(seen.table[name], levels)
    ]  # fmt: skip


def _has_few_values(column: pd.Series, levels: int) -> bool:
    count = column.nunique()
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return 2 <= count <= levels / 2
    return 2 <= count < levels


def goes_with_the_knob(seen: Experiment) -> Iterator[Suspicion]:
    """A setting is the same in all trials of a level and changes between levels: what it does
    cannot be told from what the knob does. Counted exactly: how often values dealt out to the
    trials at random are the same within every level, and, where they are, each in one stretch of
    levels."""
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
        yield seen.suspicion(
            "levels_confounded", p <= BY_CHANCE, levels=(), how="column", column=name, values=shown
        )


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


def other_work(seen: Experiment) -> Iterator[Suspicion]:
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
        at = pd.Series(value).groupby(rows["place"].to_numpy())
        set_values = at.first()
        is_set = np.isfinite(value).all() and (at.nunique() == 1).all()
        if is_set and 2 <= set_values.nunique() < len(set_values) == len(seen.levels):
            least, most = float(set_values.min()), float(set_values.max())
            there = rows[value != np.median(value)]
            yield seen.suspicion(
                "work_differs", True, there, how="column", column=name, least=least, most=most
            )


def _shown(value: object) -> str:
    return level_name(value)[:40]
