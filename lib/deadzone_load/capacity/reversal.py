"""Where more threads hurt: the reversal of each rate's curve.

Where pools were measured several times, the trials themselves say: the mean of each pool is drawn
from its t distribution, its variance common to the pools of a rate, and the largest pool that is
about as good as the best one is noted. Where each was measured once, only the shape of the curve
can say, and the phase model is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.objectives.bounds import Objective
from deadzone.analysis.phases.model import PhaseModel
from deadzone.study.design import RATE

TOLERANCE = 0.03
"""A pool is about as good as the best one up to this much worse."""

DRAWS = 4_000
SEED = 1961
CERTAINTY = 0.90
"""Coverage of the interval."""

FAR_INSIDE = 0.1
"""A response within this share of what its objective allows does no harm there, whatever it differs
by [share]."""

LEAST_FREEDOM = 3
"""With fewer degrees of freedom the scatter of trials is not known."""

LIKELY = 0.5
"""A reversal is named where it is more probable than not."""


@dataclass(frozen=True)
class Reversal:
    """The end of a rate's curve.

    start: pool size beyond which the response gets worse; None where the curve does not turn back.
    low, high: its interval. probability: that the curve turns back. worse: how much worse the
    largest pool is than the one at `start`, a fraction; 0 without a reversal.
    """

    rate: float
    start: float | None
    low: float
    high: float
    probability: float
    worse: float


def reversals(
    models: Mapping[Any, PhaseModel],
    trials: pd.DataFrame | None = None,
    harmless: float | None = None,
) -> list[Reversal]:
    """The reversal of each rate's curve, in the order of the rates.

    models: by rate. trials: the trials that were fitted, to be asked themselves where they were
    repeated. harmless: the response that does no harm yet, or a better one; None where no objective
    says.
    """
    ends = []
    for level, model in models.items():
        rows = None if trials is None else trials[trials[RATE] == level]
        measured = None if rows is None else _measured(float(level), model, rows, harmless)
        ends.append(measured or _reversal(float(level), model, harmless))
    return ends


def tolerated_response(response: str, objectives: Sequence[Objective]) -> float | None:
    """The response at which there is no harm yet by its objective; None without one."""
    bounds = (
        objective
        for objective in objectives
        if objective.column == response and objective.bound > 0
    )
    return next(
        (o.bound * (FAR_INSIDE if o.sense == "at_most" else 1 / FAR_INSIDE) for o in bounds), None
    )


def _measured(
    rate: float, model: PhaseModel, trials: pd.DataFrame, harmless: float | None
) -> Reversal | None:
    """What repeated trials say; None where too few were repeated."""
    sign = 1.0 if model.goal == "min" else -1.0
    logs = sign * np.log(trials[model.response].to_numpy(float))
    groups = pd.Series(logs).groupby(trials[model.knob].to_numpy(float), sort=True)
    count, mean = groups.count().to_numpy(float), groups.mean().to_numpy(float)
    freedom = int(count.sum()) - len(count)
    if freedom < LEAST_FREEDOM or len(count) < 2:
        return None
    own = groups.var(ddof=1).fillna(0.0).to_numpy(float)
    common = float(((count - 1) * own).sum()) / freedom
    rng = np.random.default_rng(SEED)
    tail = np.sqrt(freedom / rng.chisquare(freedom, (DRAWS, 1)))
    drawn = mean + np.sqrt(common / count) * tail * rng.standard_normal((DRAWS, len(count)))
    good = drawn <= drawn.min(axis=1, keepdims=True) + np.log1p(TOLERANCE)
    if harmless is not None:
        good |= drawn <= sign * np.log(harmless)
    last = len(count) - 1 - np.argmax(good[:, ::-1], axis=1)
    turns = last < len(count) - 1
    probability = float(turns.mean())
    if probability < LIKELY:
        return Reversal(rate, None, float("nan"), float("nan"), probability, 0.0)
    pools = groups.count().index.to_numpy(float)
    ends = (1 - CERTAINTY) / 2, 0.5, (1 + CERTAINTY) / 2
    low, start, high = pools[np.quantile(last[turns], ends, method="inverted_cdf").astype(int)]
    worse = float(np.expm1(mean[-1] - mean[list(pools).index(start)]))
    return Reversal(rate, float(start), float(low), float(high), probability, worse)


def _reversal(rate: float, model: PhaseModel, harmless: float | None) -> Reversal:
    """What the shape of the curve says, which ends in harm where its last level is no harmless
    one."""
    sign = 1.0 if model.goal == "min" else -1.0
    last, fitted = model.phases.iloc[-1], model.levels.set_index("level")["fitted"]
    probability = float(model.steps.iloc[-1]["p_reversal"])
    is_harm = harmless is None or sign * fitted.iloc[-1] > sign * harmless
    if last["label"] != "reversal" or probability < LIKELY or not is_harm:
        return Reversal(rate, None, float("nan"), float("nan"), probability, 0.0)
    start, low, high = (float(last[name]) for name in ("start", "start_low", "start_high"))
    worse = float((fitted.iloc[-1] / fitted[start]) ** sign) - 1
    return Reversal(rate, start, low, high, probability, worse)
