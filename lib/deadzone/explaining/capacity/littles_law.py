"""Little's law as a cross-check: how many requests are in the service at once, and how full that makes the pool.

L = lambda W holds for any stable system (Little 1961, A proof for the queuing formula L = lambda W, Operations Research
9): the rate of answers times the mean time of one is the number in flight. More in flight than the pool has threads
means that requests wait in front of it; a rate that stays below what was offered means that the queue grows without
end, and then the mean depends on how long was measured.
"""

import numpy as np
import pandas as pd

FULL = 0.95
"""A pool with this share of its threads taken on average is full."""

UNSTABLE = 0.98
"""Where less than this share of the offered rate is answered, the queue grows and nothing is steady."""

COLUMNS = (
    "rate",
    "pool",
    "achieved_rate",
    "mean_ms",
    "service_ms",
    "in_flight",
    "utilisation",
    "waiting",
    "state",
)


def littles_law(
    trials: pd.DataFrame,
    pool: str,
    rate: str,
    rate_column: str = "achieved_rate",
    mean: str = "latency_mean_ms",
) -> pd.DataFrame:
    """In flight and utilisation of every cell, one row a cell.

    trials: with the factors pool and rate, the rate that was answered [1/s] and the mean latency [ms]; `offered_rate`
    is read where present, else `rate` counts as offered. Returns the columns `COLUMNS`: in_flight is L; service_ms is
    the mean time without waiting, taken from the fastest cell; utilisation is rate times service time over the
    threads; waiting is the number in flight beyond those that all threads can hold, 0 at least; state is "idle",
    "busy", "full" or "unstable". Empty where a column is missing.
    """
    offered = "offered_rate" if "offered_rate" in trials else rate
    if not {pool, rate, rate_column, mean} <= set(trials):
        return pd.DataFrame(columns=list(COLUMNS))
    rows = []
    grouped = trials.dropna(subset=[rate_column, mean]).groupby([rate, pool], sort=True)
    for (offered_rate, size), cell in grouped:
        achieved, took = float(cell[rate_column].median()), float(cell[mean].median())
        rows.append(
            (float(str(offered_rate)), float(str(size)), achieved, took, float(cell[offered].median()))
        )
    if not rows:
        return pd.DataFrame(columns=list(COLUMNS))
    table = np.array(rows)
    service_ms = float(table[:, 3].min())
    in_flight = table[:, 2] * table[:, 3] / 1e3
    utilisation = table[:, 2] * service_ms / 1e3 / table[:, 1]
    state = [
        _state(flying / threads, answered / asked if asked > 0 else 1.0)
        for flying, (_, threads, answered, _, asked) in zip(in_flight, table, strict=True)
    ]
    return pd.DataFrame(
        {
            "rate": table[:, 0],
            "pool": table[:, 1],
            "achieved_rate": table[:, 2],
            "mean_ms": table[:, 3],
            "service_ms": service_ms,
            "in_flight": in_flight,
            "utilisation": utilisation,
            "waiting": np.maximum(in_flight - table[:, 1], 0.0),
            "state": state,
        }
    )


def _state(share: float, answered: float) -> str:
    if answered < UNSTABLE:
        return "unstable"
    return "full" if share >= FULL else "busy" if share >= 0.5 else "idle"
