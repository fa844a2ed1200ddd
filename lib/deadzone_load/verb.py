"""`capacity`: which pools bear which load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from deadzone.analysis.objectives.cells import Objective, Sense, objectives_of
from deadzone.analysis.phases.roles import check_column
from deadzone.errors import PhaseError
from deadzone.plugins import refused
from deadzone.study.claims_of_study import RATE
from deadzone.study.objective_specs import bound_value
from deadzone.verbs.run import Run
from deadzone_load.capacity.load_test import LoadTest, load_test


def capacity(
    frame: pd.DataFrame | Run,
    pool: str = "",
    rate: str = "",
    objectives: Mapping[str, Any] | None = None,
    *,
    response: str = "",
    goal: str = "min",
    wanted: float | None = None,
) -> LoadTest:
    """Which pools meet all objectives at which rates, how sure that is, and where more hurts.

    frame: a run of a load test, whose study says the rest and whose warm-up is cut out; or trials,
    one row each: those for warm-up and those not trusted are left out, one that the server failed
    misses every objective. pool, rate: columns of the two factors, numbers. objectives: by column,
    the largest value allowed, in the column's unit or with its own ("100 ms"), or {"at_least": ...}
    for the smallest. response: column whose curve is fitted at each rate, by default that of the
    first objective. goal: min or max. wanted: the rate to be borne [1/s].

    `.confidence` has one row a rate and one column a pool; `.smallest(rate)` and `.by_rate` name
    pools, `.by_pool` rates.

    Raises PhaseError if a column is missing, or a level is not a number; TableError if a run has no
    rate.

    >>> import pandas as pd
    >>> trials = pd.DataFrame({"pool_size": [8, 16] * 4, "rate": [100] * 8})
    >>> trials["latency_p99_ms"] = [140.0, 60.0, 150.0, 61.0, 145.0, 59.0, 148.0, 60.5]
    >>> capacity(trials, "pool_size", "rate", {"latency_p99_ms": "100 ms"}).smallest(100).pool
    16.0
    """
    if isinstance(frame, Run):
        return _of_run(frame)
    bounds = [_objective(column, bound) for column, bound in (objectives or {}).items()]
    if not (pool and rate and (bounds or response)):
        raise PhaseError(
            "Name the columns of pool and rate, and objectives such as {'latency_p99_ms': 100} or "
            "a response."
        )
    for column in (pool, rate):
        check_column(frame, column)
    trials = frame.rename(columns={rate: RATE})
    return load_test(
        trials, pool, response or bounds[0].column, goal, objectives=bounds, wanted=wanted
    )


def _of_run(run: Run) -> LoadTest:
    study, source = run.study, run.source
    trials, fixed = source.trials, getattr(study.workload, RATE, None)
    if RATE not in trials and fixed is not None:
        trials = trials.assign(**{RATE: float(fixed)})
    factors = study.factor_names()
    bounds, load = objectives_of(study.objectives, (*factors, RATE))
    return load_test(
        trials,
        source.knob,
        source.response,
        source.goal,
        objectives=bounds,
        wanted=load.get(RATE),
        histograms=run.histograms,
        others=factors,
    )


def _objective(column: str, bound: Any) -> Objective:
    """The objective that a bound makes. Raises PhaseError for one that is none."""
    sense, value = (
        next(iter(bound.items())) if isinstance(bound, Mapping) and bound else ("at_most", bound)
    )
    with refused(f"The objective on {column}: "):
        value = bound_value(column, value)
    if sense not in ("at_most", "at_least") or not isinstance(value, int | float):
        raise PhaseError(
            f"The objective on {column} is {bound!r}; write a number, or {{'at_least': number}}."
        )
    senses: dict[str, Sense] = {"at_most": "at_most", "at_least": "at_least"}
    return Objective(column, senses[sense], float(value))
