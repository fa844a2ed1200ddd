"""The noise of a level: what its trials say about the response's true value there.

Every trial is a mixture: usually Gaussian on the log scale, sometimes spoiled (a broad component
that leans to the worse side). The scale may differ from level to level, and a level may sit off the
curve by an amount that replicates do not average away. All of it is integrated out numerically, so
an outlier is weighed together with the joints rather than filtered before them.

Mixture for spoiled trials: Box and Tiao (1968), A Bayesian approach to some outlier problems,
Biometrika 55.

With it the values of the curve that are tried at each level.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

POINTS = 1024
"""Values tabulated per level; over 40 noise scales of range this is 1/25 of one."""

REACH = 20.0
"""The table ends this many noise scales beyond the bulk of the trials: room for noise and
misfit."""

SCALES = np.exp(np.linspace(-1.6, 1.6, 9))
"""Noise scales of a level tried, relative to the common one."""

HETEROGENEITY = np.array([0.2, 0.35, 0.5, 0.8])
"""Spread of the levels' noise scales (standard deviation of their logarithm) tried."""

SINGLE_HETEROGENEITY = 0.35
"""The same where no level has replicates, so that it cannot be learned."""

TYPICAL_NOISE, NOISE_SPREAD = 0.02, 1.0
"""Before any data, noise is about 2 %, and 0.7 % to 5 % are usual (one standard deviation of
ln)."""

QUIETEST = 2e-4
"""Replicates that scatter less than this are taken to scatter this much: clocks and programs have
limits."""

TIES_KEPT = 0.9
"""Where most replicates are equal, this share of the smallest deviations gives the noise."""

OUTLIER_RATE = 0.02
OUTLIER_WORSE = 0.7
"""Prior share of spoiled trials, and of those that are worse rather than better than they should
be."""

OUTLIER_SIZE = 0.8
"""A spoiled trial is off by a factor of about exp(0.8) = 2.2."""

LEVEL_OUTLIER = 1e-4
"""Chance that a whole level is spoiled, all replicates alike."""

IMPOSSIBLE = 1e-200
"""The same of a level that others confirm: the curve goes where it was measured."""

MOST_REPLICATES = 24
"""More trials of a level than this are grouped into as many neighbours, which keep mean and
weight."""


@dataclass(frozen=True)
class LevelTables:
    """log likelihood of each level's trials as a function of the level's true value.

    origin, step: shape (n,): value k of level m is origin[m] + k * step[m], in ln(response).
    log_likelihood: shape (n, POINTS).
    """

    origin: np.ndarray
    step: np.ndarray
    log_likelihood: np.ndarray

    def middle(self) -> np.ndarray:
        """Middle of each table: the centre of the bulk of the level's trials; shape (n,)."""
        return self.origin + 0.5 * (POINTS - 1) * self.step

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of the bulk of each table, read as a density; each shape
        (n,)."""
        weight = np.exp(self.log_likelihood - self.log_likelihood.max(axis=1, keepdims=True))
        weight = np.where(weight > 1e-3, weight, 0.0)
        position = np.arange(weight.shape[1])
        total = weight.sum(axis=1)
        mean = (weight * position).sum(axis=1) / total
        spread = np.sqrt((weight * (position - mean[:, None]) ** 2).sum(axis=1) / total)
        return self.origin + mean * self.step, np.maximum(spread, 1.0) * self.step


@dataclass(frozen=True)
class Replicates:
    """Trials grouped by level, padded: values and weights have shape (n, most trials of a level).
    sound: shape (n,), levels that are not spoiled."""

    values: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    sound: np.ndarray | bool = False


def group(value: np.ndarray, level: np.ndarray, n: int) -> Replicates:
    """Sort trials into levels. value, level: shape (trials,); level counts from 0."""
    order = np.lexsort((value, level))
    counts = np.bincount(level, minlength=n)
    width = min(int(counts.max()), MOST_REPLICATES)
    values, weights = np.zeros((n, width)), np.zeros((n, width))
    for m, chunk in enumerate(np.split(value[order], np.cumsum(counts)[:-1])):
        parts = np.array_split(chunk, min(len(chunk), width))
        values[m, : len(parts)] = [part.mean() for part in parts]
        weights[m, : len(parts)] = [len(part) for part in parts]
        values[m, len(parts) :] = values[m, 0]
    return Replicates(values, weights, counts)


def bulk(trials: Replicates) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the shortest interval with more than half of each level's trials; each shape (n,).

    The shorth of Andrews et al. (1972), which half of the trials cannot move.
    """
    low, high = np.empty(len(trials.values)), np.empty(len(trials.values))
    for m, (row, weight) in enumerate(zip(trials.values, trials.weights, strict=True)):
        values = row[weight > 0]
        inside = len(values) // 2 + 1
        first = int(np.argmin(values[inside - 1 :] - values[: len(values) - inside + 1]))
        low[m], high[m] = values[first], values[first + inside - 1]
    return low, high


FEWEST_REPEATS = 3
"""Fewer repeats than these, all without any scatter, tell the digits that were written and not the
noise."""


def rough_scale(trials: Replicates) -> float:
    """Robust noise of the trials around their level (median absolute deviation, small-sample
    corrected)."""
    levels = [row[weight > 0] for row, weight in zip(trials.values, trials.weights, strict=True)]
    deviations = [
        np.abs(values - np.median(values)) * np.sqrt(len(values) / (len(values) - 1))
        for values in levels
        if len(values) > 1
    ]
    sizes = np.sort(np.concatenate(deviations))
    if sizes[-1] < QUIETEST and sum(len(v) - 1 for v in levels if len(v) > 1) < FEWEST_REPEATS:
        return TYPICAL_NOISE  # one or two repeats tell the digits that were written
    scale = float(np.median(sizes)) / 0.6745
    if scale < QUIETEST:  # most replicates are equal, as with a clock of whole seconds
        scale = float(np.sqrt(np.mean(sizes[: int(len(sizes) * TIES_KEPT)] ** 2)))
    return max(scale, QUIETEST)


def from_line(x: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance of each inner level from the line between its neighbours, and where between them it
    lies, 0 to 1; each of shape (n - 2,)."""
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    return value[1:-1] - (1 - share) * value[:-2] - share * value[2:], share


def roughness(x: np.ndarray, value: np.ndarray) -> float:
    """Robust noise of single trials: how far each level is from the line between its neighbours.

    x: shape (n,), ln(level); value: shape (n,), ln(response). Joints count as noise here, so it is
    a first guess only (the difference-based estimate of Gasser, Sroka and Jennen-Steinmetz 1986).
    """
    off, share = from_line(x, value)
    return float(np.median(np.abs(off) / np.sqrt(1 + (1 - share) ** 2 + share**2))) / 0.6745


def outlier_density(deviation: np.ndarray, scale: float) -> np.ndarray:
    """Density of a spoiled trial `deviation` (ln) above the level's value."""
    size = max(OUTLIER_SIZE, 5.0 * scale)
    side = np.where(deviation > 0, OUTLIER_WORSE, 1 - OUTLIER_WORSE)
    return side * 2.0 / (np.pi * size * (1 + (deviation / size) ** 2))


def tabulate(trials: Replicates, scale: float, reach: float) -> tuple[LevelTables, np.ndarray]:
    """Tables for each noise scale in `scale * SCALES`, as far as REACH times `reach` beyond the
    trials.

    Returns the tables' frame (with an empty likelihood) and log likelihoods of shape (n, scales,
    POINTS).
    """
    low, high = bulk(trials)
    low, high = low - REACH * reach, high + REACH * reach
    step = (high - low) / (POINTS - 1)
    grid = low[:, None] + np.arange(POINTS) * step[:, None]
    deviation = trials.values[:, :, None] - grid[:, None, :]
    spoiled = OUTLIER_RATE * outlier_density(deviation, scale)
    squares = -0.5 * deviation**2
    out = np.empty((len(low), len(SCALES), POINTS))
    for q, size in enumerate(scale * SCALES):
        sigma = np.maximum(size, step)[:, None, None]
        gauss = (1 - OUTLIER_RATE) / (sigma * np.sqrt(2 * np.pi)) * np.exp(squares / sigma**2)
        out[:, q] = np.einsum("mr,mrt->mt", trials.weights, np.log(gauss + spoiled))
    return LevelTables(low, step, np.empty((0, POINTS))), out


def scale_weights(log_scale: float, heterogeneity: float) -> np.ndarray:
    """Probability of each of SCALES when scales are lognormal; shape (scales,)."""
    weight = np.exp(-0.5 * ((np.log(SCALES) - log_scale) / heterogeneity) ** 2)
    return weight / weight.sum()


def mass(frame: LevelTables, by_scale: np.ndarray) -> np.ndarray:
    """log of the integral of each level's likelihood over its value, by scale; shape (n, scales).

    A table too coarse for the noise keeps its evidence if its mass is set to that of a finer one.
    """
    top = by_scale.max(axis=2, keepdims=True)
    return np.log(np.exp(by_scale - top).sum(axis=2) * frame.step[:, None]) + top[:, :, 0]


def learn_scale(frame: LevelTables, by_scale: np.ndarray, base: float) -> np.ndarray:
    """Weights of SCALES from the replicates: empirical Bayes over common scale and heterogeneity.

    by_scale: shape (n, scales, POINTS). Returns shape (scales,).
    """
    log_mass = mass(frame, by_scale)
    evidence = np.exp(log_mass - log_mass.max(axis=1, keepdims=True))

    def score(centre: float, heterogeneity: float) -> float:
        prior = -0.5 * ((centre + np.log(base / TYPICAL_NOISE)) / NOISE_SPREAD) ** 2
        weights = scale_weights(centre, heterogeneity)
        return float(prior - heterogeneity + np.log(evidence @ weights).sum())

    tried = product(np.linspace(-1.2, 1.2, 13), HETEROGENEITY)
    return scale_weights(*max(tried, key=lambda pair: score(*pair)))


def combine(
    frame: LevelTables,
    by_scale: np.ndarray,
    weights: np.ndarray,
    misfit: float,
    sound: np.ndarray | bool = False,
) -> LevelTables:
    """Integrate over a level's noise scale and over its own offset from the curve.

    misfit: standard deviation (ln) of that offset. sound: shape (n,), levels that are not spoiled,
    however far off they lie. Smoothing by the Fourier transform is exact for
    a band-limited table; what it leaves below the floor of a spoiled level does not matter.
    """
    top = by_scale.max(axis=(1, 2))
    likelihood = np.einsum("mqt,q->mt", np.exp(by_scale - top[:, None, None]), weights)
    if misfit > 0:
        frequency = np.fft.rfftfreq(2 * POINTS)
        kernel = np.exp(-0.5 * (2 * np.pi * frequency[None, :] * misfit / frame.step[:, None]) ** 2)
        padded = np.concatenate([likelihood, likelihood[:, ::-1]], axis=1)
        smooth = np.fft.irfft(np.fft.rfft(padded, axis=1) * kernel, n=2 * POINTS, axis=1)
        likelihood = np.maximum(smooth[:, :POINTS], 0.0)
    chance = np.where(sound, IMPOSSIBLE, LEVEL_OUTLIER * 0.05)
    floor = (likelihood.max(axis=1) * chance)[:, None]
    likelihood[:, [0, -1]] = 0.0
    return LevelTables(frame.origin, frame.step, np.log(likelihood + floor) + top[:, None])


def look_up(tables: LevelTables, level: np.ndarray, value: np.ndarray) -> np.ndarray:
    """log likelihood of `value` at `level`, broadcast together; the nearest table point."""
    points = tables.log_likelihood.shape[1]
    position = (value - tables.origin[level]) * (1.0 / tables.step)[level] + 0.5
    index = np.clip(position, 0, points - 1).astype(np.intp)
    index += level * points
    return tables.log_likelihood.ravel().take(index)


SPACING = 0.7
"""Distance of neighbouring grid values in standard deviations of a level: sums over a Gaussian on
such a grid are exact to 1e-6 even when the posterior is 2.5 times narrower than the level's own
likelihood (Poisson summation)."""

VALUES = 8
"""Values tried around each level's own trials: they reach 2.45 standard deviations either way."""

RIVALS = np.array([0.4, 1.2, 2.2])
"""Values tried on either side of what the neighbours predict for a level whose few trials may be
spoiled, in standard deviations of that prediction; one more on either side stands much further out.
"""

RIVAL_DISTANCE = (3.0, 1.5)
"""A prediction is tried beside the level's own value when it lies further off than this many
deviations of the level and of the prediction together."""

PREDICTING = 4
"""An end level is predicted by the line through this many levels next to it."""


@dataclass(frozen=True)
class ValueGrid:
    """Values of the curve tried at each level; arrays of shape (n, G), ln(response).

    log_width: logarithm of the interval a value stands for; -inf where a value is padding.
    """

    value: np.ndarray
    log_width: np.ndarray


def value_grid(x: np.ndarray, tables: LevelTables, few: np.ndarray) -> ValueGrid:
    """Values around each level's trials and, where `few` trials could all be spoiled, rival values.

    x: shape (n,), ln(level). few: shape (n,), bool.
    """
    mean, spread = tables.moments
    offsets = (np.arange(VALUES) - (VALUES - 1) / 2) * SPACING
    value = mean[:, None] + spread[:, None] * offsets
    log_width = np.broadcast_to(np.log(spread * SPACING)[:, None], value.shape)
    centre, fine, reach = _rivals(x, mean, spread)
    rival = few & (np.abs(centre - mean) > RIVAL_DISTANCE[0] * spread + RIVAL_DISTANCE[1] * fine)
    if not rival.any():
        return ValueGrid(value, log_width)
    half = np.concatenate([fine[:, None] * RIVALS, np.maximum(reach, 4.0 * fine)[:, None]], axis=1)
    extra = centre[:, None] + np.concatenate([-half[:, ::-1], half], axis=1)
    apart = np.abs(extra - mean[:, None]) > (VALUES / 2) * SPACING * spread[:, None]
    extra_width = np.where(rival[:, None] & apart, np.log(np.gradient(extra, axis=1)), -np.inf)
    return ValueGrid(np.hstack([value, extra]), np.hstack([log_width, extra_width]))


def _rivals(
    x: np.ndarray, mean: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the neighbours predict for each level, how well, and how far off a change of slope may
    put it.

    Inside, a line between the two neighbours; at an end, the line through the next few levels,
    whose slope may change by half. Each of shape (n,).
    """
    n = len(x)
    centre, fine, reach = mean.copy(), 1.0 * spread, 4.0 * spread
    centre[1:-1] -= from_line(x, mean)[0]
    for end, near in (
        (0, np.arange(1, n)[:PREDICTING]),
        (n - 1, np.arange(n - 2, -1, -1)[:PREDICTING]),
    ):
        middle = x[near].mean()
        square = ((x[near] - middle) ** 2).sum()
        slope = ((x[near] - middle) * mean[near]).sum() / square
        lever = (x[end] - middle) ** 2 / square + 1 / len(near)
        centre[end] = mean[near].mean() + slope * (x[end] - middle)
        fine[end] = np.sqrt(lever) * spread[near].mean()
        reach[end] = 0.5 * abs(x[end] - x[near[0]])
    return centre, fine, reach
