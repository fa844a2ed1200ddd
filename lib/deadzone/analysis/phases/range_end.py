"""Whether the response still improves at the end of the range, by what more of the knob would gain.

A slow gain is one too, whatever its phase is called: twice the knob is worth a trial where it gains
more than the tolerance of a recommendation.
"""

import numpy as np

from deadzone.analysis.phases.off_levels import STANDS_OUT
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE

WORTH_A_TRIAL = float(np.log1p(PRACTICAL_TOLERANCE) / np.log(2))
"""Elasticity at which a doubling gains what counts as better."""

NOISES = 3.0
"""A last level that is worse than the one before by so many times the noise of a trial says more
than the curve."""


def ends_improving(model: PhaseResult) -> bool:
    """Whether the last phase gains more than that with the certainty of the fit, and its last step
    does so too."""
    return still_gains(model) and float(model.phases["elasticity_low"].iloc[-1]) > WORTH_A_TRIAL


def still_gains(model: PhaseResult) -> bool:
    """Whether the last step, by its own elasticity, gains more than that: a gain may have faded in
    its phase, and the trials of the last level may say otherwise."""
    before, last = np.log(model.levels["median"].to_numpy(float)[-2:])
    loss = last - before if model.goal == "min" else before - last
    is_worse = loss > max(NOISES * model.noise.replicate, STANDS_OUT)
    return float(model.steps["elasticity"].iloc[-1]) > WORTH_A_TRIAL and not is_worse


def gain_score(model: PhaseResult) -> float:
    """How many standard errors the elasticity of the last phase lies above that."""
    last = model.phases.iloc[-1]
    return (float(last["elasticity"]) - WORTH_A_TRIAL) / max(float(last["std_error"]), 1e-9)
