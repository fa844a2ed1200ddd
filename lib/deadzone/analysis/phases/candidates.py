"""The settings to choose from: the levels of one curve, or all cells of a grid, with what is known
of each.

One table serves every goal: a goal orders the settings, sets some aside and says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.level_estimates import (
    FEWEST_AGREEING,
    STANDARD_ERRORS,
    LevelEstimates,
    estimate_levels,
    few_trials_factor,
    level_medians,
)
from deadzone.analysis.phases.outliers import STANDS_OUT
from deadzone.analysis.phases.quantities import level_number
from deadzone.analysis.phases.quantities import setting as setting_text
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.analysis.records import plain
from deadzone.analysis.response_scale import RATIO_SCALE, ResponseScale
from deadzone.language.messages import _
from deadzone.study.direction import GoalFrom
from deadzone.study.levels import NONE, is_number, read_level

ROUGHEST = float(np.log(1.25))
"""More than this [ln] single trials are not allowed to differ for no reason: noise of that size
makes a sweep of single trials worthless, and on a short range second differences are the bend of
the curve."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Settings in the order of their expense, the cheapest first, with `none` as the most
    expensive.

    table: one row a setting. `setting` is what a caller gets: a number, "none", or for a grid a
    dictionary of the factors; `name` the same in words. `dead`: inside a dead zone. `last`: the
    largest level of a curve that still improves. `worst`: the worst measured response, flagged
    trials included. `n`: measured trials; `flagged`: of them flagged as outliers. `own`,
    `own_error`: what its own trials alone say, on the scale of the estimates.
    `kind`: equal for settings that the order makes cheaper and dearer; which of two words is the
    cheaper one is not known.
    `estimate`: of the response on its scale; `noise`: standard deviation of one trial, and
    `noise_df`, its degrees of freedom; `own_share`: of the variance of the estimate what comes from
    the setting's own trials. `on_curve`, `estimable`: whether it lies on a fitted curve, and
    whether replicates tell its noise.
    amounts: how much each setting takes of each factor, a column each, the knob first: infinite for
    `none`, nan for a word.
    covariance: shape (n, n), of the errors of the estimates. degrees_of_freedom: of the noise of
    all, for Student's t. response: column name. goal: "min" or "max". scale: of the response and of
    its estimates. goal_from: how the goal is known.
    """

    table: pd.DataFrame
    amounts: pd.DataFrame
    covariance: np.ndarray
    degrees_of_freedom: float
    response: str
    goal: str
    scale: ResponseScale
    goal_from: GoalFrom = "asked"

    def __getitem__(self, column: str) -> np.ndarray:
        """A column of the table, shape (n,)."""
        return self.table[column].to_numpy()

    def __len__(self) -> int:
        return len(self.table)

    @property
    def knob(self) -> str:
        """The column of the knob."""
        return str(self.amounts.columns[0])

    @property
    def levels(self) -> np.ndarray:
        """How much of the knob each setting takes, shape (n,)."""
        return self.amounts[self.knob].to_numpy()

    @property
    def sign(self) -> float:
        """1 where a smaller response is better, -1 where a larger one is."""
        return 1.0 if self.goal == "min" else -1.0

    @property
    def std_error(self) -> np.ndarray:
        """Standard error of each estimate, shape (n,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def comparison_df(self) -> float | np.ndarray:
        """Degrees of freedom for comparisons: of each setting's own noise as far as its error comes
        from it (Satterthwaite 1946, Biometrics Bulletin 2, 110-114)."""
        share, noise_df = self["own_share"], self["noise_df"]
        if share.min() < 1 and noise_df.min() >= self.degrees_of_freedom:
            return self.degrees_of_freedom
        return np.asarray(1 / (share**2 / noise_df + (1 - share) ** 2 / self.degrees_of_freedom))

    @property
    def doubted(self) -> np.ndarray:
        """Settings of few trials that are all flagged, shape (n,): these are spoiled, or the curve
        is wrong there."""
        return (self["flagged"] == self["n"]) & (self["n"] < FEWEST_AGREEING)

    @property
    def doublings(self) -> np.ndarray:
        """log2 of what each setting takes of the factors, against the least of each; shape (n,).

        `none` takes twice the largest level, a word and 0 what the least takes.
        """
        total = np.zeros(len(self))
        for values in self.amounts.to_numpy(float).T:
            if (there := np.isfinite(values) & (values > 0)).any():
                low, high = values[there].min(), 2 * values[there].max()
                total += np.log2(
                    np.where(there, values, np.where(values == np.inf, high, low)) / low
                )
        return total


def measured_settings(
    amounts: pd.DataFrame,
    settings: Sequence[Any],
    trials: pd.DataFrame,
    estimates: LevelEstimates,
    asked: tuple[str, str, ResponseScale],
    **known: Any,
) -> Candidates:
    """The candidates that are levels of a knob.

    amounts: of the knob, as of `Candidates`. trials: one row a trial: index (position of its
    setting), response, value (that on the scale of the estimates), outlier. asked: response, goal
    and scale. known: further columns of the table; `sound` says which settings may tell how rough
    single trials are.
    """
    knob, n = str(amounts.columns[0]), len(amounts)
    (columns, covariance, degrees_of_freedom), (response, goal, scale) = estimates, asked
    index, outlier = trials["index"].to_numpy(), trials["outlier"].to_numpy(bool)
    values, count = trials["response"], np.bincount(index, minlength=n)
    flagged = np.bincount(index[outlier], minlength=n)
    own = level_medians(index, trials["value"].to_numpy(), 1.0 - outlier)
    sound = known.pop("sound", True) & (flagged < count)
    # How far single trials may lie off for no reason: second differences of neighbours, which a
    # trend leaves alone (Gasser, Sroka and Jennen-Steinmetz 1986, Biometrika 73, 625-633; the
    # median, as of Rousseeuw and Croux 1993, JASA 88, 1273-1283). Else Student's t says.
    bends = np.abs(np.diff(own[sound], 2))
    single = min(float(np.median(bends)), ROUGHEST) if len(bends) else 0.0
    several = few_trials_factor(columns["noise_df"]) * columns["noise"] / np.sqrt(count)
    table = pd.DataFrame(
        {
            "setting": pd.Series(list(settings), dtype=object),
            "name": pd.Series([setting_text(level, knob) for level in settings], dtype=object),
            "worst": values.groupby(index).agg("max" if goal == "min" else "min"),
            "n": count,
            "flagged": flagged,
            "own": own,
            "own_error": np.where(count > 1, several, single / (STANDARD_ERRORS * np.sqrt(2))),
            **columns,
            **known,
        }
    )
    return Candidates(table, amounts, covariance, degrees_of_freedom, response, goal, scale)


def candidates_of(model: PhaseResult) -> Candidates:
    """The levels of one curve as candidates."""
    levels = model.levels["level"].to_numpy(float)
    # The last phase gains with the certainty of the fit, and its last step does so too.
    improves = still_gains(model) and model.phases["elasticity_low"].iloc[-1] > WORTH_A_TRIAL
    return measured_settings(
        pd.DataFrame({model.knob: np.where(levels == model.none_level, np.inf, levels)}),
        [setting_at(model, level) for level in levels],
        model.trials.assign(
            index=np.searchsorted(levels, model.trials["level"].to_numpy(float)),
            value=np.log(model.trials["corrected"].to_numpy(float)),
        ),
        estimate_levels(model),
        (model.response, model.goal, RATIO_SCALE),
        sound=model.levels["off"].to_numpy(float) == 0,
        dead=[False, *(label == "dead_zone" for label in model.step_labels)],
        last=np.arange(len(levels)) == (len(levels) - 1 if improves else -1),
        kind=np.arange(len(levels)) if model.axis.is_interval else 0,
        on_curve=True,
        estimable=model.noise.estimable,
    )


def in_slice(candidates: Candidates, levels: Mapping[str, Any]) -> Candidates:
    """The candidates of a slice as settings of the grid. levels: of the other factors in this
    slice."""
    if not levels:
        return candidates
    others: dict[str, Any] = {name: plain(level, whole=True) for name, level in levels.items()}
    where = " / ".join(setting_text(level, name) for name, level in others.items())
    settings = [{**others, candidates.knob: level} for level in candidates["setting"]]
    names = [f"{where} / {name}" for name in candidates["name"]]
    amounts = {name: level if is_number(level) else np.nan for name, level in levels.items()}
    return replace(
        candidates,
        table=candidates.table.assign(setting=pd.Series(settings), name=names),
        amounts=candidates.amounts.assign(**amounts),
    )


def stacked(parts: Sequence[Candidates]) -> Candidates:
    """The candidates of several slices in a row.

    The slices share no trials, so their errors are taken as independent. Settings of a slice whose
    other levels are words are of a kind of their own.
    """
    if len(parts) == 1:
        return parts[0]
    tables, first = [], 0
    for part in parts:
        is_worded = bool(part.amounts.isna().all().any())
        tables.append(part.table.assign(kind=part.table["kind"] + first * is_worded))
        first += int(part.table["kind"].max()) + 1
    own = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    covariance = np.zeros((len(own), len(own)))
    covariance[own[:, None] == own] = np.concatenate([part.covariance.ravel() for part in parts])
    return replace(
        parts[0],
        table=pd.concat(tables, ignore_index=True),
        amounts=pd.concat([part.amounts for part in parts], ignore_index=True),
        covariance=covariance,
        degrees_of_freedom=sum(part.degrees_of_freedom for part in parts),
    )


def with_cost(candidates: Candidates, cost: str) -> Candidates:
    """The candidates with ln(cost) in the place of ln(response).

    The cost may use the knob, the other factors and the response. The covariance of the responses
    is carried over by the derivative of ln(cost) by ln(response) (delta method). A setting whose
    cost is not a positive number (`none` has no price) gets an infinite estimate. Raises PhaseError
    for what is no cost.
    """
    from deadzone.analysis.phases.cost_expression import parse_cost

    amounts = {str(name): column.to_numpy(float) for name, column in candidates.amounts.items()}
    estimate, h, evaluate = candidates["estimate"], 1e-4, parse_cost(cost)

    def log_cost(log_response: np.ndarray) -> np.ndarray:
        value = evaluate({**amounts, candidates.response: np.exp(log_response)})
        with np.errstate(all="ignore"):
            return np.where(np.isfinite(value) & (value > 0), np.log(value), np.inf)

    with np.errstate(invalid="ignore"):
        slope = np.nan_to_num((log_cost(estimate + h) - log_cost(estimate - h)) / (2 * h))
    table = candidates.table.assign(
        estimate=log_cost(estimate),
        noise=candidates["noise"] * np.abs(slope),
        own=log_cost(candidates["own"]),
        own_error=candidates["own_error"] * np.abs(slope),
    )
    covariance = candidates.covariance * np.outer(slope, slope)
    return replace(
        candidates, table=table, covariance=covariance, goal="min", goal_from="asked", response=cost
    )


def only(candidates: Candidates, chosen: np.ndarray) -> Candidates:
    """The candidates at the positions `chosen`, in that order; or where it is True, in the same
    one."""
    where = np.nonzero(chosen)[0] if chosen.dtype == bool else chosen
    return replace(
        candidates,
        table=candidates.table.iloc[where].reset_index(drop=True),
        amounts=candidates.amounts.iloc[where].reset_index(drop=True),
        covariance=candidates.covariance[np.ix_(where, where)],
    )


def level_text(model: PhaseResult, level: float) -> str:
    """A level of the model's knob as text: `12`, `64 KiB`, `no limit`."""
    setting = setting_at(model, level)
    if setting == NONE:
        return _("no limit")
    return setting if isinstance(setting, str) else level_number(float(setting), model.knob)


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


WORTH_A_TRIAL = float(np.log1p(PRACTICAL_TOLERANCE) / np.log(2))
"""Elasticity at which a doubling gains what counts as better."""

NOISES = 3.0
"""A last level that is worse than the one before by so many times the noise of a trial says more
than the curve."""


def still_gains(model: PhaseResult) -> bool:
    """Whether the last step, by its own elasticity, gains more than that: a gain may have faded in
    its phase, and the trials of the last level may say otherwise."""
    before, last = np.log(model.levels["median"].to_numpy(float)[-2:])
    loss = last - before if model.goal == "min" else before - last
    is_worse = loss > max(NOISES * model.noise.replicate, STANDS_OUT)
    return float(model.steps["elasticity"].iloc[-1]) > WORTH_A_TRIAL and not is_worse


def gain_score(model: PhaseResult) -> float:
    """How many standard errors the elasticity of the last phase lies above that."""
    last = model.phases.iloc[-1]
    return (float(last["elasticity"]) - WORTH_A_TRIAL) / max(float(last["std_error"]), 1e-9)
