"""The settings to choose from: the levels of one curve, or all cells of a grid, with what is known
of each.

One table serves every goal: a goal orders the settings, sets some aside and says why.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.level_estimates import (
    FEWEST_AGREEING,
    STANDARD_ERRORS,
    estimate_levels,
    few_trials_factor,
    level_medians,
)
from deadzone.analysis.phases.outliers import STANDS_OUT
from deadzone.analysis.phases.quantities import level_number, listing
from deadzone.analysis.phases.quantities import setting as setting_text
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE
from deadzone.analysis.records import plain
from deadzone.analysis.response_scale import RATIO_SCALE, ResponseScale
from deadzone.errors import PhaseError
from deadzone.language.messages import Message, _
from deadzone.study.direction import GoalFrom
from deadzone.study.levels import read_level
from deadzone.study.scales import NO_LIMIT, level_name

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
    its estimates. goal_from: how the goal is known. spread: that was published with
    the trials, a share, and taken for the noise of settings measured once; None without. unit: that
    stood in the cells of the response, empty without one.
    """

    table: pd.DataFrame
    amounts: pd.DataFrame
    covariance: np.ndarray
    degrees_of_freedom: float
    response: str
    goal: str
    scale: ResponseScale
    goal_from: GoalFrom = "asked"
    spread: float | None = None
    unit: str = ""

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
    def is_assumed(self) -> bool:
        """Whether the noise is: no setting was measured twice, none lies on a curve, and no spread
        was published."""
        rests_on = self["estimable"].any() or self["on_curve"].any() or self.spread
        return len(self) > 1 and not rests_on

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
        amounts = self.amounts.astype(float)
        known = amounts.where(np.isfinite(amounts) & (amounts > 0))
        taken = known.fillna(known.min()).mask(amounts == np.inf, 2 * known.max(), axis=1)
        return np.log2(taken / known.min()).sum(axis=1).to_numpy()


def measured_settings(
    trials: pd.DataFrame,
    columns: dict[str, np.ndarray],
    goal: str,
    sound: np.ndarray | bool = True,
) -> pd.DataFrame:
    """What trials say of each setting, a row each: worst, n, flagged, own, own_error, and the
    columns of `LevelEstimates`.

    trials: one row a trial: index (position of its setting), response, value (that on the scale of
    the estimates), outlier. sound: which settings may tell how rough single trials are.
    """
    n = len(columns["noise"])
    index, outlier = trials["index"].to_numpy(), trials["outlier"].to_numpy(bool)
    count, flagged = np.bincount(index, minlength=n), np.bincount(index[outlier], minlength=n)
    own = level_medians(index, trials["value"].to_numpy(), 1.0 - outlier)
    # How far single trials may lie off for no reason: second differences of neighbours, which a
    # trend leaves alone (Gasser, Sroka and Jennen-Steinmetz 1986, Biometrika 73, 625-633; the
    # median, as of Rousseeuw and Croux 1993, JASA 88, 1273-1283). Else Student's t says.
    bends = np.abs(np.diff(own[sound & (flagged < count)], 2))
    single = min(float(np.median(bends)), ROUGHEST) if len(bends) else 0.0
    several = few_trials_factor(columns["noise_df"]) * columns["noise"] / np.sqrt(count)
    own_error = np.where(count > 1, several, single / (STANDARD_ERRORS * np.sqrt(2)))
    worst = trials.groupby("index")["response"].agg("max" if goal == "min" else "min").to_numpy()
    return pd.DataFrame(
        {"worst": worst, "n": count, "flagged": flagged, "own": own, "own_error": own_error}
        | columns
    )


def candidates_of(model: PhaseResult) -> Candidates:
    """The levels of one curve as candidates."""
    levels = model.levels["level"].to_numpy(float)
    trials = model.trials.assign(
        index=np.searchsorted(levels, model.trials["level"].to_numpy(float)),
        value=np.log(model.trials["corrected"].to_numpy(float)),
    )
    columns, covariance, degrees_of_freedom = estimate_levels(model)
    settings = [setting_at(model, level) for level in levels]
    # The last phase gains with the certainty of the fit, and its last step does so too.
    improves = still_gains(model) and model.phases["elasticity_low"].iloc[-1] > WORTH_A_TRIAL
    sound = model.levels["off"].to_numpy(float) == 0
    table = measured_settings(trials, columns, model.goal, sound).assign(
        setting=pd.Series(settings, dtype=object),
        name=[setting_text(level, model.knob) for level in settings],
        dead=[False, *(label == "dead_zone" for label in model.step_labels)],
        last=np.arange(len(levels)) == (len(levels) - 1 if improves else -1),
        kind=np.arange(len(levels)) if model.axis.is_interval else 0,
        on_curve=True,
        estimable=model.noise.estimable,
    )
    amounts = pd.DataFrame({model.knob: np.where(levels == model.none_level, np.inf, levels)})
    return Candidates(
        table, amounts, covariance, degrees_of_freedom, model.response, model.goal, RATIO_SCALE
    )


def with_cost(candidates: Candidates, cost: str) -> tuple[Candidates, list[Message]]:
    """The candidates with ln(cost) in the place of ln(response), and a sentence on those that are
    left out.

    The cost may use the knob, the other factors and the response. The covariance of the responses
    is carried over by the derivative of ln(cost) by ln(response) (delta method). A setting whose
    cost is not a positive number (`none` has no price) is left out. Raises PhaseError for what is
    no cost.
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
    priced = replace(
        candidates,
        table=candidates.table.assign(
            estimate=log_cost(estimate),
            noise=candidates["noise"] * np.abs(slope),
            own=log_cost(candidates["own"]),
            own_error=candidates["own_error"] * np.abs(slope),
        ),
        covariance=candidates.covariance * np.outer(slope, slope),
        goal="min",
        goal_from="asked",
        response=cost,
        unit="",
    )
    known = np.isfinite(priced["estimate"])
    if known.sum() < min(2, len(known)):
        raise PhaseError(
            f"The cost {cost!r} is a positive number at fewer than two settings; check its signs."
        )
    if known.all():
        return priced, []
    without = listing(list(priced["name"][~known]))
    note = _("{settings}: no positive, finite cost, so not compared.", settings=without)
    return only(priced, known), [note]


def only(candidates: Candidates, chosen: np.ndarray) -> Candidates:
    """The candidates at the positions `chosen`, in that order; or where it is True, in the same
    one."""
    return replace(
        candidates,
        table=candidates.table.iloc[chosen].reset_index(drop=True),
        amounts=candidates.amounts.iloc[chosen].reset_index(drop=True),
        covariance=candidates.covariance[np.ix_(chosen, chosen)],
    )


def level_text(model: PhaseResult, level: float) -> str:
    """A level of the model's knob as text: `12`, `64 KiB`, `no limit`."""
    setting = setting_at(model, level)
    if setting in NO_LIMIT:
        return _("no limit")
    return setting if isinstance(setting, str) else level_number(float(setting), model.knob)


def setting_at(model: PhaseResult, level: float) -> Any:
    """The level at a place on the knob's axis, as a program is given it: 12, `64MB`, `none`."""
    known = model.levels["level"].to_numpy(float)
    written = str(model.levels["label"].iloc[int(np.argmin(np.abs(known - level)))])
    if isinstance(as_number := read_level(written), str):
        return written
    return (
        plain(level, whole=True) if np.isclose(as_number, level) or level not in known else written
    )


@lru_cache(maxsize=4)
def places(model: PhaseResult) -> dict[Any, float]:
    """The places of a model's levels on the axis, by level; made once a model."""
    return {setting_at(model, x): x for x in map(float, model.levels["level"])}


def named_places(model: PhaseResult) -> dict[str, float]:
    """The same by the name of the level, as a table has it."""
    return {level_name(level): place for level, place in places(model).items()}


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
