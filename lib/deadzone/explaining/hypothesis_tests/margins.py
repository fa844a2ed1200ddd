"""p-values of the two questions about a shift: any change, and no change that matters.

Each is a rank test; a margin is a shift of B against A before ranking. Equivalence is two one-sided tests against the
margin (Wellek 2010, Testing Statistical Hypotheses of Equivalence and Noninferiority).
"""

import math
from collections.abc import Sequence

import numpy as np

from deadzone.explaining.hypothesis_tests.ranks import RankTest, rank_sum, signed_rank

Pairs = Sequence[tuple[np.ndarray, np.ndarray]]
"""For each treatment the values of A and of B."""


def p_change(pairs: Pairs, paired: bool) -> float:
    """p-value that B differs from A, in either direction, over all treatments given."""
    return _test(pairs, paired, 0.0).two_sided


def p_equivalence(pairs: Pairs, paired: bool, margin: float, absolute: bool = False) -> float:
    """p-value that the ratio of B to A is not within 1 + margin and its inverse: the larger of two one-sided tests.

    margin: > 0; a fraction, or in the response's unit where absolute, and then of their difference.
    """
    shift = margin if absolute else math.log1p(margin)
    below = _test(pairs, paired, -shift, absolute).less
    return max(below, _test(pairs, paired, shift, absolute).greater)


def _test(pairs: Pairs, paired: bool, shift: float, absolute: bool = False) -> RankTest:
    """The rank test of B, shifted, against A; shift: of ln(value), or of the value where absolute."""
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
