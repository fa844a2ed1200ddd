"""What failed inside trials that ended well: columns that count errors, or hold their share, beside
the response."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Severity, Suspicion
from deadzone.analysis.findings.catalogue import finding
from deadzone.analysis.findings.experiment import Experiment, numbers
from deadzone.analysis.findings.failures import ALLOWED, scan
from deadzone.study.direction import words_of

FAILED = (
    "error", "errors", "failed", "failure", "failures", "fails", "timeouts", "rejected", "refused",
    "dropped", "aborted", "unsuccessful", "non2xx", "5xx",
)  # fmt: skip
"""Words in the name of a column that counts what failed."""

ATTEMPTED = (
    "requests", "attempts", "attempted", "total", "sent", "calls", "operations", "ops",
    "transactions", "queries", "messages", "iterations", "samples", "connections", "jobs",
    "complete", "completed", "responses", "tests",
)  # fmt: skip
"""Words in the name of a column that counts what was attempted, or what of it succeeded; the first
one found counts."""

SUCCEEDED = ("passed", "ok", "success", "successes", "successful", "succeeded")
"""Words in the name of a column that counts what succeeded alone; it counts where nothing says how
much was attempted."""

CONNECTING = {"connect", "connection", "connections", "connecting", "sockets"}
"""Words of failures to connect: connections were attempted, those of the knob too."""

SHARES = dict.fromkeys(("share", "fraction", "ratio", "rate"), 1.0) | dict.fromkeys(
    ("percent", "pct", "percentage"), 100.0
)
"""Words of a column that holds a share, and what all of it is."""

NOT_FAILURES = (
    "std", "stderr", "standard", "mean", "relative", "bar", "margin", "lines", "log", "max",
    "limit", "allowed", "s", "ms", "us", "ns", "seconds", "bytes", "training", "test", "validation",
    "rms", "absolute", "squared", "estimate",
)  # fmt: skip
"""Words beside `error` of columns that hold how exact a figure is, how long something took, or what
is allowed."""


@finding(
    seen={
        "count": "{column} counts {failed:count} failures beside {counted:count} in {other} at "
        "{levels}: more than {allowed:percent} of what was attempted failed.",
        "share": "{column} is up to {share:percent} at {levels}: more than {allowed:percent} of "
        "what was attempted failed.",
    },
    mend="These levels are not recommended; find out what failed, and measure what succeeds.",
)
def errors_by_level(seen: Experiment) -> Iterator[Suspicion]:
    """More of what was attempted failed inside the trials of some levels than allowed, though the
    trials ended well.

    Counts are tested as `failures_by_level` is, with what was attempted in place of trials; a share
    of failures is what was counted. Columns of
    failures are known by their names, or with --failures COLUMN.
    """
    rows = seen.ended
    for name in map(str, rows.columns):
        words = words_of(name)
        if name in (seen.knob, seen.response, *seen.by) or not (
            name in seen.failures or _counts_failures(words)
        ):
            continue
        failed = numbers(rows, name)
        if not np.nansum(failed):
            continue
        whole = next((SHARES[word] for word in words if word in SHARES), None)
        if whole is None and np.nanmax(failed) <= 1 and np.any(failed % 1 > 0):
            whole = 1.0
        if whole is not None:
            whole = 100.0 if np.nanmax(failed) > 1 else whole
            yield from _of_share(seen, rows, name, failed / whole)
        elif other := _attempted(seen, rows, failed, name):
            yield from _of_count(seen, rows, name, failed, other)


def _counts_failures(words: list[str]) -> bool:
    return bool(set(FAILED) & set(words)) and not set(NOT_FAILURES) & set(words)


def _attempted(seen: Experiment, rows: pd.DataFrame, failed: np.ndarray, name: str) -> str:
    """The column that says how much was attempted; empty where none does."""
    if CONNECTING & set(words_of(name)):
        for column in map(str, rows):
            parts = set(words_of(column))
            are_opened = "connections" in parts and not parts & {"max", "pool"}
            if column != name and are_opened and not np.any(failed > numbers(rows, column)):
                return column
    others = [column for column in map(str, rows) if column not in (name, seen.knob, *seen.by)]
    counts = {
        column: words for column in others
        if not {*SHARES, *FAILED, "s", "ms", "per", "sec"} & set(words := words_of(column))
    }  # fmt: skip
    for word in (*ATTEMPTED, *SUCCEEDED):
        for column, words in counts.items():
            if word in words and np.nansum(numbers(rows, column)) > 0:
                return column
    return ""


def _of_count(
    seen: Experiment, rows: pd.DataFrame, name: str, failed: np.ndarray, other: str
) -> Iterator[Suspicion]:
    beside = numbers(rows, other)
    known = np.isfinite(failed) & np.isfinite(beside) & (failed >= 0) & (beside >= 0)
    place = rows["place"].to_numpy()[known]
    bad = np.bincount(place, failed[known], len(seen.levels)).astype(int)
    counted = np.bincount(place, beside[known], len(seen.levels)).astype(int)
    # without the failed ones where they are fewer
    is_part = bool(set(SUCCEEDED) & set(words_of(other))) or (counted < bad)
    sizes = np.where(is_part, counted + bad, counted)
    worst = bad > ALLOWED * sizes
    p = scan(bad, sizes) if worst.any() else 1.0
    yield from _at(
        seen, rows, p, worst, sizes > 0, how="count", column=name, other=other,
        failed=int(bad[worst].sum()), counted=int(counted[worst].sum()),
    )  # fmt: skip


def _of_share(
    seen: Experiment, rows: pd.DataFrame, name: str, share: np.ndarray
) -> Iterator[Suspicion]:
    at = pd.Series(share).groupby(rows["place"].to_numpy())
    means = at.mean().reindex(range(len(seen.levels))).to_numpy(float)
    most = float(np.nanmax(means))
    if most <= 1 and np.nanmin(means) >= 0:
        known = np.isfinite(means)
        figures = {"how": "share", "column": name, "share": most}
        yield from _at(seen, rows, 0.0, means > ALLOWED, known, **figures)


def _at(
    seen: Experiment, rows: pd.DataFrame, p: float, worst: np.ndarray, known: np.ndarray,
    **figures: Any,
) -> Iterator[Suspicion]:  # fmt: skip
    """Of the levels at which more failed than allowed. worst, known: shape (levels,)."""
    if worst.any():
        here = rows[worst[rows["place"].to_numpy()]]
        severity: Severity | None = "stops" if worst[known].all() else None
        yield seen.suspicion(
            "errors_by_level", p, here, severity=severity, allowed=ALLOWED, **figures
        )
