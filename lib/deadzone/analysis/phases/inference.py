"""From trials to the posterior of phases: noise hypotheses, one segmentation each, averaged by
evidence.

The noise is never fixed. With replicates, their scatter gives the noise of a trial, and the size of
the misfit (what replicates do not average away) is left open; with one trial a level, the noise
itself is left open. Each value is a hypothesis, and its evidence is its weight (Kass and Raftery
1995, Bayes Factors, Journal of the American Statistical Association 90).

An exact posterior rather than a bootstrap: a bootstrap refits the same preferred number of phases
to resampled trials, so it misses the uncertainty of that choice, and with one trial a level it has
nothing to resample.

Smooth laws as models beside the chains of pieces: each with a prior and an evidence, averaged
with them.

A law is a sum of powers of the knob, y = sum over k of c_k n^p_k with n the knob over its smallest
level: Amdahl's law and a response that saturates are 1 / n and a constant, the Universal
Scalability Law has n beside them (Amdahl 1967, AFIPS Conf. Proc. 30, 483-485; Gunther 2007,
Guerrilla Capacity Planning). A response to maximise is taken as its reciprocal. The posterior
averages over chains and laws (Hoeting, Madigan, Raftery and Volinsky 1999, Bayesian model
averaging, Statistical Science 14, 382-417). A law's evidence is that of a Gaussian around its best
fit (Tierney and Kadane 1986, JASA 81, 82-86), corrected by importance weights at fixed, evenly
spread points, so that the same table always gives the same model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from deadzone.analysis.phases import noise
from deadzone.analysis.phases.noise import LevelTables, Replicates, look_up, value_grid
from deadzone.analysis.phases.priors import BREAKTHROUGH, LINEAR, PLATEAU, REVERSAL, slope_prior
from deadzone.analysis.phases.segmentation import (
    NEGLIGIBLE,
    Pieces,
    Segmentation,
    central,
    log_sum_exp,
    score_pieces,
    segment,
    weighted_quantiles,
)
from deadzone.analysis.phases.thresholds import Thresholds

TOLD = ("share", "coherency")
"""Parameters of a law that have intervals."""

POINTS = 96
"""Curves of a law that carry its posterior."""

STRETCH = 1.2
"""They spread a little wider than the Gaussian at the best fit, so that no weight is large."""

MOST_ROUNDS, SETTLED = 12, 0.1
"""Steps to the best fit end where one is shorter than this many standard deviations."""

LONGEST_STEP = 1.5
"""In ln(c)."""

FAR_OFF = 4.0
"""A level further from the curve than so many of its own standard deviations loses most of its say
in the best fit."""

HOPELESS_LAW = 12.0
"""A law whose log evidence lies this far below that of the chains has no share."""


@dataclass(frozen=True)
class Law:
    """powers: of the terms. crossing: mean and standard deviation of ln(n) where each further term
    reaches the first, as shares of the range of ln(n). prior: probability of the law."""

    name: str
    powers: tuple[float, ...]
    crossing: tuple[tuple[float, float], ...]
    prior: float


LAWS = (
    Law("Amdahl's law", (-1.0, 0.0), ((0.6, 0.5),), 0.06),
    Law("Universal Scalability Law", (-1.0, 0.0, 1.0), ((0.6, 0.5), (0.9, 0.4)), 0.04),
)
"""Broad: a curve may flatten at its beginning or be about to."""


@dataclass(frozen=True)
class FittedLaw:
    """log_evidence: with the prior of the law. theta: shape (points, terms), ln(c) of the first
    term and of the others relative to it. value: shape (points, n), ln(response). weight: shape
    (points,), sum 1; no points where the law is hopeless."""

    law: Law
    log_evidence: float
    theta: np.ndarray
    value: np.ndarray
    weight: np.ndarray


def with_laws(
    x: np.ndarray,
    tables: LevelTables,
    chains: Segmentation,
    thresholds: Thresholds,
    laws: Sequence[Law],
) -> tuple[Segmentation, tuple[FittedLaw, ...]]:
    """The posterior of chains and laws together, under one assumption about the noise, and the
    laws.

    x: shape (n,), ln(level). tables: of the levels. thresholds: they label the steps of a law.
    """
    evidence = chains[0] + float(np.log1p(-sum(law.prior for law in laws)))
    fitted = tuple(_fit(law, x - x[0], tables, evidence - HOPELESS_LAW) for law in laws)
    score = np.array([evidence, *(fit.log_evidence for fit in fitted)])
    total = float(log_sum_exp(score, axis=0))
    parts = [chains[1], *(_pieces(fit, x, thresholds) for fit in fitted)]
    return (total, Pieces.joined(parts, np.exp(score - total))), fitted


def averaged(each: Sequence[FittedLaw], log_prior: np.ndarray) -> FittedLaw:
    """One law over several assumptions about the noise. log_prior: of each."""
    score = np.array([fit.log_evidence for fit in each]) + log_prior
    total = float(log_sum_exp(score, axis=0))
    weight = [share * fit.weight for share, fit in zip(np.exp(score - total), each, strict=True)]
    theta, value = (
        np.concatenate([getattr(fit, name) for fit in each]) for name in ("theta", "value")
    )
    return FittedLaw(each[0].law, total, theta, value, np.concatenate(weight))


def _fit(law: Law, u: np.ndarray, tables: LevelTables, least: float) -> FittedLaw:
    """A law under one assumption about the noise. u: shape (n,), ln(n). least: log evidence below
    which it is hopeless."""
    power, crossing = np.array(law.powers), u[-1] * np.array(law.crossing)
    apart = power[1:] - power[0]
    mean, precision = -apart * crossing[:, 0], (apart * crossing[:, 1]) ** -2.0
    centre, spread = tables.moments

    def curve(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        term = power[:, None] * u + theta[..., None] * (np.arange(len(power)) > 0)[:, None]
        total = log_sum_exp(term, axis=-2)
        return theta[..., :1] + total, np.exp(term - total[..., None, :])

    def density(theta: np.ndarray) -> np.ndarray:
        seen = look_up(tables, np.arange(len(u)), curve(theta)[0]).sum(axis=-1)
        prior = np.log(precision / (2 * np.pi)) - precision * (theta[..., 1:] - mean) ** 2
        return np.asarray(np.log(law.prior) + seen + 0.5 * prior.sum(axis=-1))

    theta, pull = np.concatenate([[0.0], mean]), np.concatenate([[0.0], precision])
    theta[0] = np.median(centre - curve(theta)[0])
    for _ in range(MOST_ROUNDS):
        value, share = curve(theta)
        off, slope = centre - value, np.concatenate([np.ones((1, len(u))), share[1:]])
        weight = 1.0 / (spread**2 + (off / FAR_OFF) ** 2)
        curvature = (slope * weight) @ slope.T + np.diag(pull)
        towards = slope @ (weight * off) - pull * (theta - np.append(0.0, mean))
        step = np.linalg.solve(curvature, towards).clip(-LONGEST_STEP, LONGEST_STEP)
        theta = theta + step
        if step @ curvature @ step < SETTLED**2:
            break
    root = STRETCH * np.linalg.cholesky(np.linalg.inv(curvature))
    volume = np.log(np.diag(root)).sum() + 0.5 * len(theta) * np.log(2 * np.pi)
    if (evidence := float(density(theta) + volume)) < least:
        return FittedLaw(law, evidence, theta[None][:0], value[None][:0], theta[:0])
    normal = _even_normal(len(theta))
    theta = theta + normal @ root.T
    score = density(theta) + volume + 0.5 * (normal**2).sum(axis=1) - np.log(POINTS)
    evidence = float(log_sum_exp(score, axis=0))
    return FittedLaw(law, evidence, theta, curve(theta)[0], np.exp(score - evidence))


def _even_normal(dimensions: int) -> np.ndarray:
    """Points of a standard normal, evenly spread, shape (POINTS, dimensions): Weyl's sequence with
    the powers of the root of g^(d + 1) = g + 1, the plastic number in two dimensions."""
    from scipy.special import ndtri

    g = np.roots([1, *[0] * (dimensions - 1), -1, -1]).real.max()
    steps = g ** -np.arange(1.0, dimensions + 1)
    return np.asarray(ndtri((0.5 + np.arange(1, POINTS + 1)[:, None] * steps) % 1))


def _pieces(fitted: FittedLaw, x: np.ndarray, thresholds: Thresholds) -> Pieces:
    """Curves of a law as pieces of one step each, in the order of the knob, one curve after
    another."""
    likely, steps = fitted.weight > NEGLIGIBLE, len(x) - 1
    value, start = fitted.value[likely], np.tile(np.arange(steps), likely.sum())
    slope = -np.diff(value, axis=1).ravel() / np.diff(x)[start]
    edges = (thresholds.reversal, thresholds.linear, thresholds.breakthrough)
    label = np.array([REVERSAL, PLATEAU, LINEAR, BREAKTHROUGH])[np.digitize(slope, edges)]
    weight, is_law = np.repeat(fitted.weight[likely], steps), np.ones(len(start), dtype=bool)
    left, right = value[:, :-1].ravel(), value[:, 1:].ravel()
    return Pieces(start, start + 1, left, right, label, np.zeros(len(start)), weight, is_law)


def law_table(laws: Sequence[FittedLaw], certainty: float) -> pd.DataFrame:
    """One row a law; the columns are described in `PhaseResult`. log_evidence: of each, relative to
    that of all models."""
    rows = []
    for law in laws:
        share = np.exp(np.hstack([np.zeros((len(law.theta), 1)), law.theta[:, 1:]]))
        share /= share.sum(axis=1, keepdims=True)
        row = {"law": law.law.name, "log_probability": law.log_evidence}
        for name, values in zip(TOLD, (1 - share[:, 0], share[:, 2:].sum(axis=1)), strict=True):
            if values.any():
                ends = weighted_quantiles(values, law.weight, central(certainty))
                row |= dict(zip((f"{name}_low", name, f"{name}_high"), ends, strict=True))
        rows.append(row)
    intervals = (f"{name}{end}" for name in TOLD for end in ("_low", "", "_high"))
    return pd.DataFrame(rows, columns=["law", "log_probability", *intervals])


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
    by_scale: the noise tables for these scales; see `noise`. tables: all integrated out.
    """

    noise: float
    misfit: float
    log_prior: float
    scales: np.ndarray
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
    is_interval: bool = False,
    sound: np.ndarray | bool = False,
) -> Posterior:
    """Posterior of the phases of one curve: the hypotheses are fitted from the first guess
    outwards, each way until they are hopeless.

    x: shape (n,), ln(level), increasing. value: shape (trials,), ln(response), smaller is better.
    level: shape (trials,), position of each trial's level in x. is_interval: whether x are the
    levels themselves, where no law holds. sound: shape (n,), levels that are not spoiled, however
    far off they are.
    """
    laws = () if is_interval else LAWS
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
            best = max(best, score := hypothesis.log_prior + chains[0])
            if score < best - HOPELESS:
                break
    return _average(x, trials, fits)


def _single(x: np.ndarray, trials: Replicates) -> Hypotheses:
    def make(scale: float) -> Hypothesis:
        frame, by_scale = noise.tabulate(trials, scale, scale)
        weights = noise.scale_weights(0.0, noise.SINGLE_HETEROGENEITY)
        log_prior = -0.5 * (np.log(scale / noise.TYPICAL_NOISE) / noise.NOISE_SPREAD) ** 2
        tables = noise.combine(frame, by_scale, weights, 0.0, trials.sound)
        return Hypothesis(scale, 0.0, log_prior, scale * noise.SCALES, by_scale, weights, tables)

    rough = noise.roughness(x, trials.values[:, 0])
    begin = int(np.argmin(np.abs(np.log(SINGLE_NOISE / max(rough, 1e-9)))))
    return make, tuple(SINGLE_NOISE), begin


def _replicated(x: np.ndarray, trials: Replicates) -> Hypotheses:
    base = noise.rough_scale(trials)
    frame, by_scale = noise.tabulate(trials, base, base)
    weights = noise.learn_scale(frame, by_scale, base)
    scale = base * float(np.exp(weights @ np.log(noise.SCALES)))
    # Replicates of a program that always takes the same time, or of a table that repeats its rows,
    # do not scatter at all; the curve may be rough all the same.
    prior = dict(MISFITS)
    while max(prior) < noise.roughness(x, frame.middle()) / scale:
        prior[2 * max(prior)] = 0.7 * prior[max(prior)]

    def make(ratio: float) -> Hypothesis:
        misfit = ratio * scale
        wide, likelihood = frame, by_scale
        if ratio not in MISFITS:
            wide, likelihood = noise.tabulate(trials, base, misfit / max(MISFITS))
            likelihood += (noise.mass(frame, by_scale) - noise.mass(wide, likelihood))[:, :, None]
        tables = noise.combine(wide, likelihood, weights, PERSISTENCE * misfit, trials.sound)
        log_prior, scales = float(np.log(prior[ratio])), base * noise.SCALES
        return Hypothesis(scale, misfit, log_prior, scales, likelihood, weights, tables)

    return make, tuple(prior), 1 if len(prior) == len(MISFITS) else len(prior) - 1


def _average(x: np.ndarray, trials: Replicates, fits: list[Fitted]) -> Posterior:
    """Bayesian model averaging over the noise hypotheses."""
    hypotheses, segmentations, laws = zip(*fits, strict=True)
    log_prior = np.array([hypothesis.log_prior for hypothesis in hypotheses])
    score = log_prior + [evidence for evidence, _ in segmentations]
    total = float(log_sum_exp(score, axis=0))
    weight = np.exp(score - score.max())
    weight /= weight.sum()
    wide, kept = [], np.flatnonzero(weight > FORGET)
    for i in kept:
        # Values of the curve scatter wider than if neighbouring levels shared no misfit.
        misfit = hypotheses[i].misfit or SINGLE_MISFIT * hypotheses[i].noise
        own = (PERSISTENCE * misfit) ** 2
        sampling = hypotheses[i].noise ** 2 / float(np.median(trials.counts))
        factor = float(np.sqrt((sampling + LONG_RUN * own) / (sampling + own)))
        wide.append(segmentations[i][1].widened(factor))
    return Posterior(
        x,
        Pieces.joined(wide, weight[kept] / weight[kept].sum()),
        noise=float(weight @ [hypothesis.noise for hypothesis in hypotheses]),
        misfit=float(weight @ [hypothesis.misfit for hypothesis in hypotheses]),
        best=hypotheses[int(np.argmax(weight))],
        laws=tuple(averaged(one, log_prior - total) for one in zip(*laws, strict=True)),
    )
