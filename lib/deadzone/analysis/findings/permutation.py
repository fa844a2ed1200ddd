"""Tests that assume nothing of how responses scatter: what is exchangeable is exchanged.

Permutation tests with a fixed seed, p = (1 + as extreme) / (1 + permutations) (Phipson and Smyth
2010, Statistical Applications in Genetics and Molecular Biology 9, 39), which is never 0 and never
too small.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

PERMUTATIONS = 9_999
"""Least p 0.0001, with which one suspicion among 150 passes a family-wise 2 %."""

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
