"""Whether all trials did the same work: within a level, and from level to level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from deadzone.explaining.findings.experiment import LEAST_A_LEVEL, Experiment, cpu_s, numbers, typical
from deadzone.explaining.findings.finding import Suspicion
from deadzone.explaining.findings.permutation import SEED, association
from deadzone.study.levels import is_number

GROUPS_APART = 1.5
"""Groups of trials closer than this may be two ways the scheduler takes."""

OTHER_WORK = 2.5
"""Beyond this no placing of threads explains the difference: one group did not do the work."""

LEAST_IN_GROUP = 0.1
"""A smaller group is a few outliers, which the fit finds by itself."""

SIMULATED = 4_999
LEAST_SPREAD = 0.02
"""Groups are told apart in the spread of a real program; perfect agreement within them is rounding."""

COUNTS_OF_WORK = (
    "items", "frames", "rows", "records", "files", "lines", "requests", "messages", "bytes", "count", "processed",
    "done", "transactions", "queries", "jobs", "tasks",
)  # fmt: skip
"""Words in the name of a response that counts what a trial did; rates, which hold a time in their name, do not."""

RATE_WORDS = ("_s", "_per_", "rate", "throughput", "latency")

LESS = 0.99
"""Work that falls below this share of what another level did is less work."""

LESS_CPU = 0.6
"""A level that needs less than this share of the CPU time of every level before it does not do the same job faster."""


def work_differs(seen: Experiment) -> Iterator[Suspicion]:
    """Trials of a level that fall into two groups, in CPU time or in the response.

    Each level is split in two where that leaves the least sum of squares of the logarithms; the statistic is the share
    of the sum within levels that the split takes away. Its distribution without groups is simulated with Student's t
    of four degrees of freedom, whose tails are as heavy as those of timings.
    """
    table = seen.ended
    for name, values in (("cpu_s", cpu_s(table)), (seen.response, numbers(table, seen.response))):
        known = np.isfinite(values) & (values > 0)
        rows = table[known]
        sizes = rows["level"].value_counts()
        keep = rows["level"].isin(sizes.index[sizes >= LEAST_A_LEVEL]).to_numpy()
        rows, log = rows[keep], np.log(values[known][keep])
        if len(rows) < 2 * LEAST_A_LEVEL:
            continue
        levels = pd.factorize(rows["level"])[0]
        low, high, share = _split(log, levels)
        apart, spread = float(high.mean() - low.mean()) if len(low) and len(high) else 0.0, share[1]
        few = min(len(low), len(high)) / len(log)
        weight = apart >= np.log(GROUPS_APART) and few >= LEAST_IN_GROUP and apart > 4 * spread
        p = _p_of_split(share[0], np.bincount(levels)) if weight else 1.0
        least = rows[np.isin(np.arange(len(rows)), share[2])]
        yield Suspicion(
            "work_differs",
            p,
            weight,
            seen.at(least),
            tuple(least["number"]),
            "stops" if apart >= np.log(OTHER_WORK) else "doubts",
            {"column": name, "times": float(np.exp(apart)), "few": len(least), "trials": len(rows)},
        )


def _split(
    log: np.ndarray, levels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[float, float, np.ndarray]]:
    """Deviations below and above the split, and (share of squares explained, spread within groups, rows of the smaller group)."""
    below, above, where, before, after = [], [], [], 0.0, 0.0
    for level in range(levels.max() + 1):
        at = np.flatnonzero(levels == level)
        order = at[np.argsort(log[at], kind="stable")]
        values = log[order]
        within = [_squares(values[:i]) + _squares(values[i:]) for i in range(1, len(values))]
        cut = int(np.argmin(within)) + 1
        total = _squares(values)
        before, after = before + total, after + min(within)
        if values[cut:].mean() - values[:cut].mean() >= np.log(GROUPS_APART) / 2:
            middle = np.median(values)
            below += list(values[:cut] - middle)
            above += list(values[cut:] - middle)
            where.append((order[:cut], order[cut:]))
    lows, highs = (
        np.concatenate([pair[i] for pair in where]) if where else np.array([], dtype=int) for i in (0, 1)
    )
    smaller = lows if len(lows) <= len(highs) else highs
    freedom = max(len(log) - 2 * (levels.max() + 1), 1)
    spread = float(np.hypot(np.sqrt(after / freedom), LEAST_SPREAD))
    return np.array(below), np.array(above), (1 - after / before if before > 0 else 0.0, spread, smaller)


def _squares(values: np.ndarray) -> float:
    return float(((values - values.mean()) ** 2).sum()) if len(values) else 0.0


def _p_of_split(share: float, sizes: np.ndarray) -> float:
    """How often trials without groups split as well."""
    rng = np.random.default_rng(SEED)
    before, after = np.zeros(SIMULATED), np.zeros(SIMULATED)
    for size in sizes:
        drawn = np.sort(rng.standard_t(4, (SIMULATED, size)), axis=1)
        sums, squares = np.cumsum(drawn, axis=1), np.cumsum(drawn**2, axis=1)
        total, total_squares = sums[:, -1:], squares[:, -1:]
        i = np.arange(1, size)
        left = squares[:, :-1] - sums[:, :-1] ** 2 / i
        right = (total_squares - squares[:, :-1]) - (total - sums[:, :-1]) ** 2 / (size - i)
        before += (total_squares - total**2 / size)[:, 0]
        after += (left + right).min(axis=1)
    return (1 + int(np.sum(1 - after / before >= share))) / (1 + SIMULATED)


def less_work(seen: Experiment) -> Iterator[Suspicion]:
    """A response that counts work falls from one level to a later one; or CPU time does, below what any level needed before.

    The count is tested by `association`; CPU time is only a note, for better settings may truly need less of it.
    """
    rows = seen.sound
    for name in (name for name in rows.columns if _counts_work(str(name), seen)):
        yield from _falls(seen, rows, str(name), numbers(rows, str(name)), LESS, None)
    yield from _falls(seen, rows, "cpu_s", cpu_s(rows), LESS_CPU, "notes")


def _counts_work(name: str, seen: Experiment) -> bool:
    if name in (seen.response, seen.knob, *seen.by) or name in NOT_WORK:
        return False
    words = name.lower().split("_")
    return any(word in words for word in COUNTS_OF_WORK) and not any(
        rate in f"{name}_" for rate in RATE_WORDS
    )


NOT_WORK = (
    "max_rss_bytes", "io_read_bytes", "io_written_bytes", "stdout_bytes", "stdout_lines", "stderr_lines", "error_lines",
)  # fmt: skip
"""Columns of every run; those that a service or a client adds begin with its name."""


def _falls(
    seen: Experiment, rows: pd.DataFrame, name: str, values: np.ndarray, share: float, severity: Any
) -> Iterator[Suspicion]:
    if np.isfinite(values).sum() < 2 * LEAST_A_LEVEL or "service" in name or "client" in name:
        return
    medians = typical(seen, rows, values)
    known = [i for i, level in enumerate(seen.levels) if is_number(level) and np.isfinite(medians[i])]
    if len(known) < 2 or medians[known[0]] <= 0:
        return
    at = medians[known]
    reference = np.minimum.accumulate(at) if severity else np.maximum.accumulate(at)
    fallen = np.flatnonzero(at[1:] < share * reference[:-1]) + 1
    there = rows[rows["place"].isin([known[i] for i in fallen])]
    less, first = seen.at(there), int(fallen[0]) if len(fallen) else 1
    use = np.isfinite(values)
    yield Suspicion(
        "less_work",
        association(values[use], pd.factorize(rows["place"][use])[0]) if len(fallen) else 1.0,
        bool(len(fallen)),
        less,
        tuple(there["number"]),
        severity,
        {
            "column": name,
            "before": float(reference[first - 1]),
            "after": float(at[first]),
            "levels": seen.named(less),
        },
    )
