"""The phases of a fitted model under other thresholds, at once and without fitting again.

A fit gives every step its posterior probability of each label and the interval of its elasticity.
When a threshold moves, the mass of elasticities between its old and its new place changes its
label; everything else stays. Under the model's own thresholds the result is the model itself. The
thresholds also shape the fit a little (a label tells which elasticities are plausible), so
`fit_phases` with the new thresholds is the last word.
"""

from dataclasses import replace
from typing import TypeVar

import numpy as np
import pandas as pd

from deadzone.analysis.phases.labels import decode, runs
from deadzone.analysis.phases.priors import BREAKTHROUGH, DEAD_ZONE, LINEAR, PLATEAU, REVERSAL
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.thresholds import LABELS, Thresholds

Model = TypeVar("Model", bound=PhaseResult)


def relabel(model: Model, thresholds: Thresholds) -> Model:
    """The model with its steps labelled and its phases cut under other thresholds.

    Changed are phases, steps, step_labels, joints and thresholds; the curve, its outliers and its
    noise stay. A phase that the fit did not have takes the means of its steps, whose interval is
    wide rather than narrow.
    """
    if thresholds == model.thresholds:
        return model
    probability = _moved(model, thresholds)
    labels = decode(probability)
    steps = model.steps.assign(
        label=[LABELS[k] for k in labels],
        probability=probability[np.arange(len(labels)), labels].clip(0, 1),
    )
    phases = pd.DataFrame(
        [_phase(model, steps, *run) for run in runs(labels)], columns=model.phases.columns
    )
    joints = model.joints[model.joints["level"].isin(phases["start"].iloc[1:])].reset_index(
        drop=True
    )
    return replace(
        model,
        phases=phases,
        steps=steps,
        step_labels=tuple(steps["label"]),
        joints=joints,
        thresholds=thresholds,
    )


def _moved(model: PhaseResult, new: Thresholds) -> np.ndarray:
    """Probability of each label on each step, shape (steps, 5), after the thresholds have moved.

    What becomes flat counts as dead zone and as plateau: which of them it is follows from what
    comes later.
    """
    old = model.thresholds
    p = model.steps[[f"p_{label}" for label in LABELS]].to_numpy(float).copy()
    for low, high, below, above in (
        (old.breakthrough, new.breakthrough, (LINEAR,), (BREAKTHROUGH,)),
        (old.linear, new.linear, (DEAD_ZONE, PLATEAU), (LINEAR,)),
        (old.reversal, new.reversal, (REVERSAL,), (PLATEAU,)),
    ):
        mass = _between(model.steps, min(low, high), max(low, high))
        source, target = (above, below) if high > low else (below, above)
        moved = np.minimum(mass, p[:, source].max(axis=1))[:, None]
        p[:, source] = np.maximum(p[:, source] - moved, 0.0)
        p[:, target] += moved
    return p


def _between(steps: pd.DataFrame, low: float, high: float) -> np.ndarray:
    """Posterior probability that each step's elasticity lies between two values, shape (steps,).

    Taken as normal on each side of the median, with the widths that the step's interval has there.
    """
    from scipy.special import ndtr, ndtri

    middle, least, most = (
        steps[f"elasticity{end}"].to_numpy(float) for end in ("", "_low", "_high")
    )
    below, above = (
        np.maximum(side, 1e-9) / ndtri(0.95) for side in (middle - least, most - middle)
    )

    def cumulative(value: float) -> np.ndarray:
        return np.asarray(ndtr((value - middle) / np.where(value < middle, below, above)))

    return cumulative(high) - cumulative(low)


def _phase(
    model: PhaseResult, steps: pd.DataFrame, first: int, stop: int, label: int
) -> dict[str, object]:
    """One row of the phases: the fit's own where it has the same phase, else from its steps."""
    inside = steps.iloc[first:stop]
    start, end = float(inside["start"].iloc[0]), float(inside["stop"].iloc[-1])
    same = model.phases[(model.phases["start"] == start) & (model.phases["stop"] == end)]
    if len(same) and same["label"].iloc[0] == LABELS[label]:
        return {str(name): value for name, value in same.iloc[0].items()}
    width = np.diff(model.axis.forward(inside[["start", "stop"]].to_numpy(float)), axis=1)[:, 0]
    columns = ["elasticity", "elasticity_low", "elasticity_high"]
    means = {
        name: float(np.average(inside[name].to_numpy(float), weights=width)) for name in columns
    }
    joint = model.joints[model.joints["level"] == start]
    low, high = joint[["low", "high"]].iloc[0] if len(joint) else (start, start)
    return {
        "start": start,
        "stop": end,
        "label": LABELS[label],
        **means,
        "std_error": (means["elasticity_high"] - means["elasticity_low"]) / 2,
        "probability": float(inside["probability"].mean()),
        "start_low": float(low),
        "start_high": float(high),
    }
