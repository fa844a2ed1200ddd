"""What each setting's true response is, from its own trials alone: settings that share no curve.

The mean of a setting's trials, of which spoiled ones count for little: residuals are a mixture of
noise and of a wide contamination (Huber 1964, Annals of Mathematical Statistics 35, 73-101),
weighed by expectation and maximisation (Dempster, Laird and Rubin 1977, JRSS B 39, 1-38). Variances
are drawn towards the common one (see `level_estimates`). Counts have the noise of counts: their
variance is proportional to their mean (quasi-likelihood; McCullagh and Nelder 1989, Generalized
Linear Models, chapter 9), and none of them is taken for spoiled.
"""

import numpy as np

from deadzone.analysis.phases.level_estimates import (
    LEAST_DF,
    LevelEstimates,
    level_means,
    level_medians,
    level_noise,
)
from deadzone.analysis.phases.noise import FEWEST_REPEATS, OUTLIER_RATE, QUIETEST, TYPICAL_NOISE
from deadzone.analysis.phases.outliers import OUTLIER_PROBABILITY, scattering
from deadzone.analysis.response_scale import COUNT, ResponseScale

SPOILED_SPREAD = 10.0
"""A spoiled trial scatters so many times wider than the others: a neighbour's burst, a cold
cache."""


FEWEST_TO_JUDGE = 3
"""Two trials that disagree do not tell which of them is spoiled."""


LEAST_WEIGHT = 1e-6
"""The trial at the median of a setting is never spoiled, so that the others need no weight of their
own."""


MEDIAN_EFFICIENCY = 0.37
"""Of the median absolute deviation of normal values: what of their number counts (Rousseeuw and
Croux 1993, JASA 88, 1273-1283)."""


PASSES = 30
"""The weights change no more after about ten."""


POISSON_DF = 4.0
"""Poisson's own variance counts as so many degrees of freedom beside what the trials show."""


def trial_weights(cell: np.ndarray, value: np.ndarray, n: int) -> np.ndarray:
    """Probability of each trial that it is not spoiled, shape (trials,).

    cell: shape (trials,), the setting of each trial, 0 ... n - 1. value: shape (trials,), on the
    response's scale.
    """
    counts, every = np.bincount(cell, minlength=n), np.ones(len(value))
    judged = (counts >= FEWEST_TO_JUDGE)[cell]
    if not judged.any():
        return every
    centre = level_medians(cell, value, every)
    off = np.abs(value - centre[cell])
    common = max(1.4826 * float(np.median(off[judged])), QUIETEST)
    spread = (1.4826 * level_medians(cell, off, every)) ** 2
    freedom = MEDIAN_EFFICIENCY * (counts - 1)
    for _pass in range(PASSES):
        scale, known = (each[cell] for each in level_noise(spread, freedom, common))
        scale = np.maximum(scale, QUIETEST)
        residual = value - centre[cell]
        good = (1 - OUTLIER_RATE) * _student(residual / scale, known)
        bad = OUTLIER_RATE / SPOILED_SPREAD * _student(residual / (SPOILED_SPREAD * scale), known)
        weight = np.where(judged, good / np.maximum(good + bad, 1e-300), 1.0)
        worth = np.bincount(cell, weight, n)
        centre = np.bincount(cell, weight * value, n) / np.maximum(worth, 1e-9)
        freedom = np.maximum(worth - 1, 0.0)
        square = np.bincount(cell, weight * (value - centre[cell]) ** 2, n)
        common = max(float(np.sqrt(square.sum() / max(freedom.sum(), 1.0))), QUIETEST)
        spread = square / np.maximum(freedom, 1e-9)
    noisy = scattering(weight < 1 - OUTLIER_PROBABILITY, value, cell, common)
    return np.where(noisy, 1.0, weight)


def _student(score: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Density of Student's t over its peak. A scale that few trials tell has wide tails: of three
    trials of a setting with a scatter of its own two may agree by chance, and the third is not
    spoiled."""
    return (1 + score**2 / df) ** (-(df + 1) / 2)


def estimate_cells(
    cell: np.ndarray, value: np.ndarray, n: int, scale: ResponseScale, spread: float | None = None
) -> tuple[LevelEstimates, np.ndarray]:
    """Estimates of n settings on the response's scale, and the weight of each trial.

    cell: shape (trials,), the setting of each trial. value: shape (trials,). Without replicates the
    noise is taken to be the spread that was published with the trials, or the usual one, and
    nothing is known about it beyond that. A setting that scatters otherwise than the others has a
    noise of its own, with its degrees of freedom (see `best_set`).
    """
    weight = np.ones(len(value)) if scale.kind == COUNT else trial_weights(cell, value, n)
    mean, count, variance = level_means(cell, value, weight, n, LEAST_WEIGHT)
    df = np.maximum(count - 1, 0.0)
    freedom = float(df.sum())
    squares = float(np.nansum(variance * df))
    # One or two repeats without any scatter tell the digits that were written, not the noise.
    is_told = freedom >= FEWEST_REPEATS or squares > freedom * QUIETEST**2
    pooled = np.sqrt(squares / freedom) if is_told else spread or TYPICAL_NOISE
    noise, own_df = level_noise(variance, df, max(float(pooled), QUIETEST))
    if scale.kind == COUNT:
        # A setting without any event has the mean of half an event in all its trials (Jeffreys),
        # for none seen is not never.
        unit = 1 / scale.size
        expected = np.maximum(mean, 0.5 * unit / count) * unit
        seen = (df > 0) & (mean > 0)
        dispersion = float(np.nansum((df * variance / expected)[seen])) + POISSON_DF
        noise = np.sqrt(expected * dispersion / (float(df[seen].sum()) + POISSON_DF))
    # no more than those of all trials, which the common noise is known from
    known = np.minimum(own_df, max(freedom, 1.0))
    columns = {"estimate": mean, "noise": noise, "noise_df": known, "own_share": np.ones(n)}
    return (columns, np.diag(noise**2 / count), max(freedom, LEAST_DF)), weight
