"""Columns of tables as they are on disk: marks of trials, such as `warmup` and `trusted`, that are
booleans, numbers or words; and numbers.

Tables of more trials or levels than a fit takes: as many of each setting as fit, drawn evenly
from the whole table, and of the levels those that lie furthest apart.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from deadzone.language.messages import Message, _
from deadzone.store.table import OTHER_WORKLOAD
from deadzone.study.response_cells import by_distinct, level_names
from deadzone.study.scales import INTERVAL, KnobScale

WELL = ("ok", "success", "succeeded", "passed", "completed", "done")
"""A status of one of these words is a trial that ended well."""

MARKS_WELL = ("success", "successful", "succeeded", "passed", "ok")
"""Columns of booleans that say whether a trial ended well."""

WORDS = {
    **dict.fromkeys(("true", "1", "1.0", "yes"), True),
    **dict.fromkeys(("false", "0", "0.0", "no"), False),
}


def marked(frame: pd.DataFrame, column: str, missing: bool) -> pd.Series:
    """Which rows a column marks. missing: what an absent column, an empty cell or another word
    means."""
    if column not in frame:
        return pd.Series(missing, index=frame.index)
    marks = by_distinct(frame[column], lambda mark: WORDS.get(str(mark).lower(), missing), missing)
    return marks.astype(bool)


def is_other(rows: pd.DataFrame) -> pd.Series:
    """Which rows measured another workload than their run began with."""
    unknown = pd.Series(None, index=rows.index, dtype=object)
    return rows.get(OTHER_WORKLOAD, unknown).fillna("").ne("")


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that are no warm-up."""
    return rows[~marked(rows, "warmup", missing=False)]


def counted(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that are no warm-up, and trusted where that was judged."""
    return measured(rows[marked(rows, "trusted", missing=True)])


def with_counted(rows: pd.DataFrame) -> pd.DataFrame:
    """A table with the column `counted` that the table of a run has."""
    return rows.assign(counted=rows.index.isin(well(counted(rows)).index))


def is_untrusted(rows: pd.DataFrame, knob: str) -> bool:
    """Whether fewer than two levels of a knob keep a trusted trial, so that nothing could be
    compared."""
    ended = well(measured(rows))
    return counted(ended)[knob].nunique() < min(ended[knob].nunique(), 2)


def answering(rows: pd.DataFrame, knob: str) -> pd.DataFrame:
    """The rows that an answer rests on: those that count, and where nothing is trusted the last
    attempt at each trial, so that can be said what they would show."""
    if not is_untrusted(rows, knob):
        return counted(rows)
    return last_attempts(measured(rows), knob)


def last_attempts(rows: pd.DataFrame, level: str) -> pd.DataFrame:
    """The last attempt at each trial; all rows of a table that tells of no attempts. level: column
    of what a trial measures, for a table may count the trials of each from 1."""
    if not {"trial", "attempt"} <= set(rows):
        return rows
    return rows.groupby([level, "trial"], sort=False, dropna=False).tail(1)


def is_well(rows: pd.DataFrame) -> pd.Series:
    """Which rows' programs ended well; all of a table that does not say."""
    status = rows.get("status", pd.Series("ok", rows.index))
    return status.isin([word for word in status.unique() if str(word).strip().lower() in WELL])


def with_status(rows: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
    """The table with the status of each trial where another column tells it: one of another case,
    codes of HTTP or of an exit, booleans such as `success`; if some ended well. roles: names of
    the knob, the response and the other factors, which tell none."""
    if "status" in roles:
        return rows
    named = {str(name).strip().lower(): name for name in rows.columns[::-1] if name not in roles}
    name = "status" if "status" in rows else named.get("status")
    marks = next((named[word] for word in MARKS_WELL if word in named), None)
    if name is not None and rows[name].astype(str).str.lower().isin(("true", "false")).any():
        marks, name = name, None
    if name is not None:
        codes = numbers(rows, name)
        if codes.notna().any():
            is_http = bool((codes >= 100).any())
            return _with_ends(rows, codes.between(200, 399) if is_http else codes.eq(0))
        told = rows.assign(status=rows[name])
        if name == "status" or is_well(told).any():
            return told
    if marks is not None:
        said = rows[marks].map(lambda cell: WORDS.get(str(cell).strip().lower()))
        if said.notna().all():
            return _with_ends(rows, said.astype(bool))
    return _with_ends(rows, numbers(rows, "exit_code").fillna(0).eq(0))


def _with_ends(rows: pd.DataFrame, ended: pd.Series) -> pd.DataFrame:
    if not ended.any() or ("status" not in rows and ended.all()):
        return rows
    return rows.assign(status=ended.map({True: "ok", False: "failed"}))


def well(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose program ended well; all of a table that does not say."""
    return rows[is_well(rows)]


def numbers(rows: pd.DataFrame, column: str) -> pd.Series:
    """A column as floats, nan where it holds no number; all nan without the column."""
    return pd.to_numeric(rows.get(column, pd.Series(np.nan, rows.index)), errors="coerce").astype(
        float
    )


CANNOT_BE_NEGATIVE = re.compile(
    r"(?i)(^|_)(s|sec|seconds|ms|us|ns|time|latency|duration|elapsed|"
    r"rate|rps|tps|qps|throughput|ops|bytes|count|requests|"
    r"[kmgt]i?b|[kmgt]?flops|per|cycles|p\d+)(_|$)"
)
"""Names of times, rates, sizes and counts."""


def below_zero(table: pd.DataFrame, response: str) -> pd.Series:
    """Which rows hold a number below zero that stands for a failed measurement: some, not most, of
    a time, rate or count."""
    values = numbers(table, response)
    is_known = CANNOT_BE_NEGATIVE.search(response) and not re.search(
        r"(?i)change|diff|delta|gain|loss", response
    )
    return (values < 0) & bool(is_known and 2 * (values < 0).sum() < values.notna().sum())


MOST_TRIALS = 100_000
"""A fit weighs each trial against some hundred values of its level and its scatter, so that its
time and memory grow with them."""

FEWEST_OF_EACH = 50
"""Trials of a setting that are kept, however many settings there are."""


def thinned(table: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
    """The table, or of one with more than MOST_TRIALS rows as many of each setting as come to that.

    The rows of a setting are parted into equal stretches, and one is drawn from each: drift stays,
    and what returns every so many rows is not met in step. The same table gives the same rows.
    factors: whose combinations are the settings.
    """
    if len(table) <= MOST_TRIALS:
        return table
    setting = table.groupby(list(factors), sort=False, dropna=False).ngroup().to_numpy()
    count = np.bincount(setting)
    most = max(MOST_TRIALS // len(count), FEWEST_OF_EACH)
    order, first = np.argsort(setting, kind="stable"), np.cumsum(count) - count
    random, keep = np.random.default_rng(0), (count <= most)[setting]
    for number in np.flatnonzero(count > most):
        edge = np.linspace(0, count[number], most + 1).astype(int)
        drawn = edge[:-1] + (random.random(most) * np.diff(edge)).astype(int)
        keep[order[first[number] + drawn]] = True
    return table[keep]


MOST_LEVELS = 64
"""Each pair of levels may be the ends of a piece, so that the time of a fit grows with the cube of
their number; so many take a second."""


def with_fewer_levels(
    table: pd.DataFrame, knob: str, scale: KnobScale
) -> tuple[pd.DataFrame, list[Message]]:
    """The trials at no more than MOST_LEVELS levels on the knob's axis, and what is said of it: the
    level whose neighbours lie closest together is left out, one after the other."""
    place = level_names(table[knob]).map(scale.positions).to_numpy(float)
    every = np.unique(place[np.isfinite(place)])
    if len(every) <= MOST_LEVELS:
        return table, []
    kept, x = every, every if scale.kind == INTERVAL else np.log(every)
    while len(kept) > MOST_LEVELS:
        closest = 1 + int(np.argmin(x[2:] - x[:-2]))
        kept, x = np.delete(kept, closest), np.delete(x, closest)
    said = _(
        "The fit takes {n} of {levels:count} levels of {knob}, those furthest apart.",
        levels=len(every),
        knob=knob,
        n=MOST_LEVELS,
    )
    return table[~np.isin(place, np.setdiff1d(every, kept))], [said]
