"""Smooth laws as models beside the chains of pieces: each with a prior and an evidence, averaged
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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.phases.intervals import central, weighted_quantiles
from deadzone.analysis.phases.noise import LevelTables, look_up
from deadzone.analysis.phases.priors import BREAKTHROUGH, LINEAR, PLATEAU, REVERSAL
from deadzone.analysis.phases.segmentation import NEGLIGIBLE, Pieces, Segmentation, log_sum_exp
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

HOPELESS = 12.0
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
    evidence = chains.log_evidence + float(np.log1p(-sum(law.prior for law in laws)))
    fitted = tuple(_fit(law, x - x[0], tables, evidence - HOPELESS) for law in laws)
    score = np.array([evidence, *(fit.log_evidence for fit in fitted)])
    total = float(log_sum_exp(score, axis=0))
    parts = [chains.pieces, *(_pieces(fit, x, thresholds) for fit in fitted)]
    return Segmentation(total, Pieces.joined(parts, np.exp(score - total))), fitted


def averaged(each: Sequence[FittedLaw], log_prior: Sequence[float]) -> FittedLaw:
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
            known = len(values) and values.any()
            ends = (
                weighted_quantiles(values, law.weight, central(certainty))
                if known
                else (np.nan,) * 3
            )
            row |= dict(zip((f"{name}_low", name, f"{name}_high"), ends, strict=True))
        rows.append(row)
    intervals = (f"{name}{end}" for name in TOLD for end in ("_low", "", "_high"))
    return pd.DataFrame(rows, columns=["law", "log_probability", *intervals])
