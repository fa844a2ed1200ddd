"""How many trials a side would decide: the power of a comparison.

The power calculation of the phase model's recommendation (Cohen 1988, chapter 2), here two-sided and divided by
the number of comparisons, with the trials that a rank test needs more than a t test on normal noise: their
asymptotic relative efficiency is 3 / pi (Lehmann 1975, section 2.4).
"""

import math
from collections.abc import Sequence

import numpy as np

from deadzone.explaining.hypothesis_tests.ranks import least_trials
from deadzone.explaining.phases.power import replicates_to_tell

FEW = 4
"""Up to this many trials a side decide little: three a side cannot reach p = 0.05 in a rank test at all, and four
only where every trial of one side beats every trial of the other."""

LEAST_NOISE = 1e-9
"""Trials that do not scatter at all are taken to scatter this much, so that the calculation has a noise."""


def pooled_noise(samples: Sequence[np.ndarray]) -> float:
    """Standard deviation of ln(value) of one trial, pooled over samples; nan where none has two positive trials.

    samples: each of shape (n,); those with a value of zero are left out.
    """
    logs = [np.log(sample) for sample in samples if len(sample) > 1 and (sample > 0).all()]
    if not logs:
        return float("nan")
    freedom = sum(len(log) - 1 for log in logs)
    return float(math.sqrt(sum(float(((log - log.mean()) ** 2).sum()) for log in logs) / freedom))


def replicates_needed(change: float, noise: float, comparisons: int, confidence: float) -> int | None:
    """Trials a side that show a change of ln(response) with 80 % power.

    change: > 0. noise: standard deviation of ln(value) of one trial. comparisons, confidence: as above.
    Returns None where the noise is nan, unknown, or no sensible number of trials would do.
    """
    if math.isnan(noise):
        return None
    level = (1 - confidence) / comparisons
    by_t = replicates_to_tell(change, max(noise, LEAST_NOISE), confidence=1 - level / 2)
    return None if by_t is None else max(least_trials(comparisons, confidence), math.ceil(by_t * math.pi / 3))
