"""What a reader must know before trusting a fit: warnings made from the fit, each a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd

from deadzone.phases.model import Drift, Noise

UNSURE = 0.8
"""Below this probability a label is said to be doubtful."""

MANY_OUTLIERS = 0.1
"""Above this share of flagged trials, something else than a rare accident is going on."""


def doubts(
    phases: pd.DataFrame,
    joints: pd.DataFrame,
    outliers: pd.DataFrame,
    drift: Drift | None,
    noise: Noise,
    levels: np.ndarray,
) -> list[str]:
    """Warnings about labels, joints, outliers, drift and misfit, in the order of the model's tables."""
    said = [
        f"The phase {row.start:g}-{row.stop:g} is {row.label} with a probability of {row.probability:.0%} only."
        for row in phases.itertuples()
        if row.probability < UNSURE
    ]
    said += _at_the_edge(joints, levels)
    if len(outliers):
        said.append(_outliers(outliers))
    if drift is not None and drift.removed:
        said.append(
            f"The response drifts by {drift.change:.1%} over the run (p = {drift.p_value:.2g}, by {drift.kind}); "
            "the drift is removed from the fit."
        )
    if noise.estimable and noise.misfit > 1.2 * noise.replicate:
        said.append(
            f"Levels sit {noise.misfit:.1%} off straight pieces, more than the {noise.replicate:.1%} by which "
            "replicates differ: more replicates will not sharpen this fit, more levels may."
        )
    return said


def _at_the_edge(joints: pd.DataFrame, levels: np.ndarray) -> list[str]:
    """Joints one step from an end rest on a single step."""
    return [
        f"The joint at {joint:g} is one step from the end of the range: the phase beyond it rests on one step."
        for joint in joints["level"]
        if joint in (levels[1], levels[-2])
    ]


def _outliers(outliers: pd.DataFrame) -> str:
    shown = ", ".join(f"{row.trial} (at {row.knob:g})" for row in outliers.head(5).itertuples())
    more = f" and {len(outliers) - 5} more" if len(outliers) > 5 else ""
    noun = "trial is" if len(outliers) == 1 else "trials are"
    return f"{len(outliers)} {noun} flagged as outlying and down-weighted: {shown}{more}."
