"""Targets that a response has to meet (a service level objective), and how sure it is that it does.

A target bounds a statistic of the response: `{"mean": 40, "p99": 80, "max": 100}`. With the noise
of a level taken as log-normal, each statistic is a function of the level's ln(response) and its
noise, so the probability that the true statistic meets the target follows from Student's t. `max`
(and `min` for a response to maximise) is about trials to come: the probability that the next trial
meets the target, and none at all if a measured trial broke it.
"""

import re
from collections.abc import Mapping

import numpy as np

from deadzone.analysis.phases.candidates import Candidates
from deadzone.errors import PhaseError
from deadzone.study.levels import is_number


def target_confidence(targets: Mapping[str, float], candidates: Candidates) -> np.ndarray:
    """Probability that each setting meets all targets, shape (n,).

    targets: of `checked_targets`. The probabilities of several targets are combined by Bonferroni's
    bound, so the truth is no lower.
    """
    from scipy.special import stdtr

    sign, noise, freedom = candidates.sign, candidates["noise"], candidates.degrees_of_freedom
    missing = np.zeros(len(candidates))
    for name, bound in targets.items():
        if (shift := _shift(name, candidates.goal)) is None:
            log_statistic, error = candidates["estimate"], np.hypot(candidates.std_error, noise)
        else:
            a, b = shift
            log_statistic = candidates["estimate"] + a * noise + b * noise**2
            # The noise itself is an estimate: its relative error is about 1 / sqrt(2 df).
            own = (a + 2 * b * noise) * noise / np.sqrt(2 * freedom)
            error = np.hypot(candidates.std_error, own)
        distance = sign * (np.log(bound) - log_statistic) / np.maximum(error, 1e-12)
        is_broken = (sign * candidates["worst"] > sign * bound) & (shift is None)
        missing += 1 - np.where(is_broken, 0.0, stdtr(freedom, distance))
    return np.maximum(1 - missing, 0.0)


def checked_targets(targets: Mapping[str, float], goal: str) -> dict[str, float]:
    """The targets with their bounds as numbers: from statistics (`mean`, `median`, `p90` ...,
    `max`, `min`) to bounds in the unit of the response, upper ones where the goal is "min", lower
    ones where it is "max". Raises PhaseError with the reason if one is unusable."""
    if not targets:
        raise PhaseError("slo is empty; give at least one target, for example slo={'mean': 40}.")
    for name, bound in targets.items():
        _shift(name, goal)
        if not is_number(bound) or bound <= 0:
            raise PhaseError(
                f"slo[{name!r}] is {bound!r}; a target is a positive number in the unit of the "
                "response."
            )
    return {name: float(bound) for name, bound in targets.items()}


def _shift(name: str, goal: str) -> tuple[float, float] | None:
    """(a, b) with ln(statistic) = mu + a * sigma + b * sigma ** 2, or None for the extreme of
    trials."""
    from scipy.special import ndtri

    extreme = "max" if goal == "min" else "min"
    known = {"mean": (0.0, 0.5), "median": (0.0, 0.0), extreme: None}
    if name in known:
        return known[name]
    if match := re.fullmatch(r"p(\d{1,2}(?:\.\d+)?)", name):
        share = float(match[1]) / 100
        if 0 < share < 1:
            return float(ndtri(share)), 0.0
    raise PhaseError(
        f"slo names the statistic {name!r}; known are mean, median, {extreme} and quantiles such "
        "as p90."
    )
