"""Is B not worse than A by more than a margin? The question of a quality gate.

A one-sided rank test against the margin (Wellek 2010, chapter 2), stratified by treatment: it judges all treatments
together, so a gate on one of them takes its rows alone. That nothing was seen to
get worse is not enough: a gate passes only when harm of the margin or more is ruled out.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import CompareError
from deadzone.explaining.compare.factors import common_factors
from deadzone.explaining.compare.goals import goals_of
from deadzone.explaining.compare.ratio import interval, overall_draws, resample
from deadzone.explaining.compare.samples import analysed, side_by_side
from deadzone.explaining.compare.verdicts import CONFIDENCE, check_confidence
from deadzone.explaining.hypothesis_tests.margins import p_beyond
from deadzone.explaining.phases.quantities import axis_label, number
from deadzone.explaining.records import plain
from deadzone.language.catalogue import say

NOT_WORSE, WORSE, UNDECIDED = "not worse", "worse", "undecided"
GATES = (NOT_WORSE, WORSE, UNDECIDED)


@dataclass(frozen=True)
class NonInferiority:
    """A gate's verdict on one response.

    goal: min or max. margin: a fraction, or in the response's unit where absolute. change: of B against A, a fraction or
    in the unit, as measured (positive is more); worst: its one-sided bound on the side of harm at the confidence, nan
    where trials are too few. p_value: that B is worse by the margin or more. n_a, n_b: trials or blocks. verdict: one of
    GATES.
    """

    response: str
    goal: str
    margin: float
    absolute: bool
    confidence: float
    n_a: int
    n_b: int
    change: float
    worst: float
    p_value: float
    verdict: str
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain values for JSON; unknown or infinite numbers are None."""
        values = {**asdict(self), "warnings": [str(warning) for warning in self.warnings]}
        return {name: plain(value) for name, value in values.items()}

    def __str__(self) -> str:
        return say(
            f"gate.{self.verdict.replace(' ', '_')}",
            response=axis_label(self.response),
            margin=self._amount(self.margin),
            change=self._amount(self.change),
            worst=self._amount(self.worst),
            p=self.p_value,
        )

    def _amount(self, value: float) -> str:
        if self.absolute or not math.isfinite(value):
            return number(value)
        return say("gate.fraction", value=value)


def non_inferior(
    a: pd.DataFrame,
    b: pd.DataFrame,
    response: str,
    margin: float,
    *,
    absolute: bool = False,
    goal: str | None = None,
    factors: Sequence[str] = (),
    confidence: float = CONFIDENCE,
    names: tuple[str, str] = ("A", "B"),
) -> NonInferiority:
    """Test that B is not worse than A by the margin or more.

    a, b: tidy tables, one row a trial. response: column of values >= 0. margin: > 0; a fraction, or where absolute in the
    response's unit, which is what a response that is usually zero needs (an error rate). goal, factors, confidence, names:
    as for compare_tables.

    Raises CompareError as compare_tables does.
    """
    if not (math.isfinite(margin) and margin > 0):
        raise CompareError(f"The margin is {margin!r}; give a number above 0, for example 0.05 for 5 %.")
    check_confidence(confidence)
    found = common_factors(a, b, factors, [response], names)
    (a, of_a), (b, of_b) = (analysed(table, found, name) for table, name in zip((a, b), names, strict=True))
    samples = side_by_side(a, b, found, response, names)
    known = goals_of([response], goal)[response]
    drawn = resample(samples.pairs, together=samples.together, paired=samples.paired, absolute=absolute)
    ends = interval(overall_draws(drawn), 2 * confidence - 1)
    not_worse, worse = p_beyond(samples.pairs, samples.paired, margin, goal=known or "min", absolute=absolute)
    level = 1 - confidence
    change, worst = (_as_told(v, absolute) for v in (float(np.mean(drawn.change)), ends[known != "max"]))
    return NonInferiority(
        response=response,
        goal=known or "min",
        margin=margin,
        absolute=absolute,
        confidence=confidence,
        n_a=sum(len(x) for x, _ in samples.pairs),
        n_b=sum(len(y) for _, y in samples.pairs),
        change=change,
        worst=worst,
        p_value=not_worse,
        verdict=NOT_WORSE if not_worse <= level else WORSE if worse <= level else UNDECIDED,
        warnings=(*of_a, *of_b, *([] if known else [say("compare.goal_assumed", response=response)])),
    )


def _as_told(change: float, absolute: bool) -> float:
    """A change as it is reported: in the unit, or as a fraction."""
    with np.errstate(over="ignore"):
        return change if absolute else float(np.expm1(change))
