"""What every picture of a phase model shows, in a terminal or in a figure: its axes, its curve, and
where settings stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadzone.analysis.phases.candidates import places
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.result import PhaseResult
from deadzone.style import LOG_RESPONSE_FACTOR

GAP = 0.1
"""Between the curve and what stands apart, and from one of those to the next: a share of the
curve's width."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """What a picture shows beside trials and curve.

    apart: the settings on no curve, rows of the recommendation's table; none where it is over
    several curves, or about another quantity than the curve shows. where: every setting's place on
    the axis. setting: the place of the recommended one, None where it has none. tied: those of the
    settings that are as good. is_log_x, is_log_y: which axes read better so.
    """

    apart: list[dict[Any, Any]]
    where: dict[Any, float]
    setting: float | None
    tied: list[float]
    is_log_x: bool
    is_log_y: bool


def drawing_of(model: PhaseResult, advice: Recommendation) -> Drawing:
    """What a picture of a model with this recommendation shows."""
    on_curve = places(model)
    rows = advice.table.to_dict("records") if advice.quantity == model.response else []
    apart = [
        row
        for row in rows
        if not isinstance(row["setting"], dict) and row["setting"] not in on_curve
    ]
    is_log = not model.axis.is_interval and _is_log_better(model.levels["level"].to_numpy(float))
    where = {**on_curve, **_places_off_the_curve(model, [row["setting"] for row in apart], is_log)}
    drawn = [*model.trials["corrected"], *(row["estimate"] for row in apart)]
    placed = [
        where[setting]
        for setting in advice.tied
        if not isinstance(setting, dict) and setting in where
    ]
    chosen = None if isinstance(advice.setting, dict) else where.get(advice.setting)
    return Drawing(
        apart, where, chosen, placed, is_log, max(drawn) / min(drawn) >= LOG_RESPONSE_FACTOR
    )


def path(
    model: PhaseResult, columns: Sequence[str], points: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The curve drawn through many points, for it is straight on the axes of the fit alone: levels,
    shape (m,), increasing and with the measured ones among them, and each of the columns of
    `model.levels` there."""
    levels = model.axis.forward(model.levels["level"].to_numpy(float))
    x = np.unique(np.concatenate([levels, np.linspace(levels[0], levels[-1], points)]))
    values = [
        np.exp(np.interp(x, levels, np.log(model.levels[name].to_numpy(float)))) for name in columns
    ]
    return model.axis.backward(x), values


def _places_off_the_curve(
    model: PhaseResult, apart: Sequence[Any], is_log: bool
) -> dict[Any, float]:
    """The places of settings on no curve: 0 before it, words behind it."""
    levels = model.levels["level"].to_numpy(float)
    ends = np.log(levels[[0, -1]]) if is_log else levels[[0, -1]]
    step = GAP * float(ends[1] - ends[0])
    before, behind = ([s for s in apart if (s == 0) is is_zero] for is_zero in (True, False))
    beside = {s: float(ends[0] - step * (1 + i)) for i, s in enumerate(before)}
    beside |= {s: float(ends[1] + step * (1 + i)) for i, s in enumerate(behind)}
    return {s: float(np.exp(x)) if is_log else x for s, x in beside.items()}


def _is_log_better(levels: np.ndarray) -> bool:
    """Whether levels, shape (n,), increasing and > 0, are spaced more evenly by ratio than by
    difference."""

    def unevenness(values: np.ndarray) -> float:
        gaps = np.diff(values)
        return float(gaps.std() / gaps.mean())

    return len(levels) > 2 and unevenness(np.log(levels)) < unevenness(levels)
