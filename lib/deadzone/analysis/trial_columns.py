"""Columns of tables as they are on disk: marks of trials, such as `warmup` and `trusted`, that are
booleans, numbers or words; and numbers."""

import re

import numpy as np
import pandas as pd

from deadzone.store.table import OTHER_WORKLOAD

WORDS = {
    **dict.fromkeys(("true", "1", "1.0", "yes"), True),
    **dict.fromkeys(("false", "0", "0.0", "no"), False),
}


def marked(frame: pd.DataFrame, column: str, missing: bool) -> pd.Series:
    """Which rows a column marks. missing: what an absent column, an empty cell or another word
    means."""
    if column not in frame:
        return pd.Series(missing, index=frame.index)
    if pd.api.types.is_bool_dtype(frame[column]):
        return frame[column].fillna(missing).astype(bool)
    return frame[column].map(lambda mark: WORDS.get(str(mark).lower(), missing)).astype(bool)


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
    return measured(rows).groupby("trial").tail(1) if "trial" in rows else measured(rows)


def is_well(rows: pd.DataFrame) -> pd.Series:
    """Which rows' programs ended well; all of a table that does not say."""
    status = rows.get("status", pd.Series("ok", rows.index))
    return status.eq("ok").fillna(False).astype(bool)


def well(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose program ended well; all of a table that does not say."""
    return rows[is_well(rows)]


def numbers(rows: pd.DataFrame, column: str) -> pd.Series:
    """A column as floats, nan where it holds no number; all nan without the column."""
    return pd.to_numeric(rows.get(column, pd.Series(np.nan, rows.index)), errors="coerce").astype(
        float
    )


CANNOT_BE_NEGATIVE = re.compile(
    r"(?i)(^|_)(s|sec|seconds|ms|us|ns|time|latency|duration|elapsed|rate|rps|tps|qps|throughput|ops|bytes|count|requests|"
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
