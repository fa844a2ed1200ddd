"""How many replicates would tell two settings apart, and how many more make an estimate surer.

The usual power calculation of a one-sided t test (Cohen 1988, Statistical Power Analysis, chapter
2), on the scale of ln(response), with the level of the test divided by the number of comparisons
(Bonferroni), so that it matches the family-wise level of the set of best settings.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.errors import PhaseError

POWER = 0.80
"""The habit of experimental design: one real difference in five may be missed."""

MOST_WORTH = 50
"""More trials of a setting than this settle nothing that matters: the difference is a small part of
the noise."""

MOST_REPLICATES = 100_000
"""More is not practical; the answer is then that no sensible number of replicates would
do."""


WhyNot = Literal["many", "tolerated", "noise"]


@dataclass(frozen=True)
class ReplicatesNeeded:
    """What it takes to tell two settings apart.

    best, other: the settings. difference: of their responses, a fraction. replicates: trials of
    each setting, or None where no number that is worth it would do. trials: of all compared
    settings together. power, confidence: probabilities. why_not: without replicates, `tolerated`
    (the difference is within the tolerance), `noise` (it is not known) or `many`.
    """

    best: float | str
    other: float | str
    difference: float
    replicates: int | None
    trials: int | None
    power: float
    confidence: float
    why_not: WhyNot = "many"


def further_trials(n: int, times: float) -> int:
    """Trials beside n of a setting that make its standard error so many times smaller: it shrinks
    with their root. times: >= 1. Returns at least 1."""
    return max(math.ceil(n * (times**2 - 1)), 1)


def replicates_to_tell(
    difference: float, noise: float, settings: int = 2, confidence: float = CONFIDENCE
) -> int | None:
    """Trials of each setting that show a difference with the power wanted.

    difference: of two settings in ln(response), > 0. noise: standard deviation of ln(response) of
    one trial, > 0. settings: number of settings compared with the best one, itself included, >= 2.
    Returns at least 2, or None where MOST_REPLICATES do not suffice.

    Raises PhaseError if a number is out of range.
    """
    if difference <= 0 or noise <= 0 or settings < 2:
        raise PhaseError(
            "Telling settings apart needs a difference and a noise above 0 and two settings or "
            "more."
        )
    asked = (difference, noise, settings, confidence)
    enough = bisect_left(range(MOST_REPLICATES + 1), POWER, lo=2, key=lambda n: _power(n, *asked))
    return enough if enough <= MOST_REPLICATES else None


def _power(n: int, difference: float, noise: float, settings: int, confidence: float) -> float:
    """Probability that the difference is found with n trials of each setting."""
    from scipy.special import nctdtr, stdtrit

    df = settings * (n - 1)
    critical = -stdtrit(df, (1 - confidence) / (settings - 1))
    return float(1 - nctdtr(df, difference / (noise * (2 / n) ** 0.5), critical))
