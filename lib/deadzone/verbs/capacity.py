"""`capacity`: which pools bear which load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from deadzone.errors import PhaseError, refused
from deadzone.explaining.capacity.cells import Objective, Sense, cells_of
from deadzone.explaining.capacity.feasibility import Feasibility, feasibility
from deadzone.explaining.marks import marked
from deadzone.study.objective_specs import told
from deadzone.verbs.run import Run


def capacity(
    frame: pd.DataFrame | Run,
    pool: str,
    rate: str,
    objectives: Mapping[str, Any],
) -> Feasibility:
    """Which pools meet all objectives at which rates, and how sure that is.

    frame: trials of a load test, one row each, or its run; those for warm-up and those not trusted are left out, one that
    the server failed misses every objective. pool, rate: columns of the two factors, numbers. objectives: by column, the
    largest value allowed, in the column's unit or with its own ("100 ms"), or {"at_least": ...} for the smallest.

    `.confidence` has one row a rate and one column a pool; `.smallest(rate)` and `.capacity(pool)` answer both ways.

    Raises PhaseError if a column is missing, or a level is not a number.

    >>> import pandas as pd
    >>> trials = pd.DataFrame({"pool_size": [8, 16] * 4, "rate": [100] * 8})
    >>> trials["latency_p99_ms"] = [140.0, 60.0, 150.0, 61.0, 145.0, 59.0, 148.0, 60.5]
    >>> capacity(trials, "pool_size", "rate", {"latency_p99_ms": "100 ms"}).smallest(100).pool
    16.0
    """
    trials = frame.trials if isinstance(frame, Run) else frame
    kept = ~marked(trials, "warmup", missing=False) & marked(trials, "trusted", missing=True)
    bounds = [_objective(column, bound) for column, bound in objectives.items()]
    if not bounds:
        raise PhaseError("A capacity needs objectives, such as {'latency_p99_ms': 100}.")
    return feasibility(cells_of(trials[kept], pool, rate, bounds), bounds)


def _objective(column: str, bound: Any) -> Objective:
    """The objective that a bound makes. Raises PhaseError for one that is none."""
    sense, value = next(iter(bound.items())) if isinstance(bound, Mapping) and bound else ("at_most", bound)
    with refused(f"The objective on {column}: "):
        value = told(column, value)
    if sense not in ("at_most", "at_least") or not isinstance(value, int | float):
        raise PhaseError(
            f"The objective on {column} is {bound!r}; write a number, or {{'at_least': number}}."
        )
    senses: dict[str, Sense] = {"at_most": "at_most", "at_least": "at_least"}
    return Objective(column, senses[sense], float(value))
