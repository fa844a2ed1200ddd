"""The parts of the response in the slow and in the fast environment: how much, how different, and
what the tests say.

How much is the mean of the middle half of the trials, with what each part of the response
contributes to it. Trials are ordered by their response and a quarter is left out at either end (the
midmean; Tukey 1977, Exploratory Data Analysis): a stalled trial does not decide, and since every
part is averaged over the same trials, the parts of a difference still add up to it exactly, as
those of medians would not.

The tests ask whether a part explains next to nothing of the slowdown, or at least a part that
matters. The margin between the two is a share of the slowdown to be explained, plus a share of the
faster response: a part matters in proportion to what it is to explain, and what is small beside the
response itself explains nothing. It is no number fixed beforehand, so it is not put into the test
as one: that a part c differs by less than m times the difference of the response t is tested as c -
m t differing by less than nothing, which needs no estimate of the slowdown (as for ratios of means:
Hauschke, Kieser, Diletti and Burke 1999, Statistics in Medicine 18, 93-105).

- p_same: two one-sided tests (TOST; Schuirmann 1987, Journal of Pharmacokinetics and
  Biopharmaceutics 15, 657-680), each a rank test (Wellek 2010, Testing Statistical Hypotheses of
  Equivalence and Noninferiority). Its p-value is the larger.
- p_no_more: the one of the two that asks whether the part is longer in the slower environment. It
  is enough where a part is shorter there because something else takes its time at once: a client
  that waits for a slow service sends no slower.
- p_more: one rank test beyond the same margin. Both cannot be shown at once.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.compare.ratio import interval
from deadzone.analysis.hypothesis_tests.ranks import rank_sum
from deadzone_services.attribution.parts import TOTAL

DRAWS = 2_000
SEED = 1977
"""Of the bootstrap; fixed, so that the same trials always give the same interval."""

MARGIN = 0.1
"""A part that explains less than a tenth of the slowdown is not what to look for."""

FLOOR = 0.05
"""Of the faster response: two runs of one program on one machine often differ by as much."""

LEAST_S = 0.005
"""Nor does anything below 5 ms count: that is about what starting to run again costs on a busy
machine."""

SECONDS = ("fast_s", "slow_s", "difference_s", "low_s", "high_s")
SHARES = ("share", "share_low", "share_high")


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


def floor_of(fast: np.ndarray) -> float:
    """The part of the margin that does not depend on the slowdown [s].

    fast: responses of the faster side, shape (n,).
    """
    return max(FLOOR * float(np.median(fast)), LEAST_S)


def midmean(values: np.ndarray, response: np.ndarray) -> np.ndarray:
    """Means over the middle half of the trials by their response; of the trials that have a value.

    values: shape (..., trials, parts). response: shape (..., trials). Returns shape (..., parts),
    nan where none has a value.
    """
    n = response.shape[-1]
    order = np.argsort(response, axis=-1, kind="stable")[..., n // 4 : n - n // 4]
    middle = np.take_along_axis(values, order[..., None], axis=-2)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(middle, axis=-2) / np.isfinite(middle).sum(axis=-2))


def drawn(values: np.ndarray, response: np.ndarray, stream: int) -> np.ndarray:
    """Midmeans of bootstrap resamples, shape (DRAWS, parts); nan where there is a single trial.

    values: shape (trials, parts). response: shape (trials,). stream: number of the random stream,
    one for each independent sample.
    """
    n = len(response)
    if n < 2:
        return np.full((DRAWS, values.shape[1]), np.nan)
    rng = np.random.default_rng(np.random.SeedSequence(SEED).spawn(stream + 1)[stream])
    chosen = rng.integers(0, n, (DRAWS, n))
    return midmean(values[chosen], response[chosen])


def side_by_side(slow: pd.DataFrame, fast: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Every part of two environments, one row a part, with the columns SECONDS and SHARES.

    slow, fast: seconds as `parts.parts_of` gives them. The intervals are of the bootstrap; nan with
    a single trial. A share of the slowdown is nan where there is none, and its interval where none
    is shown.
    """
    sides = [(side.to_numpy(float), side[TOTAL].to_numpy(float)) for side in (slow, fast)]
    means = [midmean(*side) for side in sides]
    draws = [drawn(*side, stream) for stream, side in enumerate(sides)]
    difference, spread = means[0] - means[1], draws[0] - draws[1]
    total = slow.columns.get_loc(TOTAL)
    ends = _intervals(spread, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = difference / (difference[total] if difference[total] > 0 else math.nan)
        of_total = spread / spread[:, [total]] if ends[total][0] > 0 else spread * math.nan
    columns = (means[1], means[0], difference, ends, shares, _intervals(of_total, confidence))
    return pd.DataFrame(
        np.column_stack(columns), index=slow.columns, columns=[*SECONDS, *SHARES]
    ).rename_axis("part")


def _intervals(draws: np.ndarray, confidence: float) -> np.ndarray:
    """Of each column, shape (parts, 2), from the draws in which it has a value."""
    known = (column[np.isfinite(column)] for column in draws.T)
    return np.array([interval(column, confidence) for column in known])


def p_values(slow: pd.DataFrame, fast: pd.DataFrame, part: str, margin: Margin) -> dict[str, float]:
    """p_same, p_no_more and p_more of a part of two environments; nan where it is in none of the
    trials of one. Trials without it are left out."""
    sides = [side[[part, TOTAL]].dropna().to_numpy(float).T for side in (slow, fast)]
    if not all(side.size for side in sides):
        return dict.fromkeys(("p_same", "p_no_more", "p_more"), math.nan)
    (slow_s, slow_total), (fast_s, fast_total) = sides
    m, f = margin.share, margin.floor_s
    under = fast_s - m * fast_total, slow_s - m * slow_total - f
    above = fast_s + m * fast_total, slow_s + m * slow_total + f
    no_more, more = rank_sum(*under, "less"), rank_sum(*under, "greater")
    return {
        "p_same": max(no_more, rank_sum(*above, "greater")),
        "p_no_more": no_more,
        "p_more": more,
    }
