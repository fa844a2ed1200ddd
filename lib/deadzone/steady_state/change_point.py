"""Where a series settles: the exact posterior of the moment after which its level changes no more.

The series before that moment may have any number of levels, the series after it has one. All ways
to cut the first part are summed exactly by a forward recursion (Fearnhead 2006, Exact and efficient
Bayesian inference for multiple changepoint problems, Statistics and Computing 16), for each of
several sizes of the noise, so no random numbers are drawn. That a program need not settle at all is
a hypothesis of its own (Barrett, Bolz-Tereick, Killick, Mount and Tratt 2017, Virtual machine
warmup blows hot and cold, OOPSLA).
"""

from dataclasses import dataclass

import numpy as np

NOISE_FACTORS = np.geomspace(0.5, 3.0, 8)
"""Sizes of the noise that are tried, as multiples of what neighbouring values suggest."""

NO_WARMUP = 0.5
"""Prior probability that the series is steady from its first value on."""

NEVER_STEADY = 0.1
"""Prior probability that the series does not settle within what was recorded."""

LEVELS_BEFORE = 3.0
"""Levels that a series runs through before it settles, on average: what decays in a curve becomes a
few steps."""

LEAST_STEADY = 0.25
"""A level that was held for less than this share of the series is not called a steady state."""

SMALLEST_NOISE = 1e-3
"""Changes of ln(value) below a tenth of a percent are no change."""

WIDEST = 3.0
"""Levels spread around their median by up to about this many ln units: a factor of 20 either
way."""


@dataclass(frozen=True)
class Settling:
    """When a series settles.

    begins: shape (n,), probability that the steady state begins with that value; sums to `reached`.
    reached: probability that it was reached at all.
    """

    begins: np.ndarray
    reached: float


def settling(x: np.ndarray, weight: np.ndarray, noise: float) -> Settling:
    """Posterior of the moment from which on a series keeps one level.

    x: shape (n,), the series, n >= 4 (for positive quantities their logarithm). weight: shape (n,),
    from 0 for a value that is passed over to 1 for one that counts whole; less than 1 where
    neighbours are correlated. noise: standard deviation of a value around its level, about; factors
    of it are weighed against each other.
    """
    n = len(x)
    spread = max(float(np.ptp(x)), 4 * noise, SMALLEST_NOISE)
    noises = np.maximum(NOISE_FACTORS * noise, SMALLEST_NOISE)
    table = _log_posterior(_levels(x, weight, noises, min(spread, WIDEST)), n)
    share = np.exp(table - table.max())
    share /= share.sum()
    whole = share.sum(axis=0)
    return Settling(whole[:n], float(whole[:n].sum()))


def _levels(x: np.ndarray, weight: np.ndarray, noises: np.ndarray, spread: float) -> np.ndarray:
    """log likelihood of x[i:j] having one level, the level integrated out; -inf for j <= i.

    noises: shape (k,). Returns shape (k, n + 1, n + 1). The level is normal around the median of
    the series with a standard deviation of `spread`.
    """
    centred = x - np.median(x)
    sums = (np.concatenate([[0.0], np.cumsum(weight * centred**power)]) for power in (0, 1, 2))
    count, first, second = (s[None, None, :] - s[None, :, None] for s in sums)
    count = np.maximum(count, 0.0)
    variance = (noises**2)[:, None, None]
    precision = count / variance + 1 / spread**2
    score = (
        -0.5 * count * np.log(2 * np.pi * variance)
        - 0.5 * np.log(precision * spread**2)
        - 0.5 * second / variance
        + 0.5 * (first / variance) ** 2 / precision
    )
    at = np.arange(len(x) + 1)
    return np.where(at[None, :] > at[:, None], score, -np.inf)


def _log_posterior(scores: np.ndarray, n: int) -> np.ndarray:
    """log of prior times likelihood of settling at each value, and last of never settling; shape
    (k, n + 1).

    scores: shape (k, n + 1, n + 1).
    """
    change = min(LEVELS_BEFORE / n, 0.5)
    before = np.full((len(scores), n + 1), -np.inf)
    before[:, 0] = 0.0
    for stop in range(1, n + 1):
        starts = np.arange(stop)
        prior_of_piece = np.where(starts > 0, np.log(change), 0.0) + (stop - starts - 1) * np.log1p(
            -change
        )
        before[:, stop] = _log_sum(before[:, :stop] + prior_of_piece + scores[:, :stop, stop])
    latest = int(np.floor(n * (1 - LEAST_STEADY)))
    prior = np.full(n, -np.inf)
    prior[0] = np.log(NO_WARMUP)
    prior[1 : latest + 1] = np.log((1 - NO_WARMUP - NEVER_STEADY) / max(latest, 1))
    steady = prior + before[:, :n] + scores[:, :n, n]
    late = np.arange(latest + 1, n)
    if not len(late):
        return np.column_stack([steady, np.full(len(scores), -np.inf)])
    opened = (
        before[:, late] + np.log(change) + (n - late - 1) * np.log1p(-change) + scores[:, late, n]
    )
    return np.column_stack([steady, np.log(NEVER_STEADY) + _log_sum(opened)])


def _log_sum(a: np.ndarray) -> np.ndarray:
    """log of the sum of exponentials along the last axis."""
    top = a.max(axis=-1)
    summed: np.ndarray = top + np.log(np.exp(a - top[..., None]).sum(axis=-1))
    return summed
