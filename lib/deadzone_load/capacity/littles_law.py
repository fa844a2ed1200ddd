"""Little's law as a cross-check: how many requests are in the service at once, and how full that
makes the pool.

L = lambda W holds for any stable system (Little 1961, A proof for the queuing formula L = lambda W,
Operations Research 9): the rate of answers times the mean time of one is the number in flight. More
in flight than the pool has threads means that requests wait in front of it; a rate that stays below
what was offered means that the queue grows without end, and then the mean depends on how long was
measured.
"""

import pandas as pd

from deadzone.analysis.mechanisms.parts import ANSWERED

FULL = 0.95
"""A pool with this share of its threads taken on average is full."""

MEAN = "latency_mean_ms"
"""Column of the mean latency of answers [ms]."""

UNSTABLE = 0.98
"""Where less than this share of the offered rate is answered, the queue grows and nothing is
steady."""

COLUMNS = (
    "rate", "pool", "achieved_rate", "mean_ms", "service_ms", "in_flight", "utilisation", "waiting",
    "state",
)  # fmt: skip


def littles_law(trials: pd.DataFrame, pool: str, rate: str) -> pd.DataFrame:
    """In flight and utilisation of every cell, one row a cell.

    trials: with the factors pool and rate, `achieved_rate` [1/s] and `latency_mean_ms`;
    `offered_rate` is read where present, else `rate` counts as offered. Returns the columns
    `COLUMNS`: in_flight is L; service_ms is the mean time without waiting, taken from the fastest
    cell; utilisation is rate times service time over the threads; waiting is the number in flight
    beyond those that all threads can hold, 0 at least; state is "idle", "busy", "full" or
    "unstable". Empty where a column is missing.
    """
    offered = "offered_rate" if "offered_rate" in trials else rate
    if not {pool, rate, ANSWERED, MEAN} <= set(trials):
        return pd.DataFrame(columns=list(COLUMNS))
    columns = {
        "rate": rate,
        "pool": pool,
        "achieved_rate": ANSWERED,
        "mean_ms": MEAN,
        "offered": offered,
    }
    measured = pd.DataFrame({name: trials[column] for name, column in columns.items()})
    known = measured.dropna(subset=["achieved_rate", "mean_ms"])
    cells = known.groupby(["rate", "pool"], sort=True, as_index=False).median().astype(float)
    cells["service_ms"] = cells["mean_ms"].min()
    cells["in_flight"] = cells["achieved_rate"] * cells["mean_ms"] / 1e3
    cells["utilisation"] = cells["achieved_rate"] * cells["service_ms"] / 1e3 / cells["pool"]
    cells["waiting"] = (cells["in_flight"] - cells["pool"]).clip(lower=0.0)
    answered = (cells["achieved_rate"] / cells["offered"]).where(cells["offered"] > 0, 1.0)
    cells["state"] = [*map(_state, cells["in_flight"] / cells["pool"], answered)]
    return cells[[*COLUMNS]]


def _state(share: float, answered: float) -> str:
    if answered < UNSTABLE:
        return "unstable"
    return "full" if share >= FULL else "busy" if share >= 0.5 else "idle"
