"""Whether the trials of a level did the same work, or fall into two groups."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Finding, finding
from deadzone.analysis.findings.columns import other_work, without_split
from deadzone.analysis.findings.counts import counts_of_work
from deadzone.analysis.findings.experiment import LEAST_A_LEVEL, SEED, Experiment, cpu_s, numbers
from deadzone.analysis.findings.process import START_S, is_coarse

GROUPS_APART = 1.5
"""Groups of counts closer than this are no work left out."""

TIMES_APART = 2.0
"""The same of times: with others on the second hardware thread of its core a program was seen to
need 1.8 times the CPU time, also on a virtual machine, which does not see them."""

LEAST_SHARE = 0.1
"""CPU time that one group needs more must be this share of the wall time, and START_S: of a program
that sleeps or waits it is a few milliseconds, which scatter by what the kernel does, and what is
left out of them shows in the response."""

OTHER_WORK = 2.5
"""Beyond this no placing of threads explains the difference: one group did not do the work."""

LEAST_IN_GROUP = 0.1
"""A smaller group is a few outliers, which the fit finds by itself."""

LEAST_APART = 4
"""The groups must lie further apart than this, in standard deviations within them."""

TAILS = 3
"""Degrees of freedom of Student's t, with tails as heavy as those of timings or heavier."""

BORROWED = 0.03
"""With less, a level of three trials that agree by luck decides; with more, an outlier does."""

DISTANCES = np.linspace(0.3, 1.4, 15)
"""Where the distance of the groups is looked for, in the median over levels of the widest distance
of two parts."""

SIMULATED = 4_999
MOST_SIMULATED_TRIALS = 2_000_000
LEAST_SPREAD = 0.02
"""Groups are told apart in the spread of a real program; perfect agreement within them is
rounding."""

TRACES = ("stdout_lines", "io_read_bytes", "io_written_bytes")
"""What a program prints, reads and writes tells of its work as well; of what it prints the lines,
for the digits of its figures make the bytes."""

Cuts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""See `_cuts`."""


@finding(
    "stops",
    seen={
        "column": "{column} goes with {knob}, from {least:count} to {most:count}: the trials did "
        "not do the same work.",
        "": "Trials of the same level fall into two groups, {times:number} times apart in "
        "{column} ({few} of {trials} trials in the smaller one): they did not do the same work.",
    },
    mend={
        "": "Find what the smaller group skipped: a build that was up to date, a cache, an error "
        "that was swallowed.",
        "column": "Let every trial do the same, or judge the time of one (wall_s over {column}).",
    },
)
def work_differs(seen: Experiment) -> Iterator[Finding]:
    """Trials of a level that fall into two groups, in CPU time, the response, a count of work, what
    was read, written or printed.

    The groups lie at one distance, whichever level it is: a trial did the work or did not. Levels
    are cut by least squares, as in the test for two clusters of Engelman and Hartigan (1969,
    Journal of the American Statistical Association 64, 1647-1648). The statistic sums the
    logarithms of squares before and after. Its distribution without groups is simulated with
    Student's t of three degrees of freedom, whose tails are as heavy as those of timings.
    """
    seen = without_split(seen)
    table = seen.ended
    traces = {name: numbers(table, name) for name in TRACES if name in table}
    counts = traces | counts_of_work(seen, table)
    done = {seen.response: numbers(table, seen.response), **counts}
    wall_s = pd.Series(numbers(table, "wall_s")).median()
    least_s = np.fmax(START_S, LEAST_SHARE * wall_s)
    for name, values in {"cpu_s": cpu_s(table), **done}.items():
        values = values + 1 if name in counts else values  # nothing done is a count too
        known = np.isfinite(values) & (values > 0)
        if name == seen.response and is_coarse(values[known]):
            continue
        rows = table[known]
        sizes = rows["level"].value_counts()
        keep = rows["level"].isin(sizes.index[sizes >= LEAST_A_LEVEL]).to_numpy()
        rows, log = rows[keep], np.log(values[known][keep])
        if len(rows) < 2 * LEAST_A_LEVEL:
            continue
        levels = pd.factorize(rows["level"])[0]
        statistic, apart, spread, low, high = _split(log, levels)
        smaller = min(low, high, key=len)
        needed = OTHER_WORK if name in TRACES else GROUPS_APART if name in counts else TIMES_APART
        weight = (
            apart >= np.log(needed)
            and len(smaller) >= LEAST_IN_GROUP * len(log)
            and apart > LEAST_APART * spread
            and (name != "cpu_s" or np.expm1(apart) * np.exp(np.median(log[low])) >= least_s)
        )
        p = _p_of_split(statistic, np.bincount(levels)) if weight else 1.0
        least = rows.iloc[np.sort(smaller)]
        exact = name in counts and spread < 2 * LEAST_SPREAD
        other = (exact or apart >= np.log(OTHER_WORK)) and name not in TRACES
        yield seen.found(
            "work_differs", p, least, weight=weight, severity="stops" if other else "doubts",
            column=name, times=float(np.exp(apart)), few=len(least), trials=len(rows),
        )  # fmt: skip
    yield from other_work(seen)


def _split(
    log: np.ndarray, levels: np.ndarray
) -> tuple[float, float, float, np.ndarray, np.ndarray]:
    """Statistic of `_separation`, distance between the groups and spread within them [ln], and rows
    of the lower and the upper group; both are empty where no level is split."""
    rising = np.argsort(log, kind="stable")
    ascending = [rising[levels[rising] == level] for level in range(levels.max() + 1)]
    tables = [_cuts(log[order][None, :]) for order in ascending]
    statistic, distance = (float(part[0]) for part in _separation(tables, LEAST_SPREAD))
    none = np.array([], dtype=int)
    lows, highs, squares = [none], [none], 0.0
    for order, (before, after, gap, weight) in zip(ascending, tables, strict=True):
        cost = after[0] + weight * (gap[0] - distance) ** 2
        cut = int(np.argmin(cost))
        split = cost[cut] < before[0]
        squares += float(after[0, cut] if split else before[0])
        if split:
            lows.append(order[: cut + 1])
            highs.append(order[cut + 1 :])
    df = max(len(log) - (len(tables) + len(lows) - 1), 1)  # a mean for each group
    spread = float(np.hypot(np.sqrt(squares / df), LEAST_SPREAD))
    low, high = np.concatenate(lows), np.concatenate(highs)
    return statistic, distance if len(low) else 0.0, spread, low, high


def _separation(tables: Sequence[Cuts], spread: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """How much smaller the squares within levels are with two groups at one distance, and that
    distance, shape (m,) each.

    tables: of `_cuts`, one a level. spread: added to that within groups [ln]. For each distance a
    level is cut where that leaves the least squares, or not at all; the statistic is the sum over
    levels of the logarithm of squares before and after, at the best distance. A level of few trials
    may split well by luck: each borrows from the mean of all (Smyth 2004, Statistical Applications
    in Genetics and Molecular Biology 3, 3, moderates variances so).
    """
    rounding = [spread**2 * gap.shape[1] for _, _, gap, _ in tables]
    before = _borrowing([slack + more for (slack, *_), more in zip(tables, rounding, strict=True)])
    typical_gap = np.median([gap.max(axis=1) for _, _, gap, _ in tables], axis=0)
    best, at = np.full(len(typical_gap), -np.inf), np.zeros(len(typical_gap))
    for share in DISTANCES:
        distance = share * typical_gap
        after = [
            np.minimum((left + weight * (gap - distance[:, None]) ** 2).min(axis=1), whole) + more
            for (whole, left, gap, weight), more in zip(tables, rounding, strict=True)
        ]
        statistic = np.log(before / _borrowing(after)).sum(axis=0)
        at = np.where(statistic > best, distance, at)
        best = np.maximum(statistic, best)
    return best, at


def _borrowing(squares: Sequence[np.ndarray]) -> np.ndarray:
    """Each level's squares with BORROWED of their mean over levels, shape (levels, m)."""
    own = np.array(squares)
    return own + BORROWED * own.mean(axis=0)


def _cuts(ascending: np.ndarray) -> Cuts:
    """Sum of squares of each row, shape (m,); of its two parts for every cut, and the distance of
    their means, shape (m, size - 1); weight of a squared distance, shape (size - 1,)."""
    size = ascending.shape[1]
    deviation = ascending - ascending.mean(axis=1, keepdims=True)
    whole, i = (deviation**2).sum(axis=1), np.arange(1, size)
    weight = i * (size - i) / size
    gap = -np.cumsum(deviation, axis=1)[:, :-1] / weight
    return whole, np.maximum(whole[:, None] - weight * gap**2, 0), gap, weight


def _p_of_split(statistic: float, sizes: np.ndarray) -> float:
    """How often trials without groups split as well."""
    rng = np.random.default_rng(SEED)
    count = min(SIMULATED, max(MOST_SIMULATED_TRIALS // int(sizes.sum()), 999))
    drawn, _ = _separation(
        [_cuts(np.sort(rng.standard_t(TAILS, (count, size)), axis=1)) for size in sizes]
    )
    return (1 + int(np.sum(drawn >= statistic))) / (1 + count)
