"""Holm's correction for several comparisons made at once (1979, Scandinavian Journal of Statistics 6, 65-70).

Several tests together: the one rule on error rates of claims, gates and hypotheses.

| what is said | rule |
| --- | --- |
| one verdict that needs all of several tests: every bound that `holds` and every objective of a load test, every rival of the `best`, every gate of a change | the largest p-value counts, without correction: an intersection-union test (Berger 1982, Technometrics 24, 295-300) |
| the opposite verdict, that at least one of them fails | the smallest p-value times their number (Bonferroni) |
| several verdicts beside each other: the claims of a study, the hypotheses of an attribution | Holm's correction (`holm`), so that with the confidence stated not one of them is wrong |
"""

from collections.abc import Sequence

import numpy as np


def all_of(p: Sequence[float]) -> float:
    """p-value of the null that not all of several alternatives hold, from those of each; at least one."""
    return max(p)


def any_of(p: Sequence[float]) -> float:
    """p-value of the null that none of several alternatives holds, from those of each; at least one."""
    return min(1.0, len(p) * min(p))


def holm(p: np.ndarray) -> np.ndarray:
    """p-values adjusted so that comparing each with the level errs anywhere with at most that probability.

    p: shape (n,), nan where no test was made; those stay nan and count for nothing. Returns shape (n,), <= 1.
    """
    adjusted = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return adjusted
