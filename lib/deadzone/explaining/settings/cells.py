"""What each setting's true response is, from its own trials alone: settings that share no curve.

The mean of a setting's trials, of which spoiled ones count for little: residuals are a mixture of noise and of a wide
contamination (Huber 1964, Annals of Mathematical Statistics 35, 73-101), weighed by expectation and maximisation
(Dempster, Laird and Rubin 1977, JRSS B 39, 1-38). Variances are drawn towards the common one (see `level_estimates`).
Counts have the noise of counts: their variance is proportional to their mean (quasi-likelihood; McCullagh and Nelder
1989, Generalized Linear Models, chapter 9), and none of them is taken for spoiled.
"""

import numpy as np

from deadzone.explaining.phases.level_estimates import LEAST_DF, LevelEstimates, level_means, level_noise
from deadzone.explaining.phases.noise import OUTLIER_RATE, QUIETEST, TYPICAL_NOISE
from deadzone.explaining.response_scale import COUNT, ResponseScale

SPOILED_SPREAD = 10.0
"""A spoiled trial scatters so many times wider than the others: a neighbour's burst, a cold cache."""

FEWEST_TO_JUDGE = 3
"""Of two trials that disagree nobody can say which is spoiled."""

LEAST_WEIGHT = 1e-6
"""The trial at the median of a setting is never spoiled, so that the others need no weight of their own."""

PASSES = 30
"""The weights change no more after about ten."""

POISSON_DF = 4.0
"""Poisson's own variance counts as so many degrees of freedom beside what the trials show."""


def trial_weights(cell: np.ndarray, value: np.ndarray, n: int) -> np.ndarray:
    """Probability of each trial that it is not spoiled, shape (trials,).

    cell: shape (trials,), the setting of each trial, 0 ... n - 1. value: shape (trials,), on the response's scale.
    """
    counts = np.bincount(cell, minlength=n)
    judged = (counts >= FEWEST_TO_JUDGE)[cell]
    if not judged.any():
        return np.ones(len(value))
    centre = np.array([np.median(value[cell == k]) if counts[k] else 0.0 for k in range(n)])
    off = (value - centre[cell])[judged]
    scale = max(1.4826 * float(np.median(np.abs(off))), QUIETEST)
    weight = np.ones(len(value))
    for _ in range(PASSES):
        residual = value - centre[cell]
        good = (1 - OUTLIER_RATE) * np.exp(-0.5 * (residual / scale) ** 2)
        bad = OUTLIER_RATE / SPOILED_SPREAD * np.exp(-0.5 * (residual / (SPOILED_SPREAD * scale)) ** 2)
        weight = np.where(judged, good / np.maximum(good + bad, 1e-300), 1.0)
        centre = np.bincount(cell, weight * value, n) / np.maximum(np.bincount(cell, weight, n), 1e-9)
        freedom = max(float(weight[judged].sum()) - len(np.unique(cell[judged])), 1.0)
        square = float((weight * (value - centre[cell]) ** 2)[judged].sum())
        scale = max(float(np.sqrt(square / freedom)), QUIETEST)
    return weight


def estimate_cells(
    cell: np.ndarray, value: np.ndarray, n: int, scale: ResponseScale
) -> tuple[LevelEstimates, np.ndarray]:
    """Estimates of n settings on the response's scale, and the weight of each trial.

    cell: shape (trials,), the setting of each trial. value: shape (trials,). Without replicates the noise is taken to
    be the usual one, and nothing is known about it beyond that.
    """
    weight = np.ones(len(value)) if scale.kind == COUNT else trial_weights(cell, value, n)
    mean, count, variance = level_means(cell, value, weight, n, LEAST_WEIGHT)
    df = np.maximum(count - 1, 0.0)
    freedom = float(df.sum())
    if scale.kind == COUNT:
        noise = _count_noise(mean, count, variance, df, 1 / scale.size)
    else:
        own = float(np.nansum(variance * df))
        pooled = np.sqrt(own / freedom) if freedom > 0 else TYPICAL_NOISE
        noise = level_noise(variance, df, max(pooled, QUIETEST))
    covariance = np.diag(noise**2 / count)
    return LevelEstimates(mean, covariance, noise, count, max(freedom, LEAST_DF), 0.0), weight


def _count_noise(
    mean: np.ndarray, count: np.ndarray, variance: np.ndarray, df: np.ndarray, unit: float
) -> np.ndarray:
    """Noise of counts on the scale, shape (n,). unit: one event on the scale.

    A setting without any event has the mean of half an event in all its trials (Jeffreys), for none seen is not never.
    """
    expected = np.maximum(mean, 0.5 * unit / count) * unit
    known = (df > 0) & (mean > 0)
    dispersion = float(np.nansum((df * variance / expected)[known])) + POISSON_DF
    return np.sqrt(expected * dispersion / (float(df[known].sum()) + POISSON_DF))
