"""Is the difference of two counts more than chance?

Methods: limits of a weighted sum of Poisson counts by gamma quantiles (Fay and Feuer 1997; for equal weights
they are Garwood's exact limits of 1936); the limits of a difference from those of its two parts (MOVER, Zou
and Donner 2008); the test of no change by conditioning on the sum, which makes the count after binomial
(Przyborowski and Wilenski 1940), exact for equal weights and at worst too cautious.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

LEVEL = 0.95
"""Probability with which an interval holds the true value, over many profiles."""


class Limits(NamedTuple):
    """Lower and upper limits, arrays of one shape."""

    low: np.ndarray
    high: np.ndarray


def sum_limits(
    total: np.ndarray, variance: np.ndarray, weight: np.ndarray | float, level: float = LEVEL
) -> Limits:
    """Limits of the expected value of sums of sampled events.

    total, variance: shape (n,), >= 0, in the unit and its square.
    weight: size of one more event, > 0, one for all or of shape (n,).
    """
    tail = (1 - level) / 2
    total, variance = np.maximum(total, 0.0), np.maximum(variance, 0.0)
    present = (total > 0) & (variance > 0)
    one = np.where(present, total, 1.0), np.where(present, variance, 1.0)
    low = np.where(present, one[1] / (2 * one[0]) * _chi2(tail, 2 * one[0] ** 2 / one[1]), 0.0)
    more, spread = total + weight, variance + weight**2
    high = spread / (2 * more) * _chi2(1 - tail, 2 * more**2 / spread)
    return Limits(low, high)


def difference_limits(before: np.ndarray, after: np.ndarray, of_before: Limits, of_after: Limits) -> Limits:
    """Limits of after - before from those of each, all of shape (n,)."""
    change = after - before
    below = np.hypot(after - of_after.low, of_before.high - before)
    above = np.hypot(of_after.high - after, before - of_before.low)
    return Limits(change - below, change + above)


def no_change_p(
    before: np.ndarray, after: np.ndarray, weight_before: np.ndarray, weight_after: np.ndarray
) -> np.ndarray:
    """Two-sided probability of counts as unequal as these if the expected amounts are the same.

    before, after: shape (n,), amounts >= 0. weight_before, weight_after: shape (n,), > 0, amount an event.
    Returns shape (n,). An amount expected to be the same on both sides is amount / weight events on each,
    so of all events the share w_before / (w_before + w_after) is expected after.
    """
    events_before, events_after = before / weight_before, after / weight_after
    share = weight_before / (weight_before + weight_after)
    at_most = special.betainc(np.maximum(events_before, 1e-12), events_after + 1, 1 - share)
    at_least = special.betainc(np.maximum(events_after, 1e-12), events_before + 1, share)
    at_most = np.where(events_before <= 0, 1.0, at_most)
    at_least = np.where(events_after <= 0, 1.0, at_least)
    return np.minimum(1.0, 2 * np.minimum(at_most, at_least))


def _chi2(probability: float, degrees: np.ndarray) -> np.ndarray:
    """Quantile of the chi-squared distribution; scipy.stats would take longer to load than to compute it."""
    quantile: np.ndarray = 2 * special.gammaincinv(degrees / 2, probability)
    return quantile
