"""Which trials were spoiled: the posterior probability of each, and the reason in words.

A trial is weighed against its level's true value, which its replicates and the curve tell together;
its replicates count through the noise tables, the curve through the posterior of the pieces.
"""

import numpy as np

from deadzone.analysis.phases import noise
from deadzone.analysis.phases.inference import Posterior
from deadzone.analysis.phases.intervals import curve_values, weighted_quantiles
from deadzone.analysis.phases.level_estimates import FEWEST_AGREEING, level_medians
from deadzone.language.messages import N_, Message, say

OUTLIER_PROBABILITY = 0.5
"""A trial is flagged when it is more likely spoiled than not."""

POSSIBLE = 0.05
"""A trial that is spoiled with less probability than this is sound."""

QUANTILES = (np.arange(9) + 0.5) / 9
"""The curve's value at a level is represented by this many equally likely values."""

POINTS = 25
"""A level's value is represented by this many equally likely values, whatever the number of
trials."""

AGREES = 3.0
"""Trials of a level within so many standard deviations of its median agree."""

LEAST_TOLD = 2.0
"""A distance of fewer times the noise says nothing of why a trial is flagged."""

BY_CHANCE = 0.01
"""So many flagged trials of one level as are rarer than this by chance are its scatter."""

THIN = 4
"""Every fourth point of the noise tables is enough here: a tenth of a noise scale."""


def spoiled(posterior: Posterior, value: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Probability that each trial is spoiled; value: shape (trials,), ln(response) as fitted."""
    hypothesis = posterior.best
    table = hypothesis.by_scale[:, :, ::THIN] + np.log(hypothesis.scale_weights)[None, :, None]
    below = np.cumsum(_level_density(posterior, np.logaddexp.reduce(table, axis=1)), axis=1)
    # POINTS equally likely table points of each level's value.
    wanted = (np.arange(POINTS) + 0.5) / POINTS
    point = np.array([np.searchsorted(row, wanted * row[-1]) for row in below])
    point = np.minimum(point, below.shape[1] - 1)
    weight = np.exp(table - table.max(axis=1, keepdims=True))
    scales = np.take_along_axis(
        weight / weight.sum(axis=1, keepdims=True), point[:, None, :], axis=2
    )
    place = hypothesis.frame.origin[:, None] + THIN * point * hypothesis.frame.step[:, None]
    deviation = value[:, None] - place[level]
    bad = noise.OUTLIER_RATE * noise.outlier_density(deviation, hypothesis.noise)
    out = np.zeros(len(value))
    finest = 0.5 * THIN * hypothesis.frame.step[level][:, None]
    for q, scale in enumerate(hypothesis.scales):
        sigma = np.maximum(scale, finest)
        good = np.exp(-0.5 * (deviation / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
        good *= 1 - noise.OUTLIER_RATE
        out += (scales[level, q] * bad / (good + bad)).mean(axis=1)
    return out


def within_levels(
    probability: np.ndarray, value: np.ndarray, level: np.ndarray, scale: float
) -> np.ndarray:
    """The probabilities where trials that agree are their level's own value, whatever the curve
    says of it; shape (trials,).

    probability: as of `spoiled`. value: ln(response), level: position of each; shape (trials,).
    scale: noise of a trial [ln]. Where FEWEST_AGREEING trials or more of a level agree and all of
    them are flagged, the level is off, and the others are spoiled."""
    out = probability.copy()
    for m in np.unique(level[probability > OUTLIER_PROBABILITY]):
        here = np.flatnonzero(level == m)
        deviation = np.abs(value[here] - np.median(value[here]))
        agrees = deviation <= AGREES * max(scale, float(np.median(deviation)) / 0.6745)
        if (
            agrees.sum() >= FEWEST_AGREEING
            and (probability[here[agrees]] > OUTLIER_PROBABILITY).all()
        ):
            out[here] = np.where(agrees, 0.0, 1.0)
    return out


def confirmed(probability: np.ndarray, value: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Levels that are flagged as a whole and that a neighbour confirms: it is flagged too, on the
    same side of the nearest sound level and closer than that one. They are a cliff, and no
    outliers. Shape (n,).

    probability, value, level: as of `within_levels`."""
    n = int(level.max()) + 1
    sound = np.bincount(level, probability <= POSSIBLE, minlength=n) > 0
    if sound.all() or not sound.any():
        return np.zeros(n, dtype=bool)
    median, there = level_medians(level, value, np.ones(len(level))), np.flatnonzero(sound)
    off = median - median[there[np.abs(np.arange(n)[:, None] - there).argmin(axis=1)]]
    apart = np.minimum(np.abs(off[1:]), np.abs(off[:-1]))
    agree = (off[1:] * off[:-1] > 0) & (np.abs(np.diff(median)) < apart)
    agree &= ~(sound[1:] | sound[:-1])
    return np.append(agree, False) | np.append(False, agree)


def scattering(
    flagged: np.ndarray, value: np.ndarray, level: np.ndarray, common: float
) -> np.ndarray:
    """Which trials are of levels that scatter more than the fit's scales know, and have too many
    flagged trials beside sound ones for these to be spoiled: trials of a noisy level are not its
    outliers.

    flagged: bool, value: ln(response), level: position of each; results too of shape (trials,).
    common: noise of a trial [ln]. The number of spoiled trials is binomial, at the usual rate."""
    from scipy.special import bdtrc

    trials, away = np.bincount(level), np.bincount(level[flagged], minlength=level.max() + 1)
    mean = np.bincount(level, value) / np.maximum(trials, 1)
    spread = np.bincount(level, (value - mean[level]) ** 2) / np.maximum(trials - 1, 1)
    rare = bdtrc(away - 1.0, trials, noise.OUTLIER_RATE) < BY_CHANCE
    loud = np.sqrt(spread) > noise.SCALES[-1] * common
    return ((away > 1) & (away < trials) & rare & loud)[level]


def _level_density(posterior: Posterior, own: np.ndarray) -> np.ndarray:
    """Posterior of each level's own value, misfit included, on its thinned table; rows sum to 1.

    own: shape (n, points), what the trials of each level alone say of it, a log likelihood.
    """
    hypothesis, frame = posterior.best, posterior.best.frame
    position = np.arange(0, noise.POINTS, THIN)
    out = np.zeros(own.shape)
    for m in range(len(own)):
        curve, weight = curve_values(posterior.pieces, posterior.x, m)
        centres = weighted_quantiles(curve, weight, QUANTILES)
        grid = frame.origin[m] + position * frame.step[m]
        width = max(hypothesis.misfit, 0.5 * hypothesis.noise * THIN / 10, THIN * frame.step[m])
        joint = own[m] - 0.5 * ((grid[None, :] - centres[:, None]) / width) ** 2
        each = np.exp(joint - joint.max(axis=1, keepdims=True))
        out[m] = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    return out


def reason(factor: float, sigma: float, replicates: int) -> Message:
    """Why a trial is flagged. factor: response / fitted. sigma: noise of a trial, ln."""
    curve, others = (
        N_("against what the curve says of its level"),
        N_("against the other trials of its level and the curve"),
    )
    noise = abs(float(np.log(factor))) / sigma
    text = (
        N_("{factor:number} times the fitted value, {noise:.0f} times the noise, {against}")
        if noise >= LEAST_TOLD
        else N_("{factor:number} times the fitted value, {against}")
    )
    return say(text, factor=factor, noise=noise, against=say(others if replicates > 2 else curve))
