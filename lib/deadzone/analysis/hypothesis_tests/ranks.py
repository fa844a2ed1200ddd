"""Rank tests of a shift between two samples, of one treatment or summed over several.

Unpaired trials: the Mann-Whitney test (1947, Annals of Mathematical Statistics 18, 50-60). Paired
trials: the Wilcoxon signed-rank test (1945, Biometrics 1, 80-83). Both are SciPy's, exact where
trials are few, so that three trials a side are judged by what three trials can show. Ranks rather
than times, because one stalled trial must not decide.

Several treatments are strata, whose statistics add up (van Elteren 1960; Lehmann 1975,
Nonparametrics, section 3.3); their sum is soon normal. P-values that are combined afterwards
(Fisher, Stouffer) would lose what few trials a treatment can show: eight treatments of one trial a
side, all of them slower, give 0.013 here and nothing there.

Two questions are asked of a shift: whether there is any change, and whether there is none that
matters. Each is a rank test; a margin is a shift of B against A before ranking. Equivalence is two
one-sided tests against the margin (Wellek 2010, Testing Statistical Hypotheses of Equivalence and
Noninferiority).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

MOST_EXACT = 40
"""Trials of a treatment up to which the distribution is counted out; beyond, the normal
approximation is within 0.001 of it."""

Alternative = Literal["two-sided", "less", "greater"]
"""Of the second sample against the first."""

Pairs = Sequence[tuple[np.ndarray, np.ndarray]]
"""For each treatment the values of A and of B."""


def rank_sum(a: np.ndarray, b: np.ndarray, alternative: Alternative = "two-sided") -> float:
    """p-value of the Mann-Whitney test of b against a, shapes (m,) and (n,), in one unit, at least
    one value each. With ties among few trials it is rather too large."""
    from scipy.stats import mannwhitneyu

    is_exact = len(a) + len(b) <= MOST_EXACT
    method: Literal["exact", "asymptotic"] = "exact" if is_exact else "asymptotic"
    return float(np.asarray(mannwhitneyu(b, a, alternative=alternative, method=method).pvalue))


def signed_rank(differences: np.ndarray, alternative: Alternative = "two-sided") -> float:
    """p-value of the Wilcoxon signed-rank test of differences, shape (n,); those of zero are left
    out, as by Wilcoxon."""
    from scipy.stats import wilcoxon

    kept = differences[differences != 0]
    if not len(kept):
        return 1.0
    method: Literal["exact", "approx"] = "exact" if len(kept) <= MOST_EXACT else "approx"
    tested = wilcoxon(kept, correction=True, alternative=alternative, method=method)
    return float(np.asarray(tested.pvalue))


def p_change(pairs: Pairs, paired: bool) -> float:
    """p-value that B differs from A, in either direction, over all treatments given."""
    return _p_value(pairs, paired, 1.0, "two-sided")


def p_equivalence(pairs: Pairs, paired: bool, margin: float) -> float:
    """p-value that the ratio of B to A is not within 1 + margin and its inverse: the larger of two
    one-sided tests.

    margin: a fraction > 0.
    """
    below = _p_value(pairs, paired, 1 / (1 + margin), "less")
    return max(below, _p_value(pairs, paired, 1 + margin, "greater"))


def smallest_p(n: int, m: int, sides: int = 2) -> float:
    """The smallest p-value, two-sided or one-sided, that n and m unpaired trials without ties can
    give."""
    from scipy.special import comb

    return min(1.0, sides / float(comb(n + m, n))) if n and m else 1.0


def least_trials(tests: int, confidence: float, sides: int = 2, paired: bool = False) -> int:
    """Trials a side below which a rank test can show nothing, however large the change and small
    the noise.

    tests: made together, >= 1. confidence: of the verdicts, in (0, 1). paired: of signed ranks.
    """

    def least_p(n: int) -> float:
        return sides / 2**n if paired else smallest_p(n, n, sides)

    return next(n for n in range(1, 1000) if least_p(n) * tests <= 1 - confidence)


def _p_value(pairs: Pairs, paired: bool, factor: float, alternative: Alternative) -> float:
    """p-value of B, times a factor, against A."""
    # Nothing but zeros on both sides is the same evidence as nothing but ones, and can be shifted.
    pairs = [(a, b) if a.any() or b.any() else (a + 1.0, b + 1.0) for a, b in pairs]
    if paired:
        differences = [log_ratios(a, factor * b) for a, b in pairs]
        if len(pairs) == 1:
            return signed_rank(differences[0], alternative)
        return _summed([_signed_ranks(d) for d in differences], alternative)
    if len(pairs) == 1:
        return rank_sum(pairs[0][0], factor * pairs[0][1], alternative)
    return _summed([_ranks(a, factor * b) for a, b in pairs], alternative)


def _summed(strata: Sequence[tuple[float, float]], alternative: Alternative) -> float:
    """p-value of a sum of rank statistics, each less its mean and with its variance: normal, with a
    correction for continuity of half a rank."""
    from scipy.special import ndtr

    away, variance = np.sum(strata, axis=0)
    if variance == 0:
        return 1.0
    less, greater = ndtr((0.5 + np.array([away, -away])) / variance**0.5)
    tails = {"less": less, "greater": greater, "two-sided": min(1.0, 2 * min(less, greater))}
    return float(tails[alternative])


def _ranks(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    from scipy.stats import rankdata

    n = len(a) + len(b)
    ranks = rankdata(np.concatenate([a, b])) - (n + 1) / 2
    return ranks[len(a) :].sum(), len(a) * len(b) / (n * (n - 1)) * (ranks**2).sum()


def _signed_ranks(differences: np.ndarray) -> tuple[float, float]:
    from scipy.stats import rankdata

    kept = differences[differences != 0]
    ranks = rankdata(np.abs(kept))
    return (np.sign(kept) * ranks).sum() / 2, (ranks**2).sum() / 4


def log_ratios(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """ln(b / a), of the same shape; 0 where both are zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((a == 0) & (b == 0), 0.0, np.log(b) - np.log(a))
