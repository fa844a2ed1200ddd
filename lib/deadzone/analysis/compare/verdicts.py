"""From numbers to one of four verdicts.

- better, worse: a change is shown (p-value after Holm's correction, and an interval that leaves out
  no change), and its estimate is at least the threshold that matters.
- no change that matters: a change of that threshold or more is ruled out in both directions by two
  one-sided tests (TOST; Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15,
  657-680) and lies outside the interval that belongs to them, of twice the level. Lack of
  significance is never taken for sameness.
- undecided: neither.
"""

import math
from collections.abc import Mapping
from typing import Any

from deadzone.errors import CompareError

BETTER, WORSE, NO_CHANGE, UNDECIDED = "better", "worse", "no change that matters", "undecided"

THRESHOLD = 0.03
"""A change under 3 % is seldom worth a decision, and on most machines two runs of the same program
differ by as much."""


def check_confidence(confidence: float) -> None:
    """Raise CompareError unless a confidence is a probability that decides anything."""
    if not (isinstance(confidence, int | float) and 0.5 <= confidence < 1):
        raise CompareError(
            f"The confidence is {confidence!r}; give a probability of 0.5 or more and below 1."
        )


def verdict(row: Mapping[Any, Any], threshold: float, confidence: float) -> str:
    """Better, worse, no change that matters, or undecided.

    row: of a comparison: ratio, 0 to infinity, or nan where it has no meaning; ratio_low and
    ratio_high, nan where unknown; p_adjusted and p_equivalence_adjusted, after correction;
    is_within, whether the interval of the two one-sided tests lies within the threshold; goal, min
    or max. threshold: a ratio of 1 + threshold or its inverse matters.
    """
    ratio, level = row["ratio"], 1 - confidence
    if math.isnan(ratio):
        return UNDECIDED
    least = math.log1p(threshold) * (1 - 1e-12)
    matters = ratio == 0 or abs(math.log(ratio)) >= least
    if matters and row["p_adjusted"] <= level and (row["ratio_low"] > 1 or row["ratio_high"] < 1):
        return WORSE if (ratio > 1) == (row["goal"] == "min") else BETTER
    if not matters and row["is_within"] and row["p_equivalence_adjusted"] <= level:
        return NO_CHANGE
    return UNDECIDED
