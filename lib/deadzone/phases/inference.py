"""From trials to the posterior of phases: noise hypotheses, one segmentation each, averaged by evidence.

The noise is never fixed. With replicates, their scatter gives the noise of a trial, and the size of
the misfit (what replicates do not average away) is left open; with one trial a level, the noise itself
is left open. Each value is a hypothesis, and its evidence is its weight (Kass and Raftery 1995, Bayes
Factors, Journal of the American Statistical Association 90).

An exact posterior rather than a bootstrap: a bootstrap refits the same preferred number of phases to
resampled trials, so it misses the uncertainty of that choice, and with one trial a level it has
nothing to resample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadzone.phases import noise
from deadzone.phases.noise import LevelTables, Replicates
from deadzone.phases.pieces import PieceScores, score_pieces, value_grid
from deadzone.phases.priors import slope_prior
from deadzone.phases.segmentation import Pieces, Segmentation, segment
from deadzone.phases.thresholds import Thresholds

MISFITS = {0.05: 0.35, 0.35: 0.25, 0.8: 0.25, 1.6: 0.10, 3.0: 0.05}
"""Misfit of a level as a multiple of the noise of one trial, and its prior probability."""

PERSISTENCE = 1.3
"""Neighbouring levels share part of their misfit, so along a piece it averages out more slowly than if it
were independent; a correlation of 0.25 between neighbours has this effect, sqrt((1 + r) / (1 - r))."""

SINGLE_NOISE = np.geomspace(0.004, 0.2, 8)
"""Noise tried where no level has replicates (standard deviation of ln(response))."""

FORGET = 1e-3
"""Hypotheses with less posterior probability than this are dropped."""

FEW_TRIALS = 2
"""With so few trials a level, all of them may be spoiled at once."""


@dataclass(frozen=True)
class Hypothesis:
    """One assumption about the noise: standard deviations of ln(response), and what follows from it.

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


@dataclass(frozen=True)
class Posterior:
    """Everything the data say about the curve.

    x: ln(level), shape (n,). pieces: of all hypotheses, weights sum to 1 over each step.
    noise, misfit: posterior means. best: the most probable hypothesis, scores: its pieces.
    """

    x: np.ndarray
    trials: Replicates
    pieces: Pieces
    noise: float
    misfit: float
    log_evidence: float
    best: Hypothesis
    scores: PieceScores


def infer(x: np.ndarray, value: np.ndarray, level: np.ndarray, thresholds: Thresholds) -> Posterior:
    """Posterior of the phases of one curve.

    x: shape (n,), ln(level), increasing. value: shape (trials,), ln(response), smaller is better.
    level: shape (trials,), position of each trial's level in x.
    """
    trials = noise.group(value, level, len(x))
    joints = np.arange(len(x))
    few = trials.counts <= FEW_TRIALS
    fits: list[tuple[Hypothesis, PieceScores, Segmentation]] = []
    for hypothesis in hypotheses(trials):
        grid = value_grid(x, hypothesis.tables, few)
        scores = score_pieces(x, hypothesis.tables, grid, slope_prior(thresholds), joints)
        fits.append((hypothesis, scores, segment(scores)))
    return _average(x, trials, fits)


def hypotheses(trials: Replicates) -> list[Hypothesis]:
    """The noise assumptions to weigh against each other."""
    if trials.replicated:
        return _replicated(trials)
    out = []
    for scale in SINGLE_NOISE:
        frame, by_scale = noise.tabulate(trials, scale, noise.OUTLIER_RATE)
        weights = noise.scale_weights(0.0, noise.SINGLE_HETEROGENEITY)
        log_prior = -0.5 * (np.log(scale / noise.TYPICAL_NOISE) / noise.NOISE_SPREAD) ** 2
        tables = noise.combine(frame, by_scale, weights, 0.0)
        out.append(Hypothesis(scale, 0.0, log_prior, scale * noise.SCALES, frame, by_scale, weights, tables))
    return out


def _replicated(trials: Replicates) -> list[Hypothesis]:
    base = noise.rough_scale(trials)
    frame, by_scale = noise.tabulate(trials, base, noise.OUTLIER_RATE)
    weights = noise.learn_scale(frame, by_scale, base)
    scale = base * float(np.exp(weights @ np.log(noise.SCALES)))
    out = []
    for ratio, probability in MISFITS.items():
        tables = noise.combine(frame, by_scale, weights, PERSISTENCE * ratio * scale)
        out.append(
            Hypothesis(
                scale,
                ratio * scale,
                np.log(probability),
                base * noise.SCALES,
                frame,
                by_scale,
                weights,
                tables,
            )
        )
    return out


def _average(
    x: np.ndarray, trials: Replicates, fits: list[tuple[Hypothesis, PieceScores, Segmentation]]
) -> Posterior:
    """Bayesian model averaging over the noise hypotheses."""
    score = np.array([hypothesis.log_prior + fit.log_evidence for hypothesis, _, fit in fits])
    weight = np.exp(score - score.max())
    log_evidence = float(score.max() + np.log(weight.sum()))
    weight /= weight.sum()
    kept = [(w, fit) for w, fit in zip(weight, fits, strict=True) if w > FORGET]
    total = sum(w for w, _ in kept)
    parts = [(w / total, fit[2].pieces) for w, fit in kept]
    joined = {
        name: np.concatenate([getattr(pieces, name) for _, pieces in parts])
        for name in ("start", "stop", "left", "right", "label", "bend")
    }
    pieces = Pieces(**joined, weight=np.concatenate([w * pieces.weight for w, pieces in parts]))
    best, scores, _ = fits[int(np.argmax(weight))]
    spread = float(weight @ [hypothesis.noise for hypothesis, _, _ in fits])
    misfit = float(weight @ [hypothesis.misfit for hypothesis, _, _ in fits])
    return Posterior(x, trials, pieces, spread, misfit, log_evidence, best, scores)
