"""`fit_phases`: from a table of trials to a phase model.

The tables of the model are made from a sample and its posterior.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np
import pandas as pd

from deadzone.analysis.phases.drift import estimate_drift
from deadzone.analysis.phases.inference import Posterior, infer, law_table
from deadzone.analysis.phases.labels import by_sum, decode, runs, step_probabilities
from deadzone.analysis.phases.level_estimates import level_means, level_medians
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.naming import doubts
from deadzone.analysis.phases.noise import SCALES
from deadzone.analysis.phases.outliers import (
    OUTLIER_PROBABILITY,
    STANDS_OUT,
    confirmed,
    off_levels,
    reason,
    scattering,
    spoiled,
    within_levels,
)
from deadzone.analysis.phases.prepare import prepare
from deadzone.analysis.phases.result import CurveTrials, Noise
from deadzone.analysis.phases.segmentation import (
    Pieces,
    central,
    curve_values,
    joint_interval,
    phase_elasticities,
    step_elasticities,
    weighted_quantiles,
    wider,
)
from deadzone.analysis.phases.thresholds import CERTAINTY, LABELS, Thresholds
from deadzone.errors import PhaseError
from deadzone.study.levels import Level, is_number
from deadzone.study.scales import KnobScale, Place

SHRINKAGE = 4.0
"""The common noise counts as this many trials in each level's own spread, which few replicates know
badly."""

UNEVEN = 0.25
"""A straight piece is straight on the whole: from one level to the next it may rise or fall by this
share of the misfit besides."""


@dataclass(frozen=True)
class PhasePosterior:
    """A posterior with the decisions taken from it.

    probability: shape (steps, 5). labels: shape (steps,), the decoded sequence. spoiled: shape
    (trials,), probability. off: shape (n,), as of `_of_levels`. correction: shape (trials,), drift
    subtracted from each value."""

    sample: CurveTrials
    posterior: Posterior
    probability: np.ndarray
    labels: np.ndarray
    spoiled: np.ndarray
    off: np.ndarray
    correction: np.ndarray
    certainty: float

    def intervals(
        self,
        possible: Callable[[Pieces, np.ndarray, int], tuple[np.ndarray, np.ndarray]],
        count: int,
    ) -> np.ndarray:
        """Low end, middle and high end of the possible values at each of `count` places; shape
        (count, 3)."""
        pieces, x, ends = self.posterior.pieces, self.posterior.x, central(self.certainty)
        return np.array([weighted_quantiles(*possible(pieces, x, i), ends) for i in range(count)])

    def natural(self, value: np.ndarray) -> np.ndarray:
        """From the scale of the fit to units of the response."""
        return np.exp(value if self.sample.higher_is_worse else -value)


def phase_tables(reading: PhasePosterior) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row a phase, and one row an inner boundary of them; the columns are described in
    `PhaseResult`."""
    levels, pieces, x = reading.sample.levels, reading.posterior.pieces, reading.posterior.x
    # What begins by its sum (see `by_sum`) has no piece that does.
    by_sum_alone = reading.probability - step_probabilities(pieces, len(levels) - 1)
    phases, joints = [], []
    for first, stop, label in runs(reading.labels):
        slope, weight = phase_elasticities(pieces, x, first, stop, label)
        ends = central(reading.certainty)
        low, middle, high = weighted_quantiles(slope, weight, ends)
        spread = np.average((slope - np.average(slope, weights=weight)) ** 2, weights=weight)
        begin = levels[[0, 0]]
        if first:
            begin = levels[joint_interval(pieces, first, stop, label, reading.certainty)]
            near = (pieces.label == label) & (np.abs(pieces.start - first) <= 1) & pieces.opens
            begun = by_sum_alone[max(first - 2, 0) : first + 2, label]
            chance = max(float(pieces.weight[near].sum()), float(begun.max() - begun[0]))
            joints.append((levels[first], *begin, min(1.0, chance)))
        phases.append(
            {
                "start": levels[first],
                "stop": levels[stop],
                "label": LABELS[label],
                "elasticity": middle,
                "elasticity_low": low,
                "elasticity_high": high,
                "std_error": np.sqrt(spread),
                "probability": reading.probability[first:stop, label].mean(),
                "start_low": begin[0],
                "start_high": begin[1],
            }
        )
    columns = ["level", "low", "high", "probability"]
    return pd.DataFrame(phases), pd.DataFrame(joints, columns=columns)


def step_table(reading: PhasePosterior) -> pd.DataFrame:
    """One row a step between neighbouring levels."""
    levels = reading.sample.levels
    steps = len(levels) - 1
    own = UNEVEN * reading.posterior.misfit / np.diff(reading.posterior.x)
    bounds = wider(reading.intervals(step_elasticities, steps), own, reading.certainty)
    table = pd.DataFrame(
        {
            "start": levels[:-1],
            "stop": levels[1:],
            "label": [LABELS[k] for k in reading.labels],
            "probability": reading.probability[np.arange(steps), reading.labels],
            "elasticity": bounds[:, 1],
            "elasticity_low": bounds[:, 0],
            "elasticity_high": bounds[:, 2],
        }
    )
    for k, label in enumerate(LABELS):
        table[f"p_{label}"] = reading.probability[:, k]
    return table


def _of_levels(
    posterior: Posterior, value: np.ndarray, level: np.ndarray, chance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which trials are spoiled, a probability of shape (trials,), and which levels are off, shape
    (n,); see `off_levels`. chance: shape (trials,), that a trial is spoiled, by the curve alone."""
    common, n = posterior.noise, len(posterior.x)
    spoilt = within_levels(chance, value, level, common)
    agree = np.unique(level[(chance > OUTLIER_PROBABILITY) & (spoilt == 0)])
    spoilt[scattering(spoilt > OUTLIER_PROBABILITY, value, level, common)] = 0.0
    _, count, variance = level_means(level, value, 1 - spoilt, n)
    own = (count - 1) * variance
    error = np.sqrt((SHRINKAGE * common**2 + own) / (SHRINKAGE + count - 1) / count)
    median = level_medians(level, value, 1 - spoilt)
    off = off_levels(posterior.x, median, np.nan_to_num(error))
    # Those that the curve passes by are off; a loud one is only noisy, an end has its own test.
    loud = np.sqrt(np.nan_to_num(variance)) > SCALES[-1] * common
    for m in agree[(off[agree] == 0) & ~loud[agree] & (agree > 0) & (agree < n - 1)]:
        curve, weight = curve_values(posterior.pieces, posterior.x, m)
        by = median[m] - weighted_quantiles(curve, weight, (0.5,))[0]
        off[m] = by if abs(by) > STANDS_OUT else 0.0
    return spoilt, off


def level_table(reading: PhasePosterior) -> pd.DataFrame:
    """One row a level: what was measured there and what the curve says."""
    from scipy.special import stdtrit

    sample, level, n = reading.sample, reading.sample.level, len(reading.sample.levels)
    value, weight = sample.value - reading.correction, np.maximum(1 - reading.spoiled, 1e-9)
    many = np.bincount(level, weight)
    centre = np.bincount(level, weight * value) / many
    own = np.bincount(level, weight * (value - centre[level]) ** 2)
    freedom = SHRINKAGE + np.maximum(many - 1, 0)
    spread = np.sqrt((SHRINKAGE * reading.posterior.noise**2 + own) / freedom)
    half = stdtrit(freedom, (1 + reading.certainty) / 2) * spread / np.sqrt(np.maximum(many, 1.0))
    fitted = reading.natural(reading.intervals(curve_values, n))
    low, high = np.sort(reading.natural(np.stack([centre - half, centre + half])), axis=0)
    return pd.DataFrame(
        {
            "level": sample.levels,
            "label": sample.names,
            "n": np.bincount(level),
            "n_used": np.bincount(level, reading.spoiled <= OUTLIER_PROBABILITY).astype(int),
            "mean": reading.natural(centre),
            "median": reading.natural(level_medians(level, value, weight)),
            "low": low,
            "high": high,
            "spread": spread,
            "off": reading.off,
            "fitted": fitted[:, 1],
            "fitted_low": fitted.min(axis=1),
            "fitted_high": fitted.max(axis=1),
        }
    )


def trial_table(reading: PhasePosterior, levels: pd.DataFrame) -> pd.DataFrame:
    """One row an analysed trial, in the order of the frame."""
    sample = reading.sample
    fitted = levels["fitted"].to_numpy()[sample.level]
    corrected = reading.natural(sample.value - reading.correction)
    return pd.DataFrame(
        {
            "row": sample.row,
            "trial": sample.trial,
            "block": sample.block,
            "level": sample.levels[sample.level],
            "response": sample.response,
            "weight": 1 - reading.spoiled,
            "corrected": corrected,
            "fitted": fitted,
            "residual": np.log(corrected / fitted),
            "outlier": reading.spoiled > OUTLIER_PROBABILITY,
        }
    )


def outlier_table(
    reading: PhasePosterior, trials: pd.DataFrame, levels: pd.DataFrame
) -> pd.DataFrame:
    """One row a flagged trial, with the reason."""
    flagged = trials["outlier"].to_numpy()
    picked = trials[flagged].reset_index(drop=True).rename(columns={"level": "knob"})
    factor = picked["corrected"] / picked["fitted"]
    counts = levels["n"].to_numpy()[reading.sample.level[flagged]]
    sigma = np.hypot(reading.posterior.noise, reading.posterior.misfit)
    return picked[["trial", "knob", "response", "fitted"]].assign(
        factor=factor,
        probability=reading.spoiled[flagged],
        reason=[reason(f, sigma, int(count)) for f, count in zip(factor, counts, strict=True)],
    )


class CurveSettings(TypedDict, total=False):
    """How the trials of a curve are fitted; see `fit_phases`."""

    thresholds: Thresholds | Mapping[str, float] | None
    certainty: float
    correct_drift: bool


def fit_phases(
    frame: pd.DataFrame,
    knob: str,
    response: str,
    goal: str = "min",
    *,
    at: Mapping[Level, Place] | None = None,
    keep_untrusted: bool = False,
    scale: KnobScale | None = None,
    k: int | None = None,
    **how: Unpack[CurveSettings],
) -> PhaseModel:
    """The phases of the curve in a table, without what is wrong with the experiment behind it.

    Parameters, method and errors: see `deadzone.analysis.findings.fitting.fit_phases`, which users
    call.
    """
    sample = prepare(frame, knob, response, goal, keep_untrusted, scale, k, at)
    return fit_curve(sample, knob, response, goal, **how)


def fit_curve(
    sample: CurveTrials,
    knob: str,
    response: str,
    goal: str,
    thresholds: Thresholds | Mapping[str, float] | None = None,
    certainty: float = CERTAINTY,
    correct_drift: bool = True,
) -> PhaseModel:
    """The phases of the trials of one curve; see `fit_phases`."""
    if not (is_number(certainty) and 0.5 <= certainty < 1):
        raise PhaseError(
            f"certainty is {certainty!r}; it is a coverage such as 0.90, from 0.5 to below 1."
        )
    thresholds = Thresholds.of(thresholds)
    drift, correction = estimate_drift(sample, certainty)
    if not correct_drift:
        correction = np.zeros_like(correction)
        drift = drift and replace(drift, removed=False)
    value = sample.value - correction
    x, is_interval = sample.axis.forward(sample.levels), sample.axis.is_interval
    curve = (x, value, sample.level, thresholds, is_interval)
    posterior = infer(*curve)
    chance = spoiled(posterior, value, sample.level)
    certain = confirmed(chance, value, sample.level)
    if certain.any():  # levels that others confirm are no outliers of the curve
        posterior = infer(*curve, certain)
        chance = np.where(certain[sample.level], 0.0, spoiled(posterior, value, sample.level))
    probability = step_probabilities(posterior.pieces, len(sample.levels) - 1)
    probability = by_sum(probability, posterior.pieces, posterior.x)
    spoilt, off = _of_levels(posterior, value, sample.level, chance)
    labels = decode(probability)
    reading = PhasePosterior(
        sample, posterior, probability, labels, spoilt, off, correction, certainty
    )
    levels = level_table(reading)
    trials = trial_table(reading, levels)
    freedom = max(len(sample.value) - len(sample.levels), 0)
    noise = Noise(posterior.noise, posterior.misfit, freedom > 0, freedom)
    phases, joints = phase_tables(reading)
    model = PhaseModel(
        knob=knob,
        response=response,
        goal=goal,
        phases=phases,
        step_labels=tuple(LABELS[k] for k in labels),
        steps=step_table(reading),
        joints=joints,
        outliers=outlier_table(reading, trials, levels),
        levels=levels,
        trials=trials,
        noise=noise,
        drift=drift,
        laws=law_table(posterior.laws, certainty),
        warnings=sample.warnings,
        none_level=sample.none_level,
        thresholds=thresholds,
        certainty=certainty,
        axis=sample.axis,
    )
    return replace(model, warnings=(*sample.warnings, *doubts(model)))


def curve_of(frame: pd.DataFrame, knob: str, response: str, goal: str) -> PhaseModel | None:
    """The phases of a table; None where none can be fitted."""
    try:
        return fit_phases(frame, knob, response, goal)
    except PhaseError:
        return None
