"""Cold starts: the warm-up of each trial, and what it would do to the figures if it were left
in."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.steady_state.warmup import FEWEST_VALUES, Warmup, detect_warmup

LEAST_COUNT = 5
"""A second with fewer requests than this says too little to be looked at alone; seconds are joined
until they do."""


ENOUGH = 0.9
"""A warm-up is advised that is enough for nine trials in ten: the longest of many is a matter of
chance."""


@dataclass(frozen=True, eq=False)
class ColdStart:
    """Warm-up over all trials of a load test.

    warmups: by trial. begins_s: by trial, when the steady state begins on the clock of the trial
    [s], 0 being the start of the measured window. first_ms, steady_ms: mean latency of the first
    second and of the steady state, by trial.
    """

    warmups: Mapping[int, Warmup]
    begins_s: Mapping[int, float]
    first_ms: Mapping[int, float]
    steady_ms: Mapping[int, float]

    @property
    def reaching_in(self) -> list[int]:
        """Trials whose warm-up reaches into the measured window, so that it is cut there."""
        return [trial for trial, begins in self.begins_s.items() if begins > 0]

    @property
    def mattering(self) -> list[int]:
        """Trials whose warm-up would move the mean or the 99th percentile, had it been left in."""
        return [trial for trial, warmup in self.warmups.items() if warmup.matters]

    @property
    def unsteady(self) -> list[int]:
        """Trials that never settled."""
        return [trial for trial, warmup in self.warmups.items() if not warmup.is_steady]

    @property
    def advised_s(self) -> float:
        """How long to warm up: enough for `ENOUGH` of the trials, each by its upper bound [s]; 0
        where none needs it."""
        needed = sorted(warmup.discard_s for warmup in self.warmups.values())
        return needed[min(int(np.ceil(ENOUGH * len(needed))), len(needed)) - 1] if needed else 0.0


def cold_start(series: pd.DataFrame) -> ColdStart:
    """Warm-up of every trial.

    series: latencies over time, one row a slice of a trial: trial, t_s (below 0 before the measured
    window), duration_s, count, mean_ms. Trials with too few slices are left out.
    """
    warmups, begins, first, steady = {}, {}, {}, {}
    for trial, rows in series.groupby("trial", sort=True):
        slices = _joined(rows.sort_values("t_s"))
        if len(slices) < FEWEST_VALUES:
            continue
        number = int(str(trial))
        t, mean, count = (slices[name].to_numpy(float) for name in ("t_s", "mean_ms", "count"))
        warmup = detect_warmup(t, mean, count)
        kept = warmup.in_steady_state(t)
        warmups[number] = warmup
        begins[number] = max(float(t[0] + warmup.discard_s), 0.0) if warmup.is_present else 0.0
        first[number] = float(mean[0])
        steady[number] = (
            float(np.average(mean[kept], weights=count[kept])) if kept.any() else float("nan")
        )
    return ColdStart(warmups, begins, first, steady)


def _joined(rows: pd.DataFrame) -> pd.DataFrame:
    """Slices joined with their successors until each holds `LEAST_COUNT` requests."""
    counts = rows["count"].to_numpy(float)
    group, held, groups = 0, 0.0, []
    for count in counts:
        if held >= LEAST_COUNT:
            group, held = group + 1, 0.0
        held += count
        groups.append(group)
    weighted = rows.assign(total=rows["mean_ms"] * rows["count"], group=groups).groupby("group")
    joined = weighted.agg(t_s=("t_s", "first"), total=("total", "sum"), count=("count", "sum"))
    return joined.assign(mean_ms=joined["total"] / joined["count"])
