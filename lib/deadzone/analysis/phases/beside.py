"""Where settings are drawn on a knob's axis: levels of the curve at their place, those that stand apart beside it."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from deadzone.analysis.phases.candidates import places
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.result import PhaseResult

GAP = 0.1
"""Between the curve and what stands apart, and from one of those to the next: a share of the curve's width."""


def settings_apart(model: PhaseResult, advice: Recommendation) -> list[dict[Any, Any]]:
    """The settings of a recommendation that are on no curve: rows of its table, with estimate and interval.

    None where the recommendation is over several curves, or about another quantity than the curve shows.
    """
    if advice.quantity != model.response:
        return []
    on_curve = places(model)
    return [
        row
        for row in advice.table.to_dict("records")
        if not isinstance(row["setting"], dict) and row["setting"] not in on_curve
    ]


def drawn_at(model: PhaseResult, apart: Iterable[Any], is_log: bool) -> dict[Any, float]:
    """The place of every setting on an axis that may be logarithmic: 0 before the curve, words behind it."""
    levels = model.levels["level"].to_numpy(float)
    ends = np.log(levels[[0, -1]]) if is_log else levels[[0, -1]]
    step = GAP * float(ends[1] - ends[0])
    settings = list(apart)
    before, behind = ([s for s in settings if (s == 0) is is_zero] for is_zero in (True, False))
    beside = {s: float(ends[0] - step * (1 + i)) for i, s in enumerate(before)}
    beside |= {s: float(ends[1] + step * (1 + i)) for i, s in enumerate(behind)}
    return {**places(model), **{s: float(np.exp(x)) if is_log else x for s, x in beside.items()}}
