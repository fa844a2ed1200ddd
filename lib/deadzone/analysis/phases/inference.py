"""From trials to the posterior of phases: noise hypotheses, one segmentation each, averaged by
evidence.

The noise is never fixed. With replicates, their scatter gives the noise of a trial, and the size of
the misfit (what replicates do not average away) is left open; with one trial a level, the noise
itself is left open. Each value is a hypothesis, and its evidence is its weight (Kass and Raftery
1995, Bayes Factors, Journal of the American Statistical Association 90).

An exact posterior rather than a bootstrap: a bootstrap refits the same preferred number of phases
to resampled trials, so it misses the uncertainty of that choice, and with one trial a level it has
nothing to resample.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from deadzone.analysis.phases import noise
from deadzone.analysis.phases.noise import LevelTables, Replicates, value_grid
from deadzone.analysis.phases.priors import slope_prior
from deadzone.analysis.phases.segmentation import (
    Pieces,
    Segmentation,
    log_sum_exp,
    score_pieces,
    segment,
)
from deadzone.analysis.phases.smooth import LAWS, FittedLaw, Law, averaged, with_laws
from deadzone.analysis.phases.thresholds import Thresholds

MISFITS = {0.05: 0.35, 0.35: 0.25, 0.8: 0.25, 1.6: 0.10, 3.0: 0.05}
"""Misfit of a level as a multiple of the noise of one trial, and its prior probability."""

PERSISTENCE = 1.3
"""Neighbouring levels share part of their misfit, so along a piece it averages out more slowly than
if it were independent; a correlation of 0.25 between neighbours has this effect, sqrt((1 + r) / (1
- r))."""

LONG_RUN = 3.0
"""Variance of the mean of many levels' misfit over what their scatter around the curve suggests,
for effects that neighbours share with a correlation of 0.5, (1 + r) / (1 - r): a curve follows what
neighbours share, so that its residuals do not show it, and what rests on several levels is known
less well than they say (Hart 1991, Kernel regression estimation with time series errors, JRSS B
53)."""

SINGLE_MISFIT = 0.35
"""Misfit over the noise of a trial where no level has replicates, which cannot tell the two
apart."""

SINGLE_NOISE = np.geomspace(0.004, 0.2, 8)
"""Noise tried where no level has replicates (standard deviation of ln(response))."""

HOPELESS = 8.0
"""Hypotheses beyond one whose log evidence is this far below the best are not tried."""

FORGET = 1e-3
"""Hypotheses with less posterior probability than this are dropped."""

FEW_TRIALS = 2
"""With so few trials a level, all of them may be spoiled at once."""


@dataclass(frozen=True)
class Hypothesis:
    """One assumption about the noise: standard deviations of ln(response), and what follows from
    it.

    scales, scale_weights: noise scales a level may have, and how probable each is.
    frame, by_scale: the noise tables for these scales; see `noise`. tables: all integrated out.
    """

    noise: float
    misfit: float
    log_prior: float
    scales: np.ndarray
    frame: LevelTables
    by_scale: np.ndarray
    scale_weights: np.ndarray
    tables: LevelTables


Hypotheses = tuple[Callable[[float], Hypothesis], tuple[float, ...], int]
"""A family of noise assumptions: what prepares one from its value, the values, and the position of
the one where to start looking."""


@dataclass(frozen=True)
class Posterior:
    """Everything the data say about the curve.

    x: ln(level), shape (n,). pieces: of all hypotheses, weights sum to 1 over each step. noise,
    misfit: posterior means. best: the most probable hypothesis. laws: the smooth laws, their
    evidence relative to that of all models.
    """

    x: np.ndarray
    pieces: Pieces
    noise: float
    misfit: float
    best: Hypothesis
    laws: tuple[FittedLaw, ...]


Fitted = tuple[Hypothesis, Segmentation, tuple[FittedLaw, ...]]


def infer(
    x: np.ndarray,
    value: np.ndarray,
    level: np.ndarray,
    thresholds: Thresholds,
    laws: tuple[Law, ...] = LAWS,
    sound: np.ndarray | bool = False,
) -> Posterior:
    """Posterior of the phases of one curve: the hypotheses are fitted from the first guess
    outwards, each way until they are hopeless.

    x: shape (n,), ln(level), increasing. value: shape (trials,), ln(response), smaller is better.
    level: shape (trials,), position of each trial's level in x. sound: shape (n,), levels that are
    not spoiled, however far off they are.
    """
    trials = replace(noise.group(value, level, len(x)), sound=sound)
    slope, few = slope_prior(thresholds), trials.counts <= FEW_TRIALS
    assume = _replicated if (trials.counts > 1).any() else _single
    make, values, begin = assume(x, trials)
    fits: list[Fitted] = []
    best = -np.inf
    for way in (values[begin:], values[:begin][::-1]):
        for assumed in way:
            hypothesis = make(assumed)
            grid = value_grid(x, hypothesis.tables, few)
            chains = segment(score_pieces(x, hypothesis.tables, grid, slope))
            fits.append((hypothesis, *with_laws(x, hypothesis.tables, chains, thresholds, laws)))
            score = hypothesis.log_prior + chains.log_evidence
            best = max(best, score)
            if score < best - HOPELESS:
                break
    return _average(x, trials, fits)


def _single(x: np.ndarray, trials: Replicates) -> Hypotheses:
    def make(scale: float) -> Hypothesis:
        frame, by_scale = noise.tabulate(trials, scale, scale, noise.OUTLIER_RATE)
        weights = noise.scale_weights(0.0, noise.SINGLE_HETEROGENEITY)
        log_prior = -0.5 * (np.log(scale / noise.TYPICAL_NOISE) / noise.NOISE_SPREAD) ** 2
        tables = noise.combine(frame, by_scale, weights, 0.0, trials.sound)
        scales = scale * noise.SCALES
        return Hypothesis(scale, 0.0, log_prior, scales, frame, by_scale, weights, tables)

    rough = noise.roughness(x, trials.values[:, 0])
    begin = int(np.argmin(np.abs(np.log(SINGLE_NOISE / max(rough, 1e-9)))))
    return make, tuple(SINGLE_NOISE), begin


def _replicated(x: np.ndarray, trials: Replicates) -> Hypotheses:
    base = noise.rough_scale(trials)
    frame, by_scale = noise.tabulate(trials, base, base, noise.OUTLIER_RATE)
    weights = noise.learn_scale(frame, by_scale, base)
    scale = base * float(np.exp(weights @ np.log(noise.SCALES)))
    # Replicates of a program that always takes the same time, or of a table that repeats its rows,
    # do not scatter at all; the curve may be rough all the same.
    prior = dict(MISFITS)
    while max(prior) < noise.roughness(x, frame.middle()) / scale:
        prior[2 * max(prior)] = 0.7 * prior[max(prior)]

    def make(ratio: float) -> Hypothesis:
        misfit = ratio * scale
        if ratio in MISFITS:
            wide, likelihood = frame, by_scale
        else:
            wide, likelihood = noise.tabulate(
                trials, base, misfit / max(MISFITS), noise.OUTLIER_RATE
            )
            likelihood += (noise.mass(frame, by_scale) - noise.mass(wide, likelihood))[:, :, None]
        tables = noise.combine(wide, likelihood, weights, PERSISTENCE * misfit, trials.sound)
        log_prior, scales = float(np.log(prior[ratio])), base * noise.SCALES
        return Hypothesis(scale, misfit, log_prior, scales, wide, likelihood, weights, tables)

    return make, tuple(prior), 1 if len(prior) == len(MISFITS) else len(prior) - 1


def _average(x: np.ndarray, trials: Replicates, fits: list[Fitted]) -> Posterior:
    """Bayesian model averaging over the noise hypotheses."""
    score = np.array([hypothesis.log_prior + fit.log_evidence for hypothesis, fit, _ in fits])
    weight = np.exp(score - score.max())
    weight /= weight.sum()
    kept = weight > FORGET
    wide = []
    for hypothesis, fit, _ in fits:
        # Values of the curve scatter wider than if neighbouring levels shared no misfit.
        misfit = hypothesis.misfit or SINGLE_MISFIT * hypothesis.noise
        own = (PERSISTENCE * misfit) ** 2
        sampling = hypothesis.noise**2 / float(np.median(trials.counts))
        factor = float(np.sqrt((sampling + LONG_RUN * own) / (sampling + own)))
        wide.append(fit.pieces.widened(factor))
    pieces = Pieces.joined(
        [part for part, is_kept in zip(wide, kept, strict=True) if is_kept],
        weight[kept] / weight[kept].sum(),
    )
    best = fits[int(np.argmax(weight))][0]
    spread = float(weight @ [hypothesis.noise for hypothesis, _, _ in fits])
    misfit = float(weight @ [hypothesis.misfit for hypothesis, _, _ in fits])
    total = float(log_sum_exp(score, axis=0))
    priors = [hypothesis.log_prior - total for hypothesis, _, _ in fits]
    laws = tuple(
        averaged(same_law, priors) for same_law in zip(*(law for _, _, law in fits), strict=True)
    )
    return Posterior(x, pieces, spread, misfit, best, laws)
