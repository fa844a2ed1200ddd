"""Which trials were spoiled: the posterior probability of each, and the reason in words.

A trial is weighed against its level's true value, which its replicates and the curve tell together;
its replicates count through the noise tables, the curve through the posterior of the pieces.

Levels that are off as a whole: they stand out from both neighbours, beyond the shape of the
curve and its noise.

A level is compared with the line between its neighbours, whose distance a trend leaves alone
(Gasser, Sroka and Jennen-Steinmetz 1986, Biometrika 73, 625-633), and the scale is the median of
these distances of the other levels (Hampel 1974, JASA 69, 383-393). One level off hides another, so
levels are set aside one after the other, and all that were set aside before the last one that
stands out are off as well (Rosner 1983, Technometrics 25, 165-172).
"""

import numpy as np

from deadzone.analysis.phases import noise
from deadzone.analysis.phases.inference import Posterior
from deadzone.analysis.phases.level_estimates import FEWEST_AGREEING, STANDARD_ERRORS, level_medians
from deadzone.analysis.phases.segmentation import curve_values, weighted_quantiles
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
"""Trials of a level within so many standard deviations of its median agree, two of their middle."""

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
    frame = hypothesis.tables
    below = np.cumsum(_level_density(posterior, np.logaddexp.reduce(table, axis=1)), axis=1)
    # POINTS equally likely table points of each level's value.
    wanted = (np.arange(POINTS) + 0.5) / POINTS
    point = np.array([np.searchsorted(row, wanted * row[-1]) for row in below])
    point = np.minimum(point, below.shape[1] - 1)
    weight = np.exp(table - table.max(axis=1, keepdims=True))
    scales = np.take_along_axis(
        weight / weight.sum(axis=1, keepdims=True), point[:, None, :], axis=2
    )
    place = frame.origin[:, None] + THIN * point * frame.step[:, None]
    deviation = value[:, None] - place[level]
    bad = noise.OUTLIER_RATE * noise.outlier_density(deviation, hypothesis.noise)
    out = np.zeros(len(value))
    finest = 0.5 * THIN * frame.step[level][:, None]
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
    them are flagged, the level is off, and the others are spoiled. Two are enough where no other of
    the level is sound; they agree by the noise of all trials, as they know none of their own."""
    out = probability.copy()
    for m in np.unique(level[probability > OUTLIER_PROBABILITY]):
        here = np.flatnonzero(level == m)
        deviation = np.abs(value[here] - np.median(value[here]))
        own = float(np.median(deviation)) / 0.6745 if len(here) >= FEWEST_AGREEING else 0.0
        agrees = deviation <= AGREES * max(scale, own)
        bad = probability[here] > OUTLIER_PROBABILITY
        fewest = 2 if bad.all() else FEWEST_AGREEING
        if agrees.sum() >= fewest and bad[agrees].all():
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
    hypothesis, frame = posterior.best, posterior.best.tables
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


STANDS_OUT = float(np.log(1.15))
"""A level that is off differs from both neighbours by more than this [ln], the same way."""

BEYOND_SHAPE = float(np.log(1.05))
"""It lies beyond the lines through its neighbours and theirs by more than this [ln]; else it is a
corner of the curve."""

NOISE_PROOF = 3.45
"""Distance from the line between the neighbours, over the median of the others: of normal noise
2 % lies beyond."""

WORSE_PROOF, BETTER_PROOF = 2.25, 3.0
"""The same on few levels, whose distances are the bend of the curve: no curve with one optimum has
a level that is worse than both neighbours, and every such curve has one that is better."""

FEWEST_WORSE, FEWEST_BETTER = 4, 6
"""Levels of a curve on which one can be off to either side: of fewer the others say nothing."""

MANY = 8
"""On so many levels the distances of the others are their noise; on fewer they may be the bend of
the curve."""

MOST_SHARE = 0.2
"""Where more of the levels stand out than this, that is how the curve is: saw teeth, or noise."""


def off_levels(x: np.ndarray, value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """By how much each level is off the line between its neighbours [ln], above 0 where it is
    worse; 0 of a level that is not off.

    x: shape (n,), places of the levels, increasing. value: shape (n,), ln(response) of each,
    smaller is better. error: shape (n,), standard error of each, 0 where its trials do not tell.
    Returns shape (n,). Of those that stand out the level is set aside first whose loss makes those
    left smoothest."""
    out, left, set_aside = np.zeros(len(x)), np.arange(len(x)), np.zeros(len(x))
    for _ in range(len(x) // 3):
        if len(left) < FEWEST_WORSE:
            break
        stands, off, beyond = _standing(x[left], value[left], error[left])
        without = {i: np.delete(left, i + 1) for i in np.flatnonzero(np.abs(stands) > STANDS_OUT)}
        if not without:
            break
        distances = {
            i: np.abs(noise.from_line(x[rest], value[rest])[0]) for i, rest in without.items()
        }
        i = min(distances, key=lambda level: float(distances[level].sum()))
        rough, is_noise = float(np.median(distances[i])), len(left) > MANY - 1
        if beyond[i] > BEYOND_SHAPE:
            set_aside[left[i + 1]] = off[i]
            proof = NOISE_PROOF if is_noise else WORSE_PROOF if off[i] > 0 else BETTER_PROOF
            if abs(off[i]) > proof * rough and not (is_noise and rough > STANDS_OUT):
                out = set_aside.copy()
        left = without[i]
    return _alone(out)


def _alone(off: np.ndarray) -> np.ndarray:
    """Without what confirms each other: neighbours that are off the same way are a regime, and
    several better levels a structure."""
    side = np.sign(off)
    same = (side[1:] == side[:-1]) & (side[1:] != 0)
    off = np.where(np.append(same, False) | np.insert(same, 0, False), 0.0, off)
    if (off < 0).sum() > 1 or len(off) < FEWEST_BETTER:
        off = np.where(off < 0, 0.0, off)
    return off if (off != 0).sum() <= max(1, MOST_SHARE * len(off)) else np.zeros(len(off))


def _standing(
    x: np.ndarray, value: np.ndarray, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each inner level: how far it stands out from the nearer neighbour, 0 where it lies between
    them or its own scatter explains it; its distance from the line between them; and from all lines
    that its neighbours give, the nearest. Each of shape (n - 2,)."""
    step = value[1:] - value[:-1]
    before, after = step[:-1], -step[1:]
    room = STANDARD_ERRORS * np.maximum(
        np.hypot(error[1:-1], error[:-2]), np.hypot(error[1:-1], error[2:])
    )
    is_out = (before * after > 0) & (np.minimum(np.abs(before), np.abs(after)) > room)
    side = np.sign(before)
    out = np.where(is_out, side * np.minimum(np.abs(before), np.abs(after)), 0.0)
    off, _share = noise.from_line(x, value)
    slope = step / np.diff(x)
    from_left = np.append(np.nan, before[1:] - slope[:-2] * np.diff(x)[1:-1])
    from_right = np.append(after[:-1] + slope[2:] * np.diff(x)[1:-1], np.nan)
    return out, off, np.nanmin(side * np.stack([out, off, from_left, from_right]), axis=0)
