"""What each level's true response is, as far as trials and curve together tell.

A level has its own trials, and it has neighbours on the same straight piece of the fitted curve.
Both say something about its true response, so both are used, each in proportion to what it knows:
the best linear unbiased predictor of a mixed model (Henderson 1975, Biometrics 31, 423-447),

    ln y(level, trial) = curve(level) + deviation(level) + noise(level, trial),

in which the curve is the fitted chain of straight pieces, the deviation of a level has the model's
misfit as its standard deviation, and the noise is that of the trials. Without misfit the levels of
a plateau share all their trials; with a large one every level stands alone.

The noise may differ from level to level, but five replicates tell a level's own variance poorly:
the variances are drawn towards the common one by as much as they agree with each other (moderated
variances: Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3, article 3).
"""

import numpy as np
import pandas as pd
from scipy.special import digamma, ndtr, ndtri, polygamma, stdtrit

from deadzone.analysis.phases.inference import FEW_TRIALS, MISFITS
from deadzone.analysis.phases.noise import NOISE_SPREAD, SCALES, TYPICAL_NOISE
from deadzone.analysis.phases.result import PhaseResult

LEAST_WEIGHT = 0.05
"""A level whose trials are all flagged keeps this much weight, so that it has an estimate at all,
and one with an uncertainty that says how little it is worth."""

LEAST_DF = 4.0
"""The model's intervals already contain how little a few trials say about the noise, and it knows
from the start what noise is usual; Student's t with fewer degrees of freedom would count that doubt
twice."""

LEAST_NOISE = 1e-6
"""Noise of ln(response) below which trials are exact in practice; it keeps every division
defined."""

FEWEST_LEVELS = 3
"""Fewer levels than this do not say by how much levels differ in their noise."""

FEWEST_AGREEING = 3
"""So many trials of a level that agree are its value, whatever the curve and others of it say."""

STANDARD_ERRORS = 2.0
"""What differs by no more than so many standard errors may be equal."""

EFFECT_DF = 4.0
"""Degrees of freedom of the levels' deviations from the curve: few enough that one may lie far
off."""

MEDIAN_VARIANCE = float(np.pi / 2)
"""Of the median of normal values, in variances of their mean."""

OFF_EFFECT = 10.0
"""Standard deviation of the deviation [ln] of a level that is off (see `off_levels`): it keeps what
was measured there. A better one needs more than FEW_TRIALS for that."""

LARGEST_PRIOR_DF = 1e4
"""Degrees of freedom that stand for 'the levels do not differ in their noise'."""


LevelEstimates = tuple[dict[str, np.ndarray], np.ndarray, float]
"""Estimates of ln(response) at each level, on that scale, dimensionless: columns of shape (n,),
their covariance, shape (n, n), and the degrees of freedom of the noise of all, for Student's t.

estimate. noise: standard deviation of one trial of the level, and noise_df, its degrees of freedom.
own_share: of the variance of the estimate what comes from the level's own trials; the rest comes
from the curve."""


def estimate_levels(model: PhaseResult) -> LevelEstimates:
    """Estimates of every level of a phase model, in the order of `model.levels`.

    The curve has the standard errors of the model's intervals, which are those of the posterior
    over segmentations, so that the joints' uncertainty is in them; its levels are correlated as in
    a weighted least squares fit of the chain with these joints: closely along a piece, little
    across pieces. The deviations of levels from it have tails as of Student's t: one in many lies
    far off its neighbours (a tile that does not fit, a cliff), and the others tell nothing of it.
    Its variance is the expectation in a scale mixture of normals (West 1984, JRSS B 46, 431-439;
    Lange, Little and Taylor 1989, JASA 84, 881-896).
    """
    levels, trials = model.levels, model.trials
    positions, off = levels["level"].to_numpy(float), levels["off"].to_numpy(float)
    index = np.searchsorted(positions, trials["level"].to_numpy(float))
    log_y = np.log(trials["corrected"].to_numpy(float))
    weight = trials["weight"].to_numpy(float)
    means, count, scatter = level_means(index, log_y, weight, len(positions))
    medians = level_medians(index, log_y, weight)
    common, misfit = float(model.noise.replicate), float(model.noise.misfit)
    noise, noise_df = level_noise(scatter, count - 1, max(common, LEAST_NOISE))

    low, curve, high = (
        np.log(levels[column].to_numpy(float)) for column in ("fitted_low", "fitted", "fitted_high")
    )
    error = np.maximum((high - low) / (2 * ndtri((1 + model.certainty) / 2)), LEAST_NOISE)
    x = model.axis.forward(positions)
    corners = [x[0], *model.axis.forward(model.phases["start"].to_numpy(float)[1:]), x[-1]]
    # Column j is the chain of straight pieces that is 1 at the j-th corner and 0 at the others.
    basis = np.stack([np.interp(x, corners, row) for row in np.eye(len(corners))], axis=1)
    precision = np.linalg.pinv(basis.T @ (basis / (noise**2 / count + misfit**2)[:, None]))
    covariance = basis @ precision @ basis.T
    scale = error / np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    covariance *= np.outer(scale, scale)

    # The nearer of mean and median, so that one spoiled trial makes no effect.
    away = np.minimum(np.abs(means - curve), np.abs(medians - curve))
    by_noise = STANDARD_ERRORS * few_trials_factor(noise_df) * noise / np.sqrt(count)
    beyond = np.maximum(away**2 - by_noise**2, 0.0)
    effect = np.sqrt((EFFECT_DF * misfit**2 + beyond) / (EFFECT_DF + 1))
    df = max(float(count.sum()) - basis.shape[1], LEAST_DF)
    if not model.noise.estimable:
        noise, effect = single_noise(noise)
        noise_df = np.full(len(noise), df)
    loud = (noise > SCALES[-1] * common) & (levels["n_used"] == levels["n"]).to_numpy()
    effect[(off > 0) | ((off < 0) & (count > FEW_TRIALS)) | loud] = OFF_EFFECT
    # Some trials of a loud level may be spoiled all the same: they move its median by less.
    variance = noise**2 / count * np.where(loud, MEDIAN_VARIANCE, 1.0)
    means = np.where(loud, medians, means)
    trust = effect**2 / (variance + effect**2)
    covariance = np.diag(trust * variance) + np.outer(1 - trust, 1 - trust) * covariance
    share = np.minimum(trust * variance / np.diag(covariance), 1.0)
    columns = {"noise": noise, "noise_df": noise_df, "own_share": share}
    return columns | {"estimate": curve + trust * (means - curve)}, covariance, df


def level_means(
    index: np.ndarray,
    log_y: np.ndarray,
    weight: np.ndarray,
    n_levels: int,
    least: float = LEAST_WEIGHT,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted mean of each level, the trials it is worth, and the variance within it.

    index: shape (m,), the level of each trial, 0 ... n_levels - 1. log_y, weight: shape (m,).
    Returns three arrays of shape (n_levels,): mean, sum of weights, variance (nan where fewer than
    two trials count). A level whose trials are all flagged keeps its mean with a small weight.
    """
    weight = np.maximum(weight, least)
    count = np.bincount(index, weight, n_levels)
    mean = np.bincount(index, weight * log_y, n_levels) / count
    squares = np.bincount(index, weight * (log_y - mean[index]) ** 2, n_levels)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(count > 1.5, squares / (count - 1), np.nan)
    return mean, count, variance


def level_medians(index: np.ndarray, log_y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Median of the trials of each level that count, of all where none does; shape (n,). Arguments
    as of `level_means`."""
    counted = weight >= 0.5
    counted |= (np.bincount(index, counted) == 0)[index]
    return pd.Series(log_y[counted]).groupby(index[counted]).median().to_numpy(float)


def level_noise(
    variance: np.ndarray, df: np.ndarray, common: float
) -> tuple[np.ndarray, np.ndarray]:
    """Each level's noise, drawn towards the common one by as much as the levels agree.

    variance: shape (n,), variance within each level, nan where unknown. df: shape (n,), its degrees
    of freedom. common: the noise all levels share, a standard deviation. Returns the standard
    deviations and their degrees of freedom, shape (n,) each.
    """
    prior_df, known = prior_degrees(variance, df), _known(variance, df)
    own_df = np.where(known, df, 0.0)
    if prior_df is None:
        return np.full(len(df), common), np.full(len(df), max(own_df.sum(), 1.0))
    own = np.where(known, np.nan_to_num(variance), 0.0)
    freedom = prior_df + own_df
    return np.sqrt((prior_df * common**2 + own_df * own) / freedom), np.maximum(freedom, 1.0)


def few_trials_factor(df: np.ndarray) -> np.ndarray:
    """How much wider than a normal Student's t with these degrees of freedom is at STANDARD_ERRORS,
    shape (n,)."""
    return np.asarray(stdtrit(df, ndtr(STANDARD_ERRORS)) / STANDARD_ERRORS)


def prior_degrees(variance: np.ndarray, df: np.ndarray) -> float | None:
    """Degrees of freedom that the common noise counts for beside a level's own; None where too few
    levels tell.

    variance, df: as of `level_noise`.
    """
    known = _known(variance, df)
    if known.sum() < FEWEST_LEVELS:
        return None
    logs = np.log(variance[known])
    surplus = float(np.var(logs, ddof=1) - np.mean(polygamma(1, df[known] / 2)))
    return min(2 * inverse_trigamma(surplus), LARGEST_PRIOR_DF) if surplus > 0 else LARGEST_PRIOR_DF


def prior_noise(variance: np.ndarray, df: np.ndarray, prior_df: float) -> float:
    """The noise that levels are drawn towards, a standard deviation, where they may scatter by
    orders of magnitude: unlike the pooled one, the noisiest of them do not make it alone (Smyth
    2004, section 6.2).

    variance, df, prior_df: as of `prior_degrees`.
    """
    known = _known(variance, df)
    half = df[known] / 2
    logs = np.log(variance[known]) - digamma(half) + np.log(half)
    return float(np.exp((logs.mean() + digamma(prior_df / 2) - np.log(prior_df / 2)) / 2))


def _known(variance: np.ndarray, df: np.ndarray) -> np.ndarray:
    return np.isfinite(variance) & (df > 0.5) & (variance > 0)


def inverse_trigamma(value: float) -> float:
    """x > 0 with trigamma(x) = value, by Newton's method on 1 / trigamma (Smyth 2004, appendix)."""
    x = 0.5 + 1.0 / value
    for _ in range(20):
        tri = float(polygamma(1, x))
        x += tri * (1 - tri / value) / float(polygamma(2, x))
    return x


def single_noise(scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much of the scatter of single trials around the curve is noise, and how much is the
    levels' own, both of shape (n,).

    scatter: shape (n,), standard deviation of ln(response) around the curve. One trial cannot tell
    the two apart; what is known of noise and of levels before any data can (`TYPICAL_NOISE`,
    `MISFITS`): scatter of 10 % is seldom noise alone.
    """
    ratio, prior = np.array(list(MISFITS)), np.array(list(MISFITS.values()))
    share = ratio**2 / (1 + ratio**2)
    noise = scatter[:, None] * np.sqrt(1 - share)
    weight = prior * np.exp(-0.5 * (np.log(noise / TYPICAL_NOISE) / NOISE_SPREAD) ** 2)
    own = (weight * share).sum(axis=1) / weight.sum(axis=1)
    return scatter * np.sqrt(1 - own), scatter * np.sqrt(own)
