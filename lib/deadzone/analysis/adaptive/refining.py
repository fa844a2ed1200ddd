"""Levels between the listed ones, where a phase begins between two that were measured.

The stretch in which the joint lies is halved, at a number that people would write, until its levels
are as near to one another as was asked for (golden section and bisection tell no more of a joint
than its two sides: Kiefer 1953, Proceedings of the American Mathematical Society 4, 502-506). A
knob that was listed in whole numbers stays one.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from deadzone.analysis.phases.inference import Posterior
from deadzone.analysis.phases.intervals import joint_interval
from deadzone.analysis.phases.labels import decode, runs, step_probabilities
from deadzone.study.levels import Level, is_number
from deadzone.study.until_specs import UntilSpec

MOST_DIGITS = 4
"""No user sets a level with more significant digits."""


def levels_between(
    posterior: Posterior, measured: Sequence[Level], listed: Sequence[Level], until: UntilSpec
) -> list[Level]:
    """The levels to add to those that were listed or measured: none without a resolution in until.

    measured: levels of the posterior, increasing. listed: as in the study.
    """
    if until.resolution is None:
        return []
    whole = all(float(level).is_integer() for level in (*listed, *measured) if is_number(level))
    levels: list[Level] = []
    for first, stop, label in runs(
        decode(step_probabilities(posterior.pieces, len(posterior.x) - 1))
    )[1:]:
        low, high = joint_interval(posterior.pieces, first, stop, label, until.certainty)
        stretch = [
            float(level) for level in measured[max(low - 1, 0) : high + 2] if is_number(level)
        ]
        levels += _halved(stretch, until.resolution, whole)
    return list(dict.fromkeys(levels))


def _halved(stretch: Sequence[float], resolution: float, whole: bool) -> Iterator[Level]:
    for low, high in pairwise(stretch):
        if low > 0 and high - low > resolution * low:
            if whole and high - low > 1:
                yield round((low + high) / 2)
            elif not whole:
                yield from _shortest_between(low, high)


def _shortest_between(low: float, high: float) -> Iterator[float]:
    """The number with the fewest digits in the middle third between two others, the nearest to
    their middle."""
    middle, least = (low + high) / 2, math.floor(math.log10(high))
    for digits in range(MOST_DIGITS):
        near = round(middle, digits - least)
        if abs(near - middle) <= (high - low) / 6:
            yield near
            return
