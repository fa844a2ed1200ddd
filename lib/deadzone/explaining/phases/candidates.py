"""The settings to choose from: the levels of one curve, or all cells of a grid, with what is known of each.

One record serves every goal: a goal orders the candidates, sets some aside and says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.phases.cost_expression import CostExpression
from deadzone.explaining.phases.level_estimates import (
    LEAST_WEIGHT,
    LevelEstimates,
    estimate_levels,
    independent,
)
from deadzone.explaining.phases.quantities import level_number
from deadzone.explaining.phases.quantities import setting as setting_text
from deadzone.explaining.phases.result import PhaseResult
from deadzone.explaining.records import plain
from deadzone.language.catalogue import say, term

ARRAYS = ("dead", "last", "worst", "trials", "flagged", "flagged_best")
"""What is known of each setting as an array."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Settings in the order of their expense, the cheapest first, with `none` as the most expensive.

    settings: what a caller gets: a number, "none", or for a grid a dictionary of both factors.
    names: the same in words. places: which phase each setting lies in, in words, "" where it is plain.
    dead: True inside a dead zone. last: True at the largest level of a curve that still improves.
    columns: the knob (infinite for `none`) and the second factor, by name, shape (n,) each.
    estimates: ln(response) of each. worst: the worst measured response of each, flagged trials included.
    trials: shape (n,), measured trials. flagged: shape (n,), of them flagged as outliers. flagged_best:
    shape (n,), the best response of a flagged trial, nan without one.
    response: column name. goal: "min" or "max". estimable: whether replicates tell the noise.
    """

    settings: tuple[Any, ...]
    names: tuple[str, ...]
    places: tuple[str, ...]
    dead: np.ndarray
    last: np.ndarray
    columns: dict[str, np.ndarray]
    estimates: LevelEstimates
    worst: np.ndarray
    trials: np.ndarray
    flagged: np.ndarray
    flagged_best: np.ndarray
    response: str
    goal: str
    estimable: bool

    @property
    def sign(self) -> float:
        """1 where a smaller response is better, -1 where a larger one is."""
        return 1.0 if self.goal == "min" else -1.0

    def __len__(self) -> int:
        return len(self.settings)


def candidates_of(model: PhaseResult) -> Candidates:
    """The levels of one curve as candidates."""
    levels = model.levels["level"].to_numpy(float)
    labels = [_none_label(model, level) for level in levels]
    index = np.searchsorted(levels, model.trials["level"].to_numpy(float))
    response = model.trials["response"].to_numpy(float)
    worst = pd.Series(response).groupby(index).agg("max" if model.goal == "min" else "min")
    outlier = model.trials["outlier"].to_numpy(bool)
    spoiled = pd.Series(response[outlier]).groupby(index[outlier]).agg(model.goal)
    ends_improving = model.step_labels[-1] in ("linear", "breakthrough")
    return Candidates(
        settings=tuple(
            label or plain(level, whole=True) for label, level in zip(labels, levels, strict=True)
        ),
        names=tuple(
            setting_text(level, model.knob, label) for label, level in zip(labels, levels, strict=True)
        ),
        places=tuple(place(model, i) for i in range(len(levels))),
        dead=np.array([_inside_dead_zone(model, i) for i in range(len(levels))]),
        last=np.arange(len(levels)) == (len(levels) - 1 if ends_improving else -1),
        columns={
            model.knob: np.array([np.inf if label else x for label, x in zip(labels, levels, strict=True)])
        },
        estimates=estimate_levels(model),
        worst=worst.to_numpy(),
        trials=np.bincount(index, minlength=len(levels)),
        flagged=np.bincount(index[outlier], minlength=len(levels)),
        flagged_best=spoiled.reindex(range(len(levels))).to_numpy(float),
        response=model.response,
        goal=model.goal,
        estimable=model.noise.estimable,
    )


def candidates_of_grid(by: str, models: Mapping[Any, PhaseResult]) -> Candidates:
    """All cells of a grid as candidates: fewest of the second factor, `by`, first, then fewest of the knob.

    The slices share no trials, so their errors are taken as independent.
    """
    slices = [(value, candidates_of(model)) for value, model in models.items()]
    each = [part for _, part in slices]
    knob = next(iter(each[0].columns))
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in each]) for name in ARRAYS}
    return replace(
        each[0],
        settings=tuple({by: plain(v, whole=True), knob: s} for v, part in slices for s in part.settings),
        names=tuple(f"{slice_name(by, v)} / {name}" for v, part in slices for name in part.names),
        columns={
            knob: np.concatenate([part.columns[knob] for part in each]),
            by: np.array([_as_number(v) for v, part in slices for _ in range(len(part))]),
        },
        estimates=independent([part.estimates for part in each]),
        places=tuple(text for part in each for text in part.places),
        estimable=any(part.estimable for part in each),
        **arrays,
    )


def with_columns(
    candidates: Candidates, model: PhaseResult, frame: pd.DataFrame, names: tuple[str, ...]
) -> Candidates:
    """The candidates with the mean of further columns of the trials at each level, flagged trials left out.

    frame: the frame that was fitted; names of columns that it lacks are left to `with_cost` to report.

    Raises PhaseError if the frame is not the one that was fitted, or a column is not numeric.
    """
    rows = model.trials["row"].to_numpy(int)
    if len(frame) <= rows.max() or not np.allclose(
        pd.to_numeric(frame[model.response].iloc[rows]), model.trials["response"]
    ):
        raise PhaseError("The trials given for the cost are not those that the model was fitted to.")
    levels = model.levels["level"].to_numpy(float)
    index = np.searchsorted(levels, model.trials["level"].to_numpy(float))
    weight = np.maximum(model.trials["weight"].to_numpy(float), LEAST_WEIGHT)
    further = {}
    for name in names:
        if name in frame and name not in (model.knob, model.response):
            if not pd.api.types.is_numeric_dtype(frame[name]):
                raise PhaseError(f"The column {name!r} is not numeric, so it cannot be part of a cost.")
            values = frame[name].to_numpy(float)[rows]
            further[name] = np.bincount(index, weight * values) / np.bincount(index, weight)
    return replace(candidates, columns={**candidates.columns, **further})


def with_cost(candidates: Candidates, cost: CostExpression) -> Candidates:
    """The candidates with ln(cost) in the place of ln(response).

    The cost may use the knob, the second factor of a grid, the response and what `with_columns` added.
    The covariance of the responses is carried over by the derivative of ln(cost) by ln(response) (delta
    method); the scatter of the added columns is not part of it. A setting whose cost is not a positive number (`none` has no price) gets an infinite estimate.
    """
    e = candidates.estimates
    h = 1e-4

    def log_cost(log_response: np.ndarray) -> np.ndarray:
        value = cost.evaluate({**candidates.columns, candidates.response: np.exp(log_response)})
        with np.errstate(all="ignore"):
            return np.where(np.isfinite(value) & (value > 0), np.log(value), np.inf)

    centre = log_cost(e.log_response)
    with np.errstate(invalid="ignore"):
        slope = np.nan_to_num((log_cost(e.log_response + h) - log_cost(e.log_response - h)) / (2 * h))
    return replace(
        candidates,
        goal="min",
        response=cost.text,
        estimates=replace(
            e,
            log_response=centre,
            covariance=e.covariance * np.outer(slope, slope),
            noise=e.noise * np.abs(slope),
        ),
        flagged_best=np.full(len(candidates), np.nan),
    )


def only(candidates: Candidates, keep: np.ndarray) -> Candidates:
    """The candidates where `keep`, shape (n,), is True, in the same order."""
    where = np.nonzero(keep)[0]
    kept: dict[str, Any] = {name: getattr(candidates, name)[where] for name in ARRAYS}
    for name in ("settings", "names", "places"):
        kept[name] = tuple(getattr(candidates, name)[i] for i in where)
    columns = {name: values[where] for name, values in candidates.columns.items()}
    return replace(candidates, columns=columns, estimates=candidates.estimates.at(where), **kept)


def place(model: PhaseResult, i: int) -> str:
    """Where the i-th level lies among the phases: `the breakthrough (10-12) ends and the plateau (12-16) begins`."""
    level = float(model.levels["level"].iloc[i])
    before = after = None
    for position, phase in enumerate(model.phases.to_dict("records")):
        if phase["start"] < level <= phase["stop"]:
            before = position
        if phase["start"] <= level < phase["stop"]:
            after = position
    if before is not None and before == after:
        return say("place.inside", phase=_phase_text(model, before))
    if before is None:
        return say("place.begins", phase=_phase_text(model, 0))
    if after is None:
        return say("place.ends", phase=_phase_text(model, before))
    return say("place.between", before=_phase_text(model, before), after=_phase_text(model, after))


def _phase_text(model: PhaseResult, position: int) -> str:
    phase = model.phases.to_dict("records")[position]
    start, stop = level_text(model, phase["start"]), level_text(model, phase["stop"])
    key = "place.linear" if phase["label"] == "linear" else "place.other"
    return say(key, name=term("phase", phase["label"]), start=start, stop=stop)


def level_text(model: PhaseResult, level: float) -> str:
    """A level of the model's knob as text: `12`, `64 KiB`, `none`."""
    is_none = model.none_level is not None and level == model.none_level
    return say("quantity.none") if is_none else level_number(level, model.knob)


def _inside_dead_zone(model: PhaseResult, i: int) -> bool:
    """Whether the step up to the i-th level brought nothing although something improves later."""
    return i > 0 and model.step_labels[i - 1] == "dead_zone"


def _none_label(model: PhaseResult, level: float) -> str | None:
    return "none" if model.none_level is not None and level == model.none_level else None


def slice_name(by: str, value: Any) -> str:
    """The value of a second factor in words: `4 cores`."""
    return setting_text(float(value), by) if isinstance(value, int | float | np.number) else f"{by} {value}"


def _as_number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | np.number) else np.nan
