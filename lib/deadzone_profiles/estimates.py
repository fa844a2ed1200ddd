"""Amounts before and after, and the interval of their change: from replicates, or from the sample
counts.

Methods: between replicates Welch's interval and test (1947); for single profiles those of
`poisson`; q: the share of false alarms among all changes at least as sure (Benjamini and Hochberg
1995).

Is the difference of two counts more than chance?

Methods: limits of a weighted sum of Poisson counts by gamma quantiles (Fay and Feuer 1997; for
equal weights they are Garwood's exact limits of 1936); the limits of a difference from those of its
two parts (MOVER, Zou and Donner 2008); the test of no change by conditioning on the sum, which
makes the count after binomial (Przyborowski and Wilenski 1940), exact for equal weights and at
worst too cautious.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from deadzone_profiles.pairing import ProfileSide

LEVEL = 0.95
"""Probability with which an interval holds the true value, over many profiles."""

FEWEST_REPLICATES = 2
"""Replicates on both sides from which the scatter between them can be estimated."""

COLUMNS = ("before", "after", "change", "change_low", "change_high", "p", "q")


Limits = tuple[np.ndarray, np.ndarray]
"""Lower and upper limits, arrays of one shape."""


def sum_limits(total: np.ndarray, variance: np.ndarray, weight: np.ndarray | float) -> Limits:
    """Limits of the expected value of sums of sampled events.

    total, variance: shape (n,), >= 0, in the unit and its square.
    weight: size of one more event, > 0, one for all or of shape (n,).
    """
    tail = (1 - LEVEL) / 2
    total, variance = np.maximum(total, 0.0), np.maximum(variance, 0.0)
    present = (total > 0) & (variance > 0)
    size, square = np.where(present, total, 1.0), np.where(present, variance, 1.0)
    low = np.where(present, square / (2 * size) * _chi2(tail, 2 * size**2 / square), 0.0)
    more, spread = total + weight, variance + weight**2
    high = spread / (2 * more) * _chi2(1 - tail, 2 * more**2 / spread)
    return low, high


def difference_limits(
    before: np.ndarray, after: np.ndarray, of_before: Limits, of_after: Limits
) -> Limits:
    """Limits of after - before from those of each, all of shape (n,)."""
    (low_before, high_before), (low_after, high_after) = of_before, of_after
    change = after - before
    below = np.hypot(after - low_after, high_before - before)
    return change - below, change + np.hypot(high_after - after, before - low_before)


def no_change_p(
    before: np.ndarray, after: np.ndarray, weight_before: np.ndarray, weight_after: np.ndarray
) -> np.ndarray:
    """Two-sided probability of counts as unequal as these if the expected amounts are the same.

    before, after: shape (n,), amounts >= 0. weight_before, weight_after: shape (n,), > 0, amount an
    event. Returns shape (n,). An amount expected to be the same on both sides is amount / weight
    events on each, so of all events the share w_before / (w_before + w_after) is expected after.
    """
    events_before, events_after = before / weight_before, after / weight_after
    share = weight_before / (weight_before + weight_after)
    at_most = special.betainc(np.maximum(events_before, 1e-12), events_after + 1, 1 - share)
    at_least = special.betainc(np.maximum(events_after, 1e-12), events_before + 1, share)
    at_most = np.where(events_before <= 0, 1.0, at_most)
    at_least = np.where(events_after <= 0, 1.0, at_least)
    return np.minimum(1.0, 2 * np.minimum(at_most, at_least))


def _chi2(probability: float, degrees: np.ndarray) -> np.ndarray:
    """Quantile of the chi-squared distribution; scipy.stats would take longer to load than to
    compute it."""
    return np.asarray(2 * special.gammaincinv(degrees / 2, probability))


@dataclass(frozen=True, eq=False)
class Amounts:
    """Amounts of several groups (functions, packages, causes) in several profiles.

    values: shape (groups, profiles). variance: of sampling, the same shape, in the unit squared;
    None if the value is not sampled or its sampling is not stated. weight: mean size of an event,
    in the unit.
    """

    values: np.ndarray
    variance: np.ndarray | None
    weight: float

    @classmethod
    def of(cls, side: ProfileSide, values: np.ndarray, variance: np.ndarray) -> "Amounts":
        """Amounts of a side, in the unit of its pair, with what is known of its sampling."""
        sampled = all(event.variance is not None for event in side.events)
        return cls(values, variance if sampled else None, float(np.mean(side.weights)))

    @property
    def replicates(self) -> int:
        """How many profiles there are."""
        return int(self.values.shape[1])

    @property
    def mean(self) -> np.ndarray:
        """Mean over the profiles. Shape (groups,)."""
        return np.asarray(self.values.mean(axis=1))


def total_amounts(side: ProfileSide) -> Amounts:
    """One group, the whole, for every profile of a side; in the unit of the pair."""
    variances = [
        0.0 if known.variance is None else float(known.variance.sum()) * float(side.factor) ** 2
        for known in side.events
    ]
    return Amounts.of(side, np.array([side.totals]), np.array([variances]))


def method(before: Amounts, after: Amounts) -> str:
    """How the intervals were found: "replicates", "sampling", or "none"."""
    if min(before.replicates, after.replicates) >= FEWEST_REPLICATES:
        return "replicates"
    return "none" if before.variance is None or after.variance is None else "sampling"


def estimate(before: Amounts, after: Amounts) -> pd.DataFrame:
    """Change of every group.

    Returns a frame with a row for each group and the COLUMNS: means before and after, their change,
    its 95 % interval, and p and q of no change; not a number where nothing is known of the scatter.
    """
    how = method(before, after)
    if how == "replicates":
        low, high, p = _between_replicates(before.values, after.values)
    elif how == "sampling":
        low, high, p = _from_samples(before, after)
    else:
        low = high = p = np.full(len(before.values), np.nan)
    change = after.mean - before.mean
    tested = np.where((before.mean != 0) | (after.mean != 0), p, np.nan)
    columns = (before.mean, after.mean, change, low, high, p, false_alarm_share(tested))
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def false_alarm_share(p: np.ndarray) -> np.ndarray:
    """q of each p, both of shape (n,); what is not a number stays so."""
    from scipy.stats import false_discovery_control

    q, known = np.full(len(p), np.nan), np.isfinite(p)
    q[known] = false_discovery_control(p[known])
    return q


def _between_replicates(before: np.ndarray, after: np.ndarray) -> Sequence[np.ndarray]:
    """Lower and upper limits, and p; where no replicate differs nothing is known of a change."""
    from scipy import stats

    change = after.mean(axis=1) - before.mean(axis=1)
    with warnings.catch_warnings(action="ignore"):  # of replicates that are all alike
        found = stats.ttest_ind(after, before, axis=1, equal_var=False)
        limits = found.confidence_interval(LEVEL)
    alike = (before.var(axis=1) == 0) & (after.var(axis=1) == 0)
    unknown, none = alike & (change != 0), alike & (change == 0)
    return [
        np.select([unknown, none], [np.nan, same], column)
        for same, column in ((0.0, limits.low), (0.0, limits.high), (1.0, found.pvalue))
    ]


def _from_samples(before: Amounts, after: Amounts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    assert before.variance is not None and after.variance is not None
    variance = [side.variance.sum(axis=1) / side.replicates**2 for side in (before, after)]  # type: ignore[union-attr]
    weights = _event_weights(before, after, *variance)
    limits = [
        sum_limits(side.mean, spread, weight)
        for side, spread, weight in zip((before, after), variance, weights, strict=True)
    ]
    low, high = difference_limits(before.mean, after.mean, *limits)
    return low, high, no_change_p(before.mean, after.mean, *weights)


def _event_weights(
    before: Amounts, after: Amounts, variance_before: np.ndarray, variance_after: np.ndarray
) -> list[np.ndarray]:
    """Size of an event of each group on each side; where a side has none, as on the other side."""
    usual = [side.weight / side.replicates for side in (before, after)]
    usual = [own or other or 1.0 for own, other in zip(usual, usual[::-1], strict=True)]
    own = [
        np.divide(spread, side.mean, out=np.full(len(spread), np.nan), where=side.mean > 0)
        for side, spread in ((before, variance_before), (after, variance_after))
    ]
    weights = []
    for mine, other in ((0, 1), (1, 0)):
        filled = np.where(
            np.isfinite(own[mine]), own[mine], own[other] * (usual[mine] / usual[other])
        )
        weights.append(np.where(np.isfinite(filled) & (filled > 0), filled, usual[mine]))
    return weights
