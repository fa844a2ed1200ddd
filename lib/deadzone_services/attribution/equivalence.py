"""Two questions about one part of a slowdown: does it explain next to nothing of it, or at least a
part that matters?

The margin between the two is a share of the slowdown to be explained, plus a share of the faster
response: a part matters in proportion to what it is to explain, and what is small beside the
response itself explains nothing. It is no number fixed beforehand, so it is not put into the test
as one: that a part c differs by less than m times the difference of the response t is tested as c -
m t differing by less than nothing, which needs no estimate of the slowdown (as for ratios of means:
Hauschke, Kieser, Diletti and Burke 1999, Statistics in Medicine 18, 93-105).

- same: two one-sided tests (TOST; Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics
  15, 657-680), each a rank test (Wellek 2010, Testing Statistical Hypotheses of Equivalence and
  Noninferiority). Its p-value is the larger.
- no_more: the one of the two that asks whether the part is longer in the slower environment. It is
  enough where a part is shorter there because something else takes its time at once: a client that
  waits for a slow service sends no slower.
- more: one rank test beyond the same margin. Both cannot be shown at once.
"""

import math
from dataclasses import dataclass

import numpy as np

from deadzone.analysis.hypothesis_tests.ranks import rank_sum

MARGIN = 0.1
"""A part that explains less than a tenth of the slowdown is not what to look for."""

FLOOR = 0.05
"""Of the faster response: two runs of one program on one machine often differ by as much."""

LEAST_S = 0.005
"""Nor does anything below 5 ms count: that is about what starting to run again costs on a busy
machine."""


@dataclass(frozen=True)
class Margin:
    """What a part must stay under to explain next to nothing, and exceed to be named.

    share: of the slowdown; 0 where none is shown, of which a part could be a share. floor_s: added
    to it [s].
    """

    share: float
    floor_s: float

    def seconds(self, slowdown: float) -> float:
        """The margin for a slowdown of so many seconds."""
        return self.share * max(slowdown, 0.0) + self.floor_s


@dataclass(frozen=True)
class EquivalenceTest:
    """p-values: that the part is not the same on both sides, that it is more on the slower one, and
    that it is not; nan untested."""

    same: float
    no_more: float
    more: float


def floor_of(fast: np.ndarray) -> float:
    """The part of the margin that does not depend on the slowdown [s].

    fast: responses of the faster side, shape (n,).
    """
    return max(FLOOR * float(np.median(fast)), LEAST_S)


def examine(
    slow: np.ndarray,
    slow_response: np.ndarray,
    fast: np.ndarray,
    fast_response: np.ndarray,
    margin: Margin,
) -> EquivalenceTest:
    """Test one part of the response between two samples of trials.

    slow, fast: the part [s], shapes (n,) and (m,); trials without it (nan) are left out.
    slow_response, fast_response: the response of the same trials [s].
    """
    slow, slow_response = _known(slow, slow_response)
    fast, fast_response = _known(fast, fast_response)
    if not len(slow) or not len(fast):
        return EquivalenceTest(math.nan, math.nan, math.nan)
    m, f = margin.share, margin.floor_s
    under = fast - m * fast_response, slow - m * slow_response - f
    above = fast + m * fast_response, slow + m * slow_response + f
    no_more, more = rank_sum(*under, "less"), rank_sum(*under, "greater")
    return EquivalenceTest(max(no_more, rank_sum(*above, "greater")), no_more, more)


def _known(part: np.ndarray, response: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kept = np.isfinite(part) & np.isfinite(response)
    return part[kept], response[kept]
