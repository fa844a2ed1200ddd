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
from dataclasses import dataclass

import numpy as np

from deadzone.analysis.phases import noise
from deadzone.analysis.phases.intervals import curve_values
from deadzone.analysis.phases.noise import (
    LevelTables,
    Replicates,
    graded_grid,
    parabolas,
    value_grid,
)
from deadzone.analysis.phases.priors import SlopePrior, slope_prior
from deadzone.analysis.phases.segmentation import (
    Pieces,
    PieceScores,
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

SHORT_SWEEP = 40
"""Up to this many levels, every one is tried as a joint and nothing is approximated."""

PASSES = 2
"""Passes that settle the curve and the candidate joints of a long sweep."""

UNLIKELY_JOINT = 1e-3
"""Levels with less posterior probability than this of being a joint are not tried again."""

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


@dataclass(frozen=True)
class Hypotheses:
    """A family of noise assumptions: `make(value)` prepares one; `begin` is where to start
    looking."""

    make: Callable[[float], Hypothesis]
    values: tuple[float, ...]
    begin: int


@dataclass(frozen=True)
class Posterior:
    """Everything the data say about the curve.

    x: ln(level), shape (n,). pieces: of all hypotheses, weights sum to 1 over each step. noise,
    misfit: posterior means. best: the most probable hypothesis, scores: its pieces. laws: the
    smooth laws, their evidence relative to that of all models.
    """

    x: np.ndarray
    trials: Replicates
    pieces: Pieces
    noise: float
    misfit: float
    best: Hypothesis
    scores: PieceScores
    laws: tuple[FittedLaw, ...]


Fitted = tuple[Hypothesis, PieceScores, Segmentation]


def infer(
    x: np.ndarray,
    value: np.ndarray,
    level: np.ndarray,
    thresholds: Thresholds,
    laws: tuple[Law, ...] = LAWS,
) -> Posterior:
    """Posterior of the phases of one curve.

    x: shape (n,), ln(level), increasing. value: shape (trials,), ln(response), smaller is better.
    level: shape (trials,), position of each trial's level in x.
    """
    trials = noise.group(value, level, len(x))
    slope = slope_prior(thresholds)
    assumed = (_replicated if (trials.counts > 1).any() else _single)(x, trials)
    search = _search_all if len(x) <= SHORT_SWEEP else _search_long
    fits = []
    for hypothesis, scores, chains in search(x, trials, slope, assumed):
        both, fitted = with_laws(x, hypothesis.tables, chains, thresholds, laws)
        fits.append((hypothesis, scores, both, fitted))
    return _average(x, trials, fits)


def _single(x: np.ndarray, trials: Replicates) -> Hypotheses:
    def make(scale: float) -> Hypothesis:
        frame, by_scale = noise.tabulate(trials, scale, scale, noise.OUTLIER_RATE)
        weights = noise.scale_weights(0.0, noise.SINGLE_HETEROGENEITY)
        log_prior = -0.5 * (np.log(scale / noise.TYPICAL_NOISE) / noise.NOISE_SPREAD) ** 2
        tables = noise.combine(frame, by_scale, weights, 0.0)
        return Hypothesis(
            scale, 0.0, log_prior, scale * noise.SCALES, frame, by_scale, weights, tables
        )

    rough = noise.roughness(x, trials.values[:, 0])
    begin = int(np.argmin(np.abs(np.log(SINGLE_NOISE / max(rough, 1e-9)))))
    return Hypotheses(make, tuple(SINGLE_NOISE), begin)


def _replicated(x: np.ndarray, trials: Replicates) -> Hypotheses:
    base = noise.rough_scale(trials)
    frame, by_scale = noise.tabulate(trials, base, base, noise.OUTLIER_RATE)
    weights = noise.learn_scale(frame, by_scale, base)
    scale = base * float(np.exp(weights @ np.log(noise.SCALES)))
    roughness = noise.roughness(x, frame.middle()) / scale
    prior = misfit_prior(roughness)

    def make(ratio: float) -> Hypothesis:
        misfit = ratio * scale
        if ratio in MISFITS:
            wide, likelihood = frame, by_scale
        else:
            wide, likelihood = noise.tabulate(
                trials, base, misfit / max(MISFITS), noise.OUTLIER_RATE
            )
            likelihood += (noise.mass(frame, by_scale) - noise.mass(wide, likelihood))[:, :, None]
        tables = noise.combine(wide, likelihood, weights, PERSISTENCE * misfit)
        return Hypothesis(
            scale,
            misfit,
            float(np.log(prior[ratio])),
            base * noise.SCALES,
            wide,
            likelihood,
            weights,
            tables,
        )

    return Hypotheses(make, tuple(prior), 1 if len(prior) == len(MISFITS) else len(prior) - 1)


def misfit_prior(roughness: float) -> dict[float, float]:
    """MISFITS, continued by doubling up to the roughness of the curve (both in units of the noise).

    Replicates of a program that always takes the same time, or of a table that repeats its rows, do
    not scatter at all; the curve may be rough all the same.
    """
    prior = dict(MISFITS)
    while max(prior) < roughness:
        prior[2 * max(prior)] = 0.7 * prior[max(prior)]
    return prior


def _weigh(assumed: Hypotheses, fit: Callable[[Hypothesis], Fitted]) -> list[Fitted]:
    """Fit the hypotheses from the first guess outwards, each way until they are hopeless."""
    fits: list[Fitted] = []
    best = -np.inf
    for way in (range(assumed.begin, len(assumed.values)), range(assumed.begin - 1, -1, -1)):
        for position in way:
            fits.append(fit(assumed.make(assumed.values[position])))
            score = fits[-1][0].log_prior + fits[-1][2].log_evidence
            best = max(best, score)
            if score < best - HOPELESS:
                break
    return fits


def _search_all(
    x: np.ndarray, trials: Replicates, slope: SlopePrior, assumed: Hypotheses
) -> list[Fitted]:
    """Every level may be a joint, and every likelihood is used as it is."""
    joints = np.arange(len(x))
    few = trials.counts <= FEW_TRIALS

    def fit(hypothesis: Hypothesis) -> Fitted:
        grid = value_grid(x, hypothesis.tables, few)
        scores = score_pieces(x, hypothesis.tables, grid, slope, joints)
        return hypothesis, scores, segment(scores)

    return _weigh(assumed, fit)


def _search_long(
    x: np.ndarray, trials: Replicates, slope: SlopePrior, assumed: Hypotheses
) -> list[Fitted]:
    """Two passes over a long sweep: likely joints first, then the levels around them, on a finer
    grid."""
    from deadzone.analysis.phases.screening import around, candidate_joints, running_median

    first = assumed.make(assumed.values[assumed.begin])
    mean, spread = first.tables.moments
    joints = candidate_joints(x, mean, spread)
    fitted, known = running_median(mean), spread / 2

    def fit(hypothesis: Hypothesis) -> Fitted:
        own = np.maximum(hypothesis.tables.moments[1], np.abs(mean - fitted) / 2)
        grid = graded_grid(fitted[joints], known[joints], own[joints])
        shape = parabolas(hypothesis.tables, fitted)
        scores = score_pieces(x, hypothesis.tables, grid, slope, joints, shape)
        return hypothesis, scores, segment(scores)

    for _ in range(PASSES):
        pieces = fit(first)[2].pieces
        fitted, known = _curve(pieces, x, parabolas(first.tables, fitted).weight)
        starts = np.bincount(pieces.start, pieces.weight, minlength=len(x))
        likely = np.flatnonzero(starts > UNLIKELY_JOINT)
        joints = around(likely, starts[likely], len(x))
    return _weigh(assumed, fit)


def _curve(pieces: Pieces, x: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean of the curve at every level, and how well its piece there can be known; each
    (n,).

    A piece of k levels knows its ends to about 2 / sqrt(k) of what one level knows.
    """
    fitted, known = np.empty(len(x)), np.empty(len(x))
    total = np.concatenate([[0.0], np.cumsum(weight)])
    information = total[pieces.stop] - total[pieces.start]
    for m in range(len(x)):
        value, share = curve_values(pieces, x, m)
        fitted[m] = np.average(value, weights=share)
        here = (pieces.start <= m) & (pieces.stop >= m)
        known[m] = np.sqrt(np.average(4.0 / information[here], weights=pieces.weight[here]))
    return fitted, known


def _average(
    x: np.ndarray, trials: Replicates, fits: list[tuple[*Fitted, tuple[FittedLaw, ...]]]
) -> Posterior:
    """Bayesian model averaging over the noise hypotheses."""
    score = np.array([hypothesis.log_prior + fit.log_evidence for hypothesis, _, fit, _ in fits])
    weight = np.exp(score - score.max())
    weight /= weight.sum()
    kept = weight > FORGET
    count = float(np.median(trials.counts))
    wide = [fit.pieces.widened(_sharing(hypothesis, count)) for hypothesis, _, fit, _ in fits]
    pieces = Pieces.joined(
        [part for part, is_kept in zip(wide, kept, strict=True) if is_kept],
        weight[kept] / weight[kept].sum(),
    )
    best, scores, _, _ = fits[int(np.argmax(weight))]
    spread = float(weight @ [hypothesis.noise for hypothesis, _, _, _ in fits])
    misfit = float(weight @ [hypothesis.misfit for hypothesis, _, _, _ in fits])
    total = float(log_sum_exp(score, axis=0))
    priors = [hypothesis.log_prior - total for hypothesis, _, _, _ in fits]
    laws = tuple(
        averaged(same_law, priors) for same_law in zip(*(law for _, _, _, law in fits), strict=True)
    )
    return Posterior(x, trials, pieces, spread, misfit, best, scores, laws)


def _sharing(hypothesis: Hypothesis, count: float) -> float:
    """How much wider values of the curve scatter than they would if neighbouring levels shared no
    misfit.

    count: of the trials of a typical level.
    """
    misfit = hypothesis.misfit or SINGLE_MISFIT * hypothesis.noise
    sampling, own = hypothesis.noise**2 / count, (PERSISTENCE * misfit) ** 2
    return float(np.sqrt((sampling + LONG_RUN * own) / (sampling + own)))
