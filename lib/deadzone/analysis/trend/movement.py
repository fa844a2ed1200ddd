"""Whether the phases of a curve moved between two runs of a study.

Two fits never agree to the last digit, so a changed label alone says nothing: near a threshold it
changes by chance. A step has moved when three things hold at once. The posteriors of the two fits,
which rest on independent trials, say that its labels differ (one minus the sum over labels of the
product of their probabilities, at least the certainty, shared out over the steps after Bonferroni).
The elasticities differ by more than their errors allow (two-sided z-test, shared out in the same
way). And the difference matters in practice (LEAST_CHANGE).
"""

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from deadzone.analysis.phases.model import PhaseModel

CERTAINTY = 0.95
"""Family-wise: of all the steps of two unmoved curves together, a movement is seen in at most one
pair in twenty."""

LEAST_CHANGE = 0.15
"""Elasticities closer than this are the same advice: doubling the knob then changes the response by
a tenth."""

LABELS = ("p_linear", "p_dead_zone", "p_breakthrough", "p_plateau", "p_reversal")


def movement(before: PhaseModel, after: PhaseModel, certainty: float = CERTAINTY) -> pd.DataFrame:
    """Set the phases of two fits side by side, which are of the same knob and response.

    Returns one row a step that both curves have, none where they cannot be compared: start, stop
    (levels), label_before, label_after, elasticity_before, elasticity_after, p_differs (probability
    that the labels differ), p_value (of equal elasticities), moved.
    """
    columns = ["start", "stop", "label", "elasticity", "elasticity_low", "elasticity_high", *LABELS]
    both = before.steps[columns].merge(
        after.steps[columns], on=["start", "stop"], suffixes=("_before", "_after")
    )
    if after.axis.is_interval and before.axis != after.axis:  # elasticities of other ranges
        both = both.iloc[:0]
    parts = [f"{name}_{side}" for name in ("label", "elasticity") for side in ("before", "after")]
    steps = both[["start", "stop", *parts]].copy()
    same = sum(both[f"{name}_before"] * both[f"{name}_after"] for name in LABELS)
    steps["p_differs"] = np.clip(1.0 - np.asarray(same, dtype=float), 0.0, 1.0)
    steps["p_value"] = _p_values(both, before.certainty, after.certainty)
    allowed = (1.0 - certainty) / max(len(steps), 1)
    steps["moved"] = (
        (steps["p_differs"] >= 1.0 - allowed)
        & (steps["p_value"] <= allowed)
        & ((steps["elasticity_after"] - steps["elasticity_before"]).abs() >= LEAST_CHANGE)
    )
    return steps


def _p_values(both: pd.DataFrame, certainty_before: float, certainty_after: float) -> np.ndarray:
    """Two-sided p-values of equal elasticities, the errors read off the fits' own intervals; shape
    (steps,)."""
    variance = np.zeros(len(both))
    for side, certainty in (("before", certainty_before), ("after", certainty_after)):
        width = both[f"elasticity_high_{side}"] - both[f"elasticity_low_{side}"]
        variance += (width.to_numpy(float) / (2 * ndtri((1 + certainty) / 2))) ** 2
    error = np.sqrt(np.maximum(variance, 1e-12))
    difference = np.asarray(both["elasticity_after"] - both["elasticity_before"], dtype=float)
    return np.asarray(2 * ndtr(-np.abs(difference) / error))
