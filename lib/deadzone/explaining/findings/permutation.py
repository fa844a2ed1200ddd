"""Tests that assume nothing of how responses scatter: what is exchangeable is exchanged.

Permutation tests with a fixed seed, p = (1 + as extreme) / (1 + permutations) (Phipson and Smyth 2010, Statistical
Applications in Genetics and Molecular Biology 9, 39), which is never 0 and never too small.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

PERMUTATIONS = 9_999
"""Least p 0.0001, with which one suspicion among 150 passes a family-wise 2 %."""

MOST_CELLS = 8_000_000
"""Permutations of long tables are fewer, so that a check takes no more than a fraction of a second."""

GLANCE, COMMON = 199, 0.1
"""A p-value that is not small after a few permutations needs no more of them (Besag and Clifford 1991, Biometrika 78,
301-304)."""

SEED = 21
"""Asked twice, a run gives the same findings."""


def permuted(values: np.ndarray, strata: np.ndarray, count: int) -> np.ndarray:
    """The values in random orders, exchanged within strata only; shape (count, n)."""
    rng = np.random.default_rng(SEED)
    keys = rng.random((count, len(values))) + strata[None, :]
    by_stratum = np.argsort(strata, kind="stable")
    drawn = np.empty((count, len(values)), dtype=values.dtype)
    drawn[:, by_stratum] = values[np.argsort(keys, axis=1)]
    return drawn


def p_value(
    statistic: Callable[[np.ndarray], np.ndarray], values: np.ndarray, strata: np.ndarray | None = None
) -> float:
    """How often exchanged values give a statistic at least as large.

    statistic: of an array of shape (m, n), one row an order; returns shape (m,). values: shape (n,). strata: shape (n,),
    integers; values are exchanged within one only.
    """
    groups = np.zeros(len(values), dtype=int) if strata is None else strata
    reached = float(statistic(values[None, :])[0])
    p = 1.0
    for count in (GLANCE, int(min(PERMUTATIONS, max(MOST_CELLS // max(len(values), 1), 999)))):
        drawn = statistic(permuted(values, groups, count))
        p = (1 + int(np.sum(drawn >= reached - 1e-12))) / (1 + count)
        if p > COMMON:
            break
    return p


def centred(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Values less the mean of their stratum, shape (n,)."""
    counts = np.bincount(strata)
    return values - (np.bincount(strata, values) / np.maximum(counts, 1))[strata]


def contrast(values: np.ndarray, marked: np.ndarray, strata: np.ndarray) -> tuple[float, float]:
    """How far marked values lie above the others of their stratum on average, and its two-sided p-value; 0 and 1 where no
    stratum has both.

    values, marked, strata: shape (n,); `strata` are integers.
    """
    side = centred(marked.astype(float), strata)
    if not np.any(side):
        return 0.0, 1.0
    p = p_value(lambda rows: np.abs(rows @ side), centred(values, strata), strata)
    return float(values @ side / (side @ side)), p


def association(values: np.ndarray, groups: np.ndarray) -> float:
    """p-value of values that do not depend on their group: Kruskal and Wallis's statistic (1952, Journal of the American
    Statistical Association 47, 583-621), permuted; ties, as of counts, do no harm. 1 where all are equal."""
    if len(values) == 0 or np.ptp(values) == 0:
        return 1.0
    rank = pd.Series(values).rank().to_numpy(float)
    member = np.eye(int(groups.max()) + 1)[groups]
    sizes = np.maximum(member.sum(axis=0), 1)
    return p_value(lambda rows: (((rows - rank.mean()) @ member) ** 2 / sizes).sum(axis=1), rank)
