"""Cold starts: the warm-up of each trial, and what it would do to the figures if it were left
in."""

import numpy as np
import pandas as pd

from deadzone.steady_state.warmup import FEWEST_VALUES, detect_warmup

LEAST_COUNT = 5
"""A second with fewer requests than this says too little to be looked at alone; seconds are joined
until they do."""

FOUND = ("length_s", "low_s", "high_s", "probability", "mean_bias", "matters", "is_present")


def cold_starts(series: pd.DataFrame) -> pd.DataFrame:
    """Warm-up of every trial, one row each, by its number.

    series: latencies over time, one row a slice of a trial: trial, t_s (below 0 before the measured
    window), duration_s, count, mean_ms. Trials with too few slices are left out. Columns: those of
    a `Warmup` in `FOUND`; is_steady; discard_s (how long to warm up); begins_s (when the steady
    state begins on the clock of the trial [s], 0 being the start of the measured window); first_ms,
    steady_ms (mean latency of the first second and of the steady state).
    """
    rows = {}
    for trial, slices in series.groupby("trial", sort=True):
        slices = _joined(slices.sort_values("t_s"))
        if len(slices) < FEWEST_VALUES:
            continue
        t, mean, count = (slices[name].to_numpy(float) for name in ("t_s", "mean_ms", "count"))
        warmup = detect_warmup(t, mean, count)
        kept = warmup.in_steady_state(t)
        rows[int(str(trial))] = {
            **{name: getattr(warmup, name) for name in (*FOUND, "is_steady", "discard_s")},
            "begins_s": max(float(t[0] + warmup.discard_s), 0.0) if warmup.is_present else 0.0,
            "first_ms": float(mean[0]),
            "steady_ms": np.average(mean[kept], weights=count[kept]) if kept.any() else np.nan,
        }
    columns = [*FOUND, "is_steady", "discard_s", "begins_s", "first_ms", "steady_ms"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=None if rows else columns)
    return table.rename_axis("trial")


def _joined(rows: pd.DataFrame) -> pd.DataFrame:
    """Slices joined with their successors until each holds `LEAST_COUNT` requests."""
    group, held, groups = 0, 0.0, []
    for count in rows["count"].to_numpy(float):
        if held >= LEAST_COUNT:
            group, held = group + 1, 0.0
        held += count
        groups.append(group)
    weighted = rows.assign(total=rows["mean_ms"] * rows["count"], group=groups).groupby("group")
    joined = weighted.agg(t_s=("t_s", "first"), total=("total", "sum"), count=("count", "sum"))
    return joined.assign(mean_ms=joined["total"] / joined["count"])
