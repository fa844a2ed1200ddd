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

from deadzone.errors import CompareError

BETTER, WORSE, NO_CHANGE, UNDECIDED = "better", "worse", "no change that matters", "undecided"
VERDICTS = (BETTER, WORSE, NO_CHANGE, UNDECIDED)

THRESHOLD = 0.03
"""A change under 3 % is seldom worth a decision, and on most machines two runs of the same program
differ by as much."""


def check_confidence(confidence: float) -> None:
    """Raise CompareError unless a confidence is a probability that decides anything."""
    if not (isinstance(confidence, int | float) and 0.5 <= confidence < 1):
        raise CompareError(
            f"The confidence is {confidence!r}; give a probability of 0.5 or more and below 1."
        )


def verdict(
    log_ratio: float,
    interval: tuple[float, float],
    p_change: float,
    p_equivalence: float,
    *,
    is_within: bool,
    goal: str,
    threshold: float,
    confidence: float,
) -> str:
    """One of VERDICTS.

    log_ratio: estimate of ln(B / A), may be infinite, or nan where it has no meaning; interval: of
    it, nan where unknown. p_change, p_equivalence: after correction. is_within: whether the
    interval of the two one-sided tests lies within the threshold. goal: min or max. threshold: a
    ratio of 1 + threshold or its inverse matters.
    """
    if math.isnan(log_ratio):
        return UNDECIDED
    level = 1 - confidence
    matters = abs(log_ratio) >= math.log1p(threshold) * (1 - 1e-12)
    low, high = interval
    if matters and p_change <= level and (low > 0 or high < 0):
        return WORSE if (log_ratio > 0) == (goal == "min") else BETTER
    if not matters and is_within and p_equivalence <= level:
        return NO_CHANGE
    return UNDECIDED
