"""How long a series takes to warm up, how sure that is, and whether it matters to what is
concluded.

Values are put into bins of equal time, bins that stand out alone (a pause, a neighbour) are passed
over, and the moment from which on the level stays is inferred. The direction is open: a service
gets faster, a disk whose cache fills gets slower.

The series before that moment may have any number of levels, the series after it has one. All ways
to cut the first part are summed exactly by a forward recursion (Fearnhead 2006, Exact and efficient
Bayesian inference for multiple changepoint problems, Statistics and Computing 16), for each of
several sizes of the noise, so no random numbers are drawn. That a program need not settle at all is
a hypothesis of its own (Barrett, Bolz-Tereick, Killick, Mount and Tratt 2017, Virtual machine
warmup blows hot and cold, OOPSLA).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deadzone.errors import TableError

FEWEST_VALUES = 8
"""Fewer values show no course over time."""

BINS = (100, 50, 25)
"""Bins of a long series, the finest first: the warm-up is then known to a hundredth of the series.
Where the series keeps no level at that scale (a pause every few seconds), wider bins in which the
pattern averages out are tried."""

CERTAINTY = 0.90
"""Coverage of the interval, and how probable a warm-up must be before it is called one."""

TOLERANCE = 0.05
"""A warm-up that moves neither the mean nor the 99th percentile by more than this changes no
conclusion."""

STEADY = 0.5
"""A steady state counts as reached when that is more probable than not."""

NOISE_OF_DIFFERENCE = 0.954
"""Median size of the difference of two normal values, in standard deviations of one of them."""

LONE = 11
"""A bin is judged against the median of this many bins around it; runs of up to five can stand out
alone."""

FAR_OFF = 4.0
"""Bins this many robust standard deviations from their neighbours are passed over."""

COMES_BACK, AS_FAR = 2, 0.5
"""A level that returns at least this often, half as far off or farther, is a pattern and no
warm-up."""

PARTS, LEAST_PART = 4, 12
"""Correlation is measured within four parts of the series, of at least this many bins."""

STRONGEST_CORRELATION = 0.8
"""Beyond this, correlation between neighbouring bins cannot be told from a level that moves."""


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


def settling(x: np.ndarray, weight: np.ndarray, noise: float) -> np.ndarray:
    """Posterior of the moment from which on a series keeps one level: shape (n,), probability that
    the steady state begins with that value; their sum is that it was reached at all.

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
    return share.sum(axis=0)[:n]


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
        before[:, stop] = np.logaddexp.reduce(
            before[:, :stop] + prior_of_piece + scores[:, :stop, stop], axis=-1
        )
    latest = int(np.floor(n * (1 - LEAST_STEADY)))
    prior = np.full(n, -np.inf)
    prior[0] = np.log(NO_WARMUP)
    prior[1 : latest + 1] = np.log((1 - NO_WARMUP - NEVER_STEADY) / max(latest, 1))
    steady = prior + before[:, :n] + scores[:, :n, n]
    late = np.arange(latest + 1, n)
    opened = (
        before[:, late] + np.log(change) + (n - late - 1) * np.log1p(-change) + scores[:, late, n]
    )
    return np.column_stack([steady, np.log(NEVER_STEADY) + np.logaddexp.reduce(opened, axis=-1)])


@dataclass(frozen=True)
class Warmup:
    """The warm-up phase of one series.

    length_s: time from the first value until the steady state; 0 where there is none. low_s,
    high_s: its interval at `CERTAINTY`. probability: that there is a warm-up. reached: probability
    that a steady state was reached before the series ended. level_ratio: mean of the values before
    over that after, 1 where there is none. mean_bias, p99_bias: by what share the mean and the 99th
    percentile of the whole series are above those of the steady state. matters: whether the warm-up
    is probable and moves one of the two by more than `TOLERANCE`.
    """

    length_s: float
    low_s: float
    high_s: float
    probability: float
    reached: float
    level_ratio: float
    mean_bias: float
    p99_bias: float
    matters: bool

    @property
    def is_present(self) -> bool:
        """Whether there is a warm-up, with `CERTAINTY`."""
        return self.probability >= CERTAINTY

    @property
    def is_steady(self) -> bool:
        """Whether a steady state was reached, rather than not."""
        return self.reached >= STEADY

    @property
    def discard_s(self) -> float:
        """What to leave out before the steady state is analysed: the upper end of the interval, 0
        without a warm-up."""
        return self.high_s if self.is_present else 0.0

    def in_steady_state(self, t_s: np.ndarray) -> np.ndarray:
        """Which values belong to the steady state, shape (n,). t_s: as given to `detect_warmup`."""
        since = np.asarray(t_s, dtype=float)
        return since - since.min() >= self.discard_s


def detect_warmup(t_s: Any, values: Any, weights: Any = None) -> Warmup:
    """The warm-up phase of a series.

    t_s: shape (n,), when each value was taken [s], in any order. values: shape (n,), a positive
    quantity in one unit (latency, throughput); values that are not positive count as the smallest
    positive one. weights: shape (n,), how many measurements each value stands for (requests in that
    second), default 1 each; they weigh the biases.

    Raises TableError if there are fewer than `FEWEST_VALUES` values, none is positive, or one is
    not finite.
    """
    times, series, weight = _checked(t_s, values, weights)
    begins, edges = _settling(times, np.log(series), weight)
    reached = float(begins.sum())
    shares = np.array([(1 - CERTAINTY) / 2, 0.5, (1 + CERTAINTY) / 2]) - 1e-12
    quantiles = np.searchsorted(np.cumsum(begins / max(reached, 1e-12)), shares)
    low, middle, high = edges[np.minimum(quantiles, len(begins) - 1)].tolist()
    probability = max(reached - float(begins[0]), 0.0)
    length = middle if probability >= 0.5 else 0.0
    weight += 1e-12
    steady = times >= length
    mean = float(np.average(series[steady], weights=weight[steady]))
    ratio = (
        1.0 if steady.all() else float(np.average(series[~steady], weights=weight[~steady])) / mean
    )
    mean_bias = float(np.average(series, weights=weight)) / mean - 1
    p99_bias = float(np.quantile(series, 0.99) / np.quantile(series[steady], 0.99)) - 1
    matters = probability >= CERTAINTY and max(abs(mean_bias), abs(p99_bias)) > TOLERANCE
    return Warmup(length, low, high, probability, reached, ratio, mean_bias, p99_bias, matters)


def _checked(t_s: Any, values: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    times, series = np.asarray(t_s, dtype=float), np.asarray(values, dtype=float)
    weight = np.ones(len(series)) if weights is None else np.asarray(weights, dtype=float)
    if not (
        len(series) >= FEWEST_VALUES
        and all(np.isfinite(part).all() for part in (times, series, weight))
        and (series > 0).any()
        and np.ptp(times) > 0
    ):
        raise TableError(
            f"A warm-up shows in {FEWEST_VALUES} values or more over some time, none missing and "
            "some positive."
        )
    order = np.argsort(times, kind="stable")
    smallest = float(series[series > 0].min())
    return (
        times[order] - times.min(),
        np.maximum(series[order], smallest),
        np.maximum(weight[order], 0.0),
    )


def _settling(
    times: np.ndarray, x: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """When the series settles, and when each bin begins, in the finest bins in which it does."""
    tried: list[tuple[np.ndarray, np.ndarray]] = []
    for count in BINS:
        bins, edges = _binned(times, x, weight, count)
        noise = max(float(np.median(np.abs(np.diff(bins)))) / NOISE_OF_DIFFERENCE, SMALLEST_NOISE)
        begins = settling(bins, _counted(bins, noise) * _independence(bins), noise)
        if _comes_back(bins, begins, noise):
            begins = np.where(np.arange(len(bins)) == 0, begins.sum(), 0.0)
        tried.append((begins, edges))
        if begins.sum() >= STEADY:
            return tried[-1]
    return tried[0]


def _binned(
    times: np.ndarray, x: np.ndarray, weight: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means over bins, and when each bin begins; bins without a value are left out.

    A series of no more values than bins keeps them as they are.
    """
    if len(x) <= count:
        return x, times
    width = times[-1] / count
    at = np.minimum((times / width).astype(int), count - 1)
    weight = np.where(weight > 0, weight, 1e-9)
    total = np.bincount(at, weight, count)
    held = total > 0
    mean = np.bincount(at, weight * x, count)[held] / total[held]
    return mean, np.flatnonzero(held) * width


def _counted(bins: np.ndarray, noise: float) -> np.ndarray:
    """1 for a bin that counts, 0 for one that stands out alone; what stands out at the start may be
    the warm-up."""
    half = min(LONE // 2, len(bins) - 1)
    around = np.lib.stride_tricks.sliding_window_view(
        np.pad(bins, half, mode="reflect"), 2 * half + 1
    )
    alone = np.abs(bins - np.median(around, axis=1)) > FAR_OFF * noise
    return np.where(alone & (np.cumsum(~alone) > 0), 0.0, 1.0)


def _comes_back(bins: np.ndarray, begins: np.ndarray, noise: float) -> bool:
    """Whether the level before the steady state is seen again and again in it: a pattern, no
    warm-up."""
    start = int(np.argmax(begins))
    if start == 0:
        return False
    steady = float(np.median(bins[start:]))
    off = float(bins[:start].mean()) - steady
    again = (bins[start:] - steady) * np.sign(off) > max(AS_FAR * abs(off), FAR_OFF * noise)
    return bool(np.sum(again & ~np.concatenate([[False], again[:-1]])) >= COMES_BACK)


def _independence(bins: np.ndarray) -> float:
    """What one bin is worth among correlated neighbours, (1 - r) / (1 + r).

    The correlation is the median of that within parts of the series, each freed of its trend, so
    that neither a slow decay nor a change of level in one part passes for correlation.
    """
    parts = np.array_split(bins, max(1, min(PARTS, len(bins) // LEAST_PART)))
    r = float(
        np.clip(np.median([_correlation(part) for part in parts]), 0.0, STRONGEST_CORRELATION)
    )
    return (1 - r) / (1 + r)


def _correlation(part: np.ndarray) -> float:
    """Correlation of neighbours once a straight line is taken off, with the bias of short series
    put right.

    The bias is that of Kendall 1954, Note on bias in the estimation of autocorrelation, Biometrika
    41.
    """
    at = np.arange(len(part), dtype=float)
    rest = part - np.polyval(np.polyfit(at, part, 1), at)
    power = float(rest @ rest)
    if power <= 0:
        return 0.0
    r = float(rest[1:] @ rest[:-1]) / power
    return r + (1 + 4 * r) / len(part)
