"""Measures of a phase model: joints found, steps labelled, intervals that hold, stated certainties
that are true."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np
import pandas as pd
from synthetic.curves import Curve

from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.phases.model import PhaseModel

Labeller = Callable[[np.ndarray, np.ndarray], Sequence[str]]

TOLERANCE = 1
"""A joint found within one level of the truth counts."""

STATED = 0.95
"""Labels stated with at least this probability are checked for being right."""


@dataclass(frozen=True)
class Fitted:
    """A curve, the model fitted to it, the seconds that took, the setting recommended (nan where
    there is none), and the probability stated that it is a good one (nan where the version stated
    none)."""

    curve: Curve
    model: PhaseModel
    seconds: float
    setting: float
    stated: float = float("nan")


def frame_of(curve: Curve) -> pd.DataFrame:
    """A curve's trials as the table a user would have."""
    frame = pd.DataFrame({"knob": curve.x, "wall_s": curve.y})
    return frame if curve.block is None else frame.assign(block=curve.block)


def fit_all(curves: Iterable[Curve]) -> list[Fitted]:
    """Fit every curve by `fit_phases` with default settings."""
    out = []
    for curve in curves:
        begin = perf_counter()
        model = fit_phases(frame_of(curve), "knob", "wall_s", curve.goal)
        seconds, advice = perf_counter() - begin, model.recommend()
        setting = float("nan" if advice.setting is None else advice.setting)
        is_stated = advice.setting is not None and "chance" in advice.table
        stated = float(advice.chosen["chance"]) if is_stated else float("nan")
        out.append(Fitted(curve, model, seconds, setting, stated))
    return out


def knots(labels: Sequence[str]) -> list[int]:
    """Positions of the levels at which the label changes."""
    return [i for i in range(1, len(labels)) if labels[i] != labels[i - 1]]


def matched(found: Sequence[int], truth: Sequence[int], tolerance: int = TOLERANCE) -> int:
    """Joints found that can be paired one to one with true ones within the tolerance."""
    left, hits = list(truth), 0
    for knot in found:
        near = [t for t in left if abs(t - knot) <= tolerance]
        if near:
            left.remove(min(near, key=lambda t: abs(t - knot)))
            hits += 1
    return hits


def accuracy(pairs: Iterable[tuple[Curve, Sequence[str]]]) -> tuple[float, float]:
    """F1 of the joints and share of steps with the right label, over pairs of curve and labels."""
    hits = found = true = right = steps = 0
    for curve, labels in pairs:
        hits += matched(knots(labels), curve.knots)
        found, true = found + len(knots(labels)), true + len(curve.knots)
        right += sum(a == b for a, b in zip(labels, curve.step_labels, strict=True))
        steps += len(labels)
    return 2 * hits / max(found + true, 1), right / steps


def phase_coverage(fits: Iterable[Fitted]) -> tuple[float, int]:
    """Share of found phases whose interval holds the true elasticity, and how many were compared.

    A found phase is compared with the true phase of its label whose ends are within one level of
    its own.
    """
    held = []
    for fit in fits:
        levels, x = fit.curve.levels, np.log(fit.curve.levels)
        edges = [0, *fit.curve.knots, len(levels) - 1]
        for phase in fit.model.phases.itertuples():
            first, stop = np.searchsorted(levels, [phase.start, phase.stop])
            for a, b in pairwise(edges):
                if (
                    fit.curve.step_labels[a] == phase.label
                    and max(abs(a - first), abs(b - stop)) <= TOLERANCE
                ):
                    true = (fit.curve.log_truth[a] - fit.curve.log_truth[b]) / (x[b] - x[a])
                    held.append(phase.elasticity_low <= true <= phase.elasticity_high)
    return float(np.mean(held)), len(held)


def step_coverage(fits: Iterable[Fitted]) -> float:
    """Share of steps whose interval holds the step's true elasticity, right label or not."""
    held = []
    for fit in fits:
        true = fit.curve.step_elasticities
        steps = fit.model.steps
        held.append((steps["elasticity_low"] <= true) & (true <= steps["elasticity_high"]))
    return float(np.concatenate(held).mean())


def calibration(fits: Iterable[Fitted]) -> tuple[float, float]:
    """Share of step labels stated with STATED or more, and the share of those that are right."""
    stated, right = [], []
    for fit in fits:
        stated.append(fit.model.steps["probability"].to_numpy() >= STATED)
        right.append(np.array(fit.model.step_labels) == np.array(fit.curve.step_labels))
    sure = np.concatenate(stated)
    return float(sure.mean()), float(np.concatenate(right)[sure].mean())


def joint_calibration(fits: Iterable[Fitted]) -> tuple[float, float]:
    """Mean stated probability that a joint lies within one level, and the share of joints for which
    one does; nan without any."""
    stated, right = [], []
    for fit in fits:
        for joint in fit.model.joints.itertuples():
            here = int(np.argmin(np.abs(fit.curve.levels - joint.level)))
            stated.append(joint.probability)
            right.append(any(abs(knot - here) <= TOLERANCE for knot in fit.curve.knots))
    return (
        (float(np.mean(stated)), float(np.mean(right))) if stated else (float("nan"), float("nan"))
    )


def outlier_scores(fits: Iterable[Fitted]) -> tuple[float, float, int]:
    """Precision and recall of the outlier flags, and how many trials were spoiled."""
    both = flagged = spoiled = 0
    for fit in fits:
        flags = fit.model.trials["outlier"].to_numpy()
        both += int((flags & fit.curve.spoiled).sum())
        flagged, spoiled = flagged + int(flags.sum()), spoiled + int(fit.curve.spoiled.sum())
    return both / max(flagged, 1), both / max(spoiled, 1), spoiled


COST_SLACK = 1.07
NEAR_BEST = 1.03
KNOB_SLACK = 1.25
"""A good setting costs at most 7 % more than the best, and is hardly larger than the smallest
within 3 % of the best: at most 1.25 times as large, or the next level."""


def good_setting(curve: Curve, setting: float) -> bool:
    """Whether a setting is nearly as fast as the best and hardly larger than it needs to be."""
    truth = np.exp(curve.log_settings)
    ideal = int(np.argmax(truth <= truth.min() * NEAR_BEST))
    here = int(np.argmin(np.abs(curve.levels - setting)))
    cheap = here <= ideal + 1 or curve.levels[here] <= curve.levels[ideal] * KNOB_SLACK
    return bool(truth[here] <= truth.min() * COST_SLACK and cheap)


def smallest_mean(curve: Curve) -> float:
    """The habit to beat: the level with the best mean."""
    means = pd.Series(curve.y).groupby(curve.x).mean()
    return float(means.idxmin() if curve.goal == "min" else means.idxmax())
