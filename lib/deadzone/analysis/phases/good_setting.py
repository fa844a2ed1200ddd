"""How probably a setting is a good one: what least loss chooses on the true curve, or hardly worse
and hardly larger.

The estimates of a curve choose well where they are sure. Where a plateau still gains a little, or
the levels are rough, the least loss at the estimates stops a level too early as often as too late,
and the first costs more. So the setting that is good on most of the curves that the trials allow is
chosen: the probability of good selection (Ni, Ciocan, Henderson and Hunter 2017, Operations
Research 65, 821-836), a decision under a loss that is 0 for a good setting and 1 for another.
"""

import numpy as np

from deadzone.analysis.phases.best_set import BestSet
from deadzone.analysis.phases.candidates import Candidates

HARDLY_LARGER = float(np.log2(1.25))
"""A quarter more of the knob is hardly larger [doublings], and so is the next setting: between two
there was nothing to choose."""


def chance_of_good(
    candidates: Candidates, tied_set: BestSet, price: float, eligible: np.ndarray
) -> np.ndarray:
    """Probability of each candidate that it is a good setting, shape (n,); -inf of those that are
    not eligible, shape (n,), bool.

    Of a curve the setting of least loss is ideal: the loss is what a setting is worse than the best
    beyond tied_set.tolerance, and `price` for each doubling of the knob. Good is what is as good as
    the ideal or within the tolerance of the best, up to another tolerance, and hardly larger than
    the ideal.
    """
    taken = candidates.doublings
    worse = _worse(candidates, tied_set)
    allowed = np.log1p(tied_set.tolerance)
    loss = np.maximum(worse - allowed, 0.0) + price * taken
    ideal = np.argmin(np.where(eligible, loss, np.inf), axis=1)
    needed = np.maximum(np.take_along_axis(worse, ideal[:, None], axis=1), allowed)
    _, place = np.unique(taken, return_inverse=True)
    hardly = (place <= place[ideal][:, None] + 1) | (taken <= taken[ideal][:, None] + HARDLY_LARGER)
    return np.where(eligible, ((worse <= needed + allowed) & hardly).mean(axis=0), -np.inf)


def chance_within(candidates: Candidates, tied_set: BestSet) -> np.ndarray:
    """Probability of each candidate that it is worse than the best by no more than the tolerance,
    shape (n,)."""
    return (_worse(candidates, tied_set) <= np.log1p(tied_set.tolerance)).mean(axis=0)


def _worse(candidates: Candidates, tied_set: BestSet) -> np.ndarray:
    """How much worse than the best each candidate is on each curve that the trials allow, shape
    (draws, n)."""
    drawn = candidates.sign * candidates["estimate"] + tied_set.drawn
    return drawn - drawn.min(axis=1, keepdims=True)
