"""What the trials of each setting say of it by themselves, beside the curve: which settings they
allow to be the best.

A curve that is drawn through all levels lends each the trials of its neighbours. Where a level does
not lie on it (a saw tooth, a cliff, a level off) the curve says of it what its trials deny. So a
setting is the best, or as good, only if its own value allows that: it may be worse than the best
value measured by what does not matter much, or by what its trials scatter, whichever is more. Where
a level has one trial, how far it may lie off for no reason is taken from second differences of
neighbours, which a trend leaves alone (Gasser, Sroka and Jennen-Steinmetz 1986, Biometrika 73,
625-633; the median, as of Rousseeuw and Croux 1993, JASA 88, 1273-1283, so that joints and spoiled
trials do not count).
"""

import numpy as np

from deadzone.analysis.phases.level_estimates import (
    STANDARD_ERRORS,
    LevelEstimates,
    few_trials_factor,
)

CLEARLY_WORSE = float(np.log(1.10))
"""A value worse than the best one by more than this [ln] is worse unless the trials scatter so
much."""

ROUGHEST = float(np.log(1.25))
"""More than this [ln] single trials are not allowed to differ for no reason: noise of that size
makes a sweep of single trials worthless, and on a short range second differences are the bend of
the curve."""

FEWEST_AGREEING = 3
"""So many trials of a level that agree are its value, whatever the curve says; fewer may all be
spoiled."""


def roughness(value: np.ndarray) -> float:
    """Median absolute second difference of neighbouring values, shape (n,), at most ROUGHEST; 0 of
    fewer than three."""
    bends = np.abs(np.diff(value, 2))
    return min(float(np.median(bends)), ROUGHEST) if len(bends) else 0.0


def own_errors(
    value: np.ndarray, trials: np.ndarray, estimates: LevelEstimates, sound: np.ndarray
) -> np.ndarray:
    """Standard error of each level's own value, as of a normal, shape (n,).

    value: ln(response) of each level, in order of the knob. trials: of each. sound: which levels
    are not taken for spoiled. Each of shape (n,). A noise known from few trials counts as Student's
    t says.
    """
    single = roughness(value[sound]) / (STANDARD_ERRORS * np.sqrt(2))
    few = few_trials_factor(estimates.noise_df)
    return np.where(trials > 1, few * estimates.noise / np.sqrt(np.maximum(trials, 1)), single)


def allowed(
    value: np.ndarray, error: np.ndarray, doubted: np.ndarray, tolerance: float
) -> tuple[np.ndarray, int]:
    """Which settings their own values allow to be the best, shape (n,), and the position of the
    best value.

    value: smaller is better [ln]. error: of each. doubted: settings whose few trials all look
    spoiled; no other setting is compared with them, for what they are worth is not known. Each of
    shape (n,). tolerance: what does not matter, a fraction."""
    if doubted.all():
        doubted = np.zeros(len(value), dtype=bool)
    best = int(np.argmin(np.where(doubted, np.inf, value)))
    matters = max(CLEARLY_WORSE, np.log1p(tolerance))
    room = np.maximum(STANDARD_ERRORS * np.hypot(error, error[best]), matters)
    return value - value[best] <= room, best
