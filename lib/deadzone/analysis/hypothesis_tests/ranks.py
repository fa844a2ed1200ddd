"""Rank tests of a shift between two samples, exact where trials are few, with ties and with strata.

Unpaired trials: the Mann-Whitney test (1947, Annals of Mathematical Statistics 18, 50-60); several
treatments are strata, whose statistics add up (van Elteren 1960; Lehmann 1975, Nonparametrics,
section 3.3). Paired trials: the Wilcoxon signed-rank test (1945, Biometrics 1, 80-83). Both are
permutation tests on ranks: their null distribution, ties included, is counted out by the shift
algorithm (Streitberg and Röhmel 1986, Computational Statistics 12), so that three trials a side are
judged by what three trials can show. Ranks rather than times, because one stalled trial must not
decide.

Two questions are asked of a shift: whether there is any change, and whether there is none that
matters. Each is a rank test; a margin is a shift of B against A before ranking. Equivalence is two
one-sided tests against the margin (Wellek 2010, Testing Statistical Hypotheses of Equivalence and
Noninferiority).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

MOST_EXACT = 40
"""Trials of a treatment up to which the distribution is counted out; beyond, the normal
approximation is within 0.001 of it."""

LONGEST_EXACT = 6_000
"""Values that a sum over strata may take before the normal approximation takes over: by then it is
a sum of very many ranks, and counting would take seconds."""


@dataclass(frozen=True)
class RankTest:
    """p-values of a test whether the second sample lies below or above the first.

    less, greater: one-sided, that the second is smaller or larger.
    """

    less: float
    greater: float

    @property
    def two_sided(self) -> float:
        """p-value of any difference: twice the smaller side, at most 1."""
        return min(1.0, 2.0 * min(self.less, self.greater))


@dataclass(frozen=True, eq=False)
class _Null:
    """A statistic in whole steps: observed, and what it does when there is no shift.

    probability: shape (k,), of the values 0 ... k - 1; None where it was not counted out.
    """

    observed: float
    mean: float
    variance: float
    probability: np.ndarray | None


def rank_sum(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> RankTest:
    """Mann-Whitney test of unpaired samples, summed over strata.

    pairs: for each stratum the first and the second sample, shapes (n,) and (m,), one unit; empty
    ones count for nothing. Raises nothing; without any trial both p-values are 1.
    """
    return _tails([_mann_whitney(a, b) for a, b in pairs if len(a) and len(b)])


def signed_rank(differences: Sequence[np.ndarray]) -> RankTest:
    """Wilcoxon signed-rank test of paired samples, summed over strata.

    differences: for each stratum second minus first, shape (n,); differences of zero are left out,
    as by Wilcoxon.
    """
    return _tails([_wilcoxon(d[d != 0]) for d in differences if np.any(d != 0)])


def smallest_p(n: int, m: int, sides: int = 2) -> float:
    """The smallest p-value, two-sided or one-sided, that n and m unpaired trials without ties can
    give."""
    from scipy.special import comb

    return min(1.0, sides / float(comb(n + m, n))) if n and m else 1.0


def least_trials(tests: int, confidence: float, sides: int = 2) -> int:
    """Trials a side below which a rank test can show nothing, however large the change and small
    the noise.

    tests: made together, >= 1. confidence: of the verdicts, in (0, 1).
    """
    return next(n for n in range(1, 1000) if smallest_p(n, n, sides) * tests <= 1 - confidence)


def _mann_whitney(a: np.ndarray, b: np.ndarray) -> _Null:
    """Twice U: pairs in which b is larger count 2, ties 1."""
    n, m = len(a), len(b)
    doubled = _doubled_ranks(np.concatenate([a, b]))
    observed = float(doubled[n:].sum() - m * (m + 1))
    size = n + m
    variance = n * m / (size * (size - 1)) * float(((doubled - (size + 1)) ** 2).sum())
    exact = (
        _rank_sum_distribution(tuple(sorted(doubled.tolist())), m) if size <= MOST_EXACT else None
    )
    return _Null(observed, float(n * m), variance, exact)


def _wilcoxon(d: np.ndarray) -> _Null:
    """Twice the sum of the ranks of positive differences."""
    doubled = _doubled_ranks(np.abs(d))
    exact = None
    if len(d) <= MOST_EXACT:
        exact = np.ones(1)
        for rank in doubled.tolist():
            step = np.zeros(rank + 1)
            step[[0, rank]] = 0.5
            exact = np.convolve(exact, step)
    return _Null(
        float(doubled[d > 0].sum()), float(doubled.sum()) / 2, float((doubled**2).sum()) / 4, exact
    )


def _doubled_ranks(values: np.ndarray) -> np.ndarray:
    """Twice the midranks, which are whole numbers; shape (n,)."""
    return np.rint(2 * pd.Series(values).rank().to_numpy(float)).astype(int)


@cache
def _rank_sum_distribution(doubled: tuple[int, ...], m: int) -> np.ndarray:
    """Probability of each value of twice U when any m of the ranks may be the second sample's."""
    ways = np.zeros((m + 1, sum(sorted(doubled)[-m:]) + 1))
    ways[0, 0] = 1.0
    for rank in doubled:
        more = ways.copy()
        more[1:, rank:] += ways[:-1, :-rank]
        ways = more
    counted = ways[m, m * (m + 1) :]
    return counted / counted.sum()


def _tails(nulls: Sequence[_Null]) -> RankTest:
    if not nulls:
        return RankTest(1.0, 1.0)
    observed = sum(null.observed for null in nulls)
    known = [null.probability for null in nulls if null.probability is not None]
    if len(known) == len(nulls) and sum(map(len, known)) <= LONGEST_EXACT:
        return _exact_tails(known, round(observed))
    return _normal_tails(nulls, observed)


def _exact_tails(known: Sequence[np.ndarray], observed: int) -> RankTest:
    whole = np.ones(1)
    for probability in sorted(known, key=len):
        whole = np.convolve(whole, probability)
    less, greater = float(whole[: observed + 1].sum()), float(whole[observed:].sum())
    return RankTest(min(less, 1.0), min(greater, 1.0))


def _normal_tails(nulls: Sequence[_Null], observed: float) -> RankTest:
    """With a correction for continuity of half a rank, which is one step of a doubled statistic."""
    from scipy.special import ndtr

    spread = sum(null.variance for null in nulls) ** 0.5
    if spread == 0:
        return RankTest(1.0, 1.0)
    away = observed - sum(null.mean for null in nulls)
    return RankTest(float(ndtr((away + 1) / spread)), float(ndtr((1 - away) / spread)))


Pairs = Sequence[tuple[np.ndarray, np.ndarray]]
"""For each treatment the values of A and of B."""


def p_change(pairs: Pairs, paired: bool) -> float:
    """p-value that B differs from A, in either direction, over all treatments given."""
    return _test(pairs, paired, 0.0).two_sided


def p_equivalence(pairs: Pairs, paired: bool, margin: float, absolute: bool = False) -> float:
    """p-value that the ratio of B to A is not within 1 + margin and its inverse: the larger of two
    one-sided tests.

    margin: > 0; a fraction, or in the response's unit where absolute, and then of their difference.
    """
    shift = margin if absolute else math.log1p(margin)
    below = _test(pairs, paired, -shift, absolute).less
    return max(below, _test(pairs, paired, shift, absolute).greater)


def _test(pairs: Pairs, paired: bool, shift: float, absolute: bool = False) -> RankTest:
    """The rank test of B, shifted, against A; shift: of ln(value), or of the value where
    absolute."""
    # Nothing but zeros on both sides is the same evidence as nothing but ones, and can be shifted.
    if not absolute:
        pairs = [(a, b) if a.any() or b.any() else (a + 1.0, b + 1.0) for a, b in pairs]
    if paired:
        return signed_rank([_differences(a, b, absolute) + shift for a, b in pairs])
    return rank_sum([(a, b + shift if absolute else b * math.exp(shift)) for a, b in pairs])


def _differences(a: np.ndarray, b: np.ndarray, absolute: bool) -> np.ndarray:
    if absolute:
        return np.asarray(b - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((a == 0) & (b == 0), 0.0, np.log(b) - np.log(a))
