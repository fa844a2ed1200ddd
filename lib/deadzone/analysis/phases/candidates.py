"""The settings to choose from: the levels of one curve, or all cells of a grid, with what is known
of each.

One record serves every goal: a goal orders the candidates, sets some aside and says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.cost_expression import CostExpression
from deadzone.analysis.phases.level_estimates import (
    LEAST_WEIGHT,
    LevelEstimates,
    estimate_levels,
    independent,
    level_medians,
)
from deadzone.analysis.phases.own_values import FEWEST_AGREEING, own_errors
from deadzone.analysis.phases.quantities import level_number
from deadzone.analysis.phases.quantities import response as response_text
from deadzone.analysis.phases.quantities import setting as setting_text
from deadzone.analysis.phases.range_end import ends_improving
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.records import plain
from deadzone.analysis.response_scale import RATIO_SCALE, ResponseScale
from deadzone.errors import PhaseError
from deadzone.language.messages import N_, _, say
from deadzone.study.levels import NONE, read_level

ARRAYS = ("dead", "last", "worst", "trials", "flagged", "flagged_best", "own", "own_error", "kinds")
"""What is known of each setting as an array."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Settings in the order of their expense, the cheapest first, with `none` as the most
    expensive.

    settings: what a caller gets: a number, "none", or for a grid a dictionary of both factors.
    names: the same in words. on_curve: whether any of them lie on a fitted curve. dead: True inside
    a dead zone. last: True at the largest level of a curve that still improves. columns: the knob
    (infinite for `none`) and the second factor, by name, shape (n,) each. estimates: ln(response)
    of each. worst: the worst measured response of each, flagged trials included. trials: shape
    (n,), measured trials. flagged: shape (n,), of them flagged as outliers. flagged_best: shape
    (n,), the best response of a flagged trial, nan without one. own, own_error: shape (n,), what
    its own trials alone say of each, on the scale of the estimates; see `own_values`. kinds: shape
    (n,), equal numbers for settings that the order makes cheaper and dearer; which of two words is
    the cheaper one is not known. response: column name. goal: "min" or "max". estimable: whether
    replicates tell the noise. scale: of the response and of its estimates.
    """

    settings: tuple[Any, ...]
    names: tuple[str, ...]
    on_curve: bool
    dead: np.ndarray
    last: np.ndarray
    columns: dict[str, np.ndarray]
    estimates: LevelEstimates
    worst: np.ndarray
    trials: np.ndarray
    flagged: np.ndarray
    flagged_best: np.ndarray
    own: np.ndarray
    own_error: np.ndarray
    response: str
    goal: str
    estimable: bool
    kinds: np.ndarray
    scale: ResponseScale = RATIO_SCALE

    @property
    def sign(self) -> float:
        """1 where a smaller response is better, -1 where a larger one is."""
        return 1.0 if self.goal == "min" else -1.0

    @property
    def doubted(self) -> np.ndarray:
        """Settings of few trials that are all flagged, shape (n,): these are spoiled, or the curve
        is wrong there."""
        return (self.flagged == self.trials) & (self.trials < FEWEST_AGREEING)

    @property
    def doublings(self) -> np.ndarray:
        """log2 of what each setting takes of the factors, against the least of each; shape (n,).

        `none` takes twice the largest level, a word and 0 what the least takes.
        """
        names = (
            self.settings[0]
            if isinstance(self.settings[0], Mapping)
            else [next(iter(self.columns))]
        )
        total = np.zeros(len(self))
        for values in (self.columns[name] for name in names):
            if (there := np.isfinite(values) & (values > 0)).any():
                low, high = values[there].min(), 2 * values[there].max()
                total += np.log2(
                    np.where(there, values, np.where(values == np.inf, high, low)) / low
                )
        return total

    def __len__(self) -> int:
        return len(self.settings)


def candidates_of(model: PhaseResult) -> Candidates:
    """The levels of one curve as candidates."""
    levels = model.levels["level"].to_numpy(float)
    index = np.searchsorted(levels, model.trials["level"].to_numpy(float))
    response, outlier = (
        model.trials["response"].to_numpy(float),
        model.trials["outlier"].to_numpy(bool),
    )
    estimates = estimate_levels(model)
    measured = measured_at(index, response, outlier, len(levels), model.goal)
    own = level_medians(index, np.log(model.trials["corrected"].to_numpy(float)), 1.0 - outlier)
    sound = (measured["flagged"] < measured["trials"]) & (model.levels["off"].to_numpy(float) == 0)
    return Candidates(
        settings=tuple(setting_at(model, level) for level in levels),
        names=tuple(setting_text(setting_at(model, level), model.knob) for level in levels),
        on_curve=True,
        dead=np.array([False, *(label == "dead_zone" for label in model.step_labels)]),
        last=np.arange(len(levels)) == (len(levels) - 1 if ends_improving(model) else -1),
        columns={model.knob: np.where(levels == model.none_level, np.inf, levels)},
        estimates=estimates,
        **measured,
        own=own,
        own_error=own_errors(own, measured["trials"], estimates, sound),
        response=model.response,
        goal=model.goal,
        estimable=model.noise.estimable,
        kinds=np.arange(len(levels))
        if model.axis.is_interval
        else np.zeros(len(levels), dtype=int),
    )


def measured_at(
    index: np.ndarray, response: np.ndarray, outlier: np.ndarray, n: int, goal: str
) -> dict[str, Any]:
    """What the trials of n settings came to: worst, trials, flagged and flagged_best of
    `Candidates`.

    index: shape (trials,), the setting of each, all of which have some. response, outlier: shape
    (trials,).
    """
    values = pd.Series(response)
    flagged_best = values[outlier].groupby(index[outlier]).agg(goal).reindex(range(n))
    return {
        "worst": values.groupby(index).agg("max" if goal == "min" else "min").to_numpy(),
        "trials": np.bincount(index, minlength=n),
        "flagged": np.bincount(index[outlier], minlength=n),
        "flagged_best": flagged_best.to_numpy(float),
    }


def in_slice(candidates: Candidates, levels: Mapping[str, Any]) -> Candidates:
    """The candidates of a slice as settings of the grid. levels: of the other factors in this
    slice."""
    if not levels:
        return candidates
    knob = next(iter(candidates.columns))
    where = " / ".join(slice_name(name, level) for name, level in levels.items())
    return replace(
        candidates,
        settings=tuple(
            {**{n: plain(v, whole=True) for n, v in levels.items()}, knob: s}
            for s in candidates.settings
        ),
        names=tuple(f"{where} / {name}" for name in candidates.names),
        columns={
            **candidates.columns,
            **{name: np.full(len(candidates), _as_number(level)) for name, level in levels.items()},
        },
    )


def stacked(parts: Sequence[Candidates]) -> Candidates:
    """The candidates of several slices in a row.

    The slices share no trials, so their errors are taken as independent. Settings of a slice whose
    other levels are words are of a kind of their own.
    """
    if len(parts) == 1:
        return parts[0]
    columns = {n: np.concatenate([part.columns[n] for part in parts]) for n in parts[0].columns}
    worded = [any(np.isnan(values).all() for values in part.columns.values()) for part in parts]
    first = np.cumsum([0, *(int(part.kinds.max()) + 1 for part in parts)])
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS
    }
    arrays["kinds"] = np.concatenate(
        [part.kinds + first[i] * worded[i] for i, part in enumerate(parts)]
    )
    for name in ("settings", "names"):
        arrays[name] = tuple(item for part in parts for item in getattr(part, name))
    return replace(
        parts[0],
        columns=columns,
        estimates=independent([part.estimates for part in parts]),
        on_curve=any(part.on_curve for part in parts),
        estimable=any(part.estimable for part in parts),
        **arrays,
    )


def with_columns(
    candidates: Candidates, model: PhaseResult, frame: pd.DataFrame, names: tuple[str, ...]
) -> Candidates:
    """The candidates with the mean of further columns of the trials at each level, flagged trials
    left out.

    frame: the frame that was fitted; names of columns that it lacks are left to `with_cost` to
    report.

    Raises PhaseError if the frame is not the one that was fitted, or a column is not numeric.
    """
    rows = model.trials["row"].to_numpy(int)
    if len(frame) <= rows.max() or not np.allclose(
        pd.to_numeric(frame[model.response].iloc[rows]), model.trials["response"]
    ):
        raise PhaseError(
            "The trials given for the cost are not those that the model was fitted to."
        )
    levels = model.levels["level"].to_numpy(float)
    index = np.searchsorted(levels, model.trials["level"].to_numpy(float))
    weight = np.maximum(model.trials["weight"].to_numpy(float), LEAST_WEIGHT)
    further = {}
    for name in names:
        if name in frame and name not in (model.knob, model.response):
            if not pd.api.types.is_numeric_dtype(frame[name]):
                raise PhaseError(
                    f"The column {name!r} is not numeric, so it cannot be part of a cost."
                )
            values = frame[name].to_numpy(float)[rows]
            further[name] = np.bincount(index, weight * values) / np.bincount(index, weight)
    return replace(candidates, columns={**candidates.columns, **further})


def with_cost(candidates: Candidates, cost: CostExpression) -> Candidates:
    """The candidates with ln(cost) in the place of ln(response).

    The cost may use the knob, the second factor of a grid, the response and what `with_columns`
    added. The covariance of the responses is carried over by the derivative of ln(cost) by
    ln(response) (delta method); the scatter of the added columns is not part of it. A setting whose
    cost is not a positive number (`none` has no price) gets an infinite estimate.
    """
    e = candidates.estimates
    h = 1e-4

    def log_cost(log_response: np.ndarray) -> np.ndarray:
        value = cost.evaluate({**candidates.columns, candidates.response: np.exp(log_response)})
        with np.errstate(all="ignore"):
            return np.where(np.isfinite(value) & (value > 0), np.log(value), np.inf)

    centre = log_cost(e.log_response)
    with np.errstate(invalid="ignore"):
        slope = np.nan_to_num(
            (log_cost(e.log_response + h) - log_cost(e.log_response - h)) / (2 * h)
        )
    covariance = e.covariance * np.outer(slope, slope)
    estimates = replace(
        e, log_response=centre, covariance=covariance, noise=e.noise * np.abs(slope)
    )
    nothing = np.full(len(candidates), np.nan)
    return replace(
        candidates,
        goal="min",
        response=cost.text,
        estimates=estimates,
        flagged_best=nothing,
        own=log_cost(candidates.own),
        own_error=candidates.own_error * np.abs(slope),
    )


def only(candidates: Candidates, chosen: np.ndarray) -> Candidates:
    """The candidates at the positions `chosen`, in that order; or where it is True, in the same
    one."""
    where = np.nonzero(chosen)[0] if chosen.dtype == bool else chosen
    kept: dict[str, Any] = {name: getattr(candidates, name)[where] for name in ARRAYS}
    for name in ("settings", "names"):
        kept[name] = tuple(getattr(candidates, name)[i] for i in where)
    columns = {name: values[where] for name, values in candidates.columns.items()}
    return replace(candidates, columns=columns, estimates=candidates.estimates.at(where), **kept)


def level_text(model: PhaseResult, level: float) -> str:
    """A level of the model's knob as text: `12`, `64 KiB`, `no limit`."""
    setting = setting_at(model, level)
    if setting == NONE:
        return _("no limit")
    return setting if isinstance(setting, str) else level_number(float(setting), model.knob)


def trial_text(model: PhaseResult, trial: Mapping[Any, Any]) -> str:
    """What a reader who points at a trial is told of it. trial: a row of `model.trials`."""
    text = (
        N_("trial {trial}, block {block}: {level}, {value}; flagged as an outlier")
        if trial["outlier"]
        else N_("trial {trial}, block {block}: {level}, {value}")
    )
    level = setting_text(setting_at(model, float(trial["level"])), model.knob)
    value = response_text(float(trial["corrected"]), model.response)
    return say(text, trial=trial["trial"], block=trial["block"], level=level, value=value)


def setting_at(model: PhaseResult, level: float) -> Any:
    """The level at a place on the knob's axis, as a program is given it: 12, `64MB`, `none`."""
    if model.none_level is not None and level == model.none_level:
        return NONE
    known = model.levels["level"].to_numpy(float)
    written = str(model.levels["label"].iloc[int(np.argmin(np.abs(known - level)))])
    if isinstance(as_number := read_level(written), str):
        return written
    return (
        plain(level, whole=True) if np.isclose(as_number, level) or level not in known else written
    )


def place_of(model: PhaseResult, setting: Any) -> float | None:
    """The place on the axis of a recommended level of the knob; None for one that stands apart."""
    return places(model).get(setting)


@lru_cache(maxsize=4)
def places(model: PhaseResult) -> dict[Any, float]:
    """The places of a model's levels on the axis, by level; made once a model."""
    return {setting_at(model, x): x for x in map(float, model.levels["level"])}


def slice_name(by: str, value: Any) -> str:
    """The value of another factor in words: `4 cores`."""
    return setting_text(plain(value, whole=True), by)


def _as_number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | np.number) else np.nan
