"""Is this trial to be trusted? One verdict, from what the rest of the machine did meanwhile.

A mean of several trials hides a disturbed one; steal alone does not show a neighbour on the same
machine. So each trial is judged by itself, and an untrusted one is repeated, kept, shown and left
out of the fit. Neither its response nor its length has a say in that: neighbours of a short trial
are counted over the time before it too.

Whether neighbours do harm in this run is learned while it goes on, from attempts of the same level
beside more and fewer of them: an attempt is judged by those before it.
"""

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from deadzone.measurement import Interference, Measurement, difference
from deadzone.study.levels import NONE, Level
from deadzone.study.spec import TrustSpec


def doubts(
    measurement: Measurement,
    cpu_limit: Level,
    limits: TrustSpec,
    waits_on_io: bool = False,
    harmless: bool = False,
) -> tuple[str, ...]:
    """Reasons not to trust a trial, each with its figure and threshold; none means it is trusted.

    cpu_limit: the limit that was in force, or `none`. waits_on_io: whether the trial itself waits
    for a disk, so that stalls on I/O are what it measures. harmless: whether neighbours such as its
    own make no difference in this run.
    """
    seen, most = measurement.interference, limits.max_pressure
    # stalls of the trial itself are what it measures
    io_pressure = None if waits_on_io else difference(seen.own_io_pressure, seen.io_pressure)
    memory_pressure = difference(seen.own_memory_pressure, seen.memory_pressure)
    reasons = [
        None if harmless else foreign_cpu(seen, limits.max_foreign_cpu),
        _above(
            seen.steal, limits.max_steal, "the hypervisor withheld {:.3f} cores (threshold {:g})"
        ),
        _above(
            memory_pressure, most, "tasks stalled on memory {:.1%} of the time (threshold {:.0%})"
        ),
        _above(io_pressure, most, "tasks stalled on I/O {:.1%} of the time (threshold {:.0%})"),
        _above(
            seen.clock_drift,
            limits.max_clock_drift,
            "the clocks disagree by {:.1%} (threshold {:.1%})",
        ),
    ]
    if cpu_limit == NONE and measurement.nr_throttled:
        reasons.append(f"throttled in {measurement.nr_throttled} periods although it had no limit")
    return (*measurement.changed, *(reason for reason in reasons if reason))


def foreign_cpu(seen: Interference, threshold: float) -> str | None:
    """Whether others used too much, with who they were, largest first. Judged only beyond what the
    kernel's tick can resolve, and by what meets the trial."""
    threshold /= max(seen.exposure, 1e-9)
    if seen.foreign_cpu <= threshold + seen.foreign_cpu_resolution:
        return None
    named = ", ".join(f"{name} {cores:.2f}" for name, cores in seen.processes)
    sentence = f"other processes used {seen.foreign_cpu:.2f} cores (threshold {threshold:.2f})"
    return f"{sentence}: {named}" if named else sentence


def _above(value: float | None, threshold: float, sentence: str) -> str | None:
    return sentence.format(value, threshold) if value is not None and value > threshold else None


HARMLESS = 0.05
"""Neighbours that surely change the response by less than this make no difference that matters
[ln]."""

SURE = 2.5
"""Standard errors on either side of what neighbours do: 98 % of Student's t with FEWEST degrees of
freedom, one side."""

FEWEST = 10
"""With fewer attempts beyond one a level the scatter itself is not known."""


STEADY, STEADY_CORES, LATEST = 0.25, 0.1, 6
"""What others use hardly varies where so many latest attempts lie within this share of the most, or
this many cores, of each other: two steps of the kernel's tick over half a second."""


class NeighbourEffect:
    """Of the neighbours of one sweep. response: whose attempts are set side by side."""

    def __init__(self, response: str) -> None:
        self._response = response
        self._means: dict[str, tuple[int, np.ndarray]] = {}
        self._within, self._freedom = np.zeros((2, 2)), -1
        self._latest = deque[float](maxlen=LATEST)

    def add(self, record: Mapping[str, Any]) -> None:
        """Learn from a line of the journal: sums of squares and products within levels, updated
        (Welford 1962, Technometrics 4, 419-420), so that the last trial of many costs what the
        first did."""
        value = record["responses"].get(self._response, record.get(self._response)) or 0.0
        foreign = record.get("foreign_cpu")
        self._latest.append(foreign or 0.0)
        if record["status"] == "ok" and not record["warmup"] and value > 0 and foreign is not None:
            level = str(record["levels"])
            seen, mean = self._means.get(level, (0, np.zeros(2)))
            apart = np.array((foreign, math.log(value))) - mean
            self._means[level] = seen + 1, mean + apart / (seen + 1)
            self._within += np.outer(apart, apart) * seen / (seen + 1)
            self._freedom += seen > 0

    @property
    def is_steady(self) -> bool:
        """Whether others use about the same at all times: a repeat is then disturbed like the
        attempt before, and tells nothing of the harm that they do."""
        most = max(self._latest, default=0.0)
        apart = most - min(self._latest, default=0.0)
        return len(self._latest) == LATEST and apart <= max(STEADY * most, STEADY_CORES)

    def is_none(self, foreign_cpu: float) -> bool:
        """Whether neighbours that use so many cores make no difference: the slope of ln(response)
        over what they used, within levels (analysis of covariance: Fisher 1932, Statistical Methods
        for Research Workers, section 49.1)."""
        (used, both), (_, response) = self._within.tolist()
        if self._freedom < FEWEST or used <= 0:
            return False
        slope = both / used
        error = math.sqrt(max(response - slope * both, 0.0) / self._freedom / used)
        return (abs(slope) + SURE * error) * foreign_cpu <= HARMLESS
