"""What a reader must know before trusting a fit: warnings made from the fit, each a sentence."""

import numpy as np
import pandas as pd

from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.catalogue import Message, join, say, term

UNSURE = 0.8
"""Below this probability a label is said to be doubtful."""

MOST_TRIALS_NAMED = 5
"""A sentence names this many outliers; the table of outliers has all."""


def doubts(model: PhaseResult) -> list[Message]:
    """Warnings about labels, joints, outliers, drift and misfit, in the order of the model's tables."""
    drift, noise = model.drift, model.noise
    said = [
        say(
            "doubt.unsure",
            start=row["start"],
            stop=row["stop"],
            phase=term("phase", row["label"]),
            probability=row["probability"],
        )
        for row in model.phases.to_dict("records")
        if row["probability"] < UNSURE
    ]
    said += _at_the_edge(model.joints, model.levels["level"].to_numpy())
    if len(model.outliers):
        said.append(_outliers(model.outliers))
    if drift is not None and drift.removed:
        said.append(
            say("doubt.drift", change=drift.change, p=drift.p_value, kind=say(f"doubt.by_{drift.kind}"))
        )
    if noise.estimable and noise.misfit > 1.2 * noise.replicate:
        said.append(say("doubt.misfit", misfit=noise.misfit, noise=noise.replicate))
    return said


def _at_the_edge(joints: pd.DataFrame, levels: np.ndarray) -> list[Message]:
    """Joints one step from an end rest on a single step."""
    return [
        say("doubt.at_the_edge", joint=f"{joint:g}")
        for joint in joints["level"]
        if joint in (levels[1], levels[-2])
    ]


def _outliers(outliers: pd.DataFrame) -> Message:
    shown = [
        say("doubt.trial_at", trial=row.trial, level=row.knob)
        for row in outliers.head(MOST_TRIALS_NAMED).itertuples()
    ]
    more = len(outliers) - len(shown)
    key = "doubt.outliers_cut" if more else "doubt.outliers"
    return say(key, n=len(outliers), trials=join(shown, ", "), more=more)
