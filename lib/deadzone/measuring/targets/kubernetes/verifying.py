"""Whether a limit is in force, read in the container's own control group: nothing else is believed."""

from __future__ import annotations

import time

from deadzone.errors import TargetError
from deadzone.measuring.targets.kubernetes.container import Container, Probe
from deadzone.measuring.targets.kubernetes.quantities import as_cores
from deadzone.study.levels import Level, format_level

IN_FORCE_TIMEOUT_S = 10.0
"""The kubelet writes the group a moment after it says so, if at all [s]."""

ROUNDING = 1e-6


def verified(container: Container, level: Level) -> Probe:
    """Look into the container's control group until it has the limit.

    Raises TargetError if it does not get it, or shows no control group.
    """
    cores = as_cores(level)
    deadline = time.monotonic() + IN_FORCE_TIMEOUT_S
    while True:
        probe = container.probe()
        if probe.cgroup == 0:
            raise TargetError(
                f"{container.spot} shows no control group, so no limit can be verified and nothing be measured."
            )
        have = probe.limit_cores
        if have == cores or (have is not None and cores is not None and abs(have - cores) < ROUNDING):
            return probe
        if time.monotonic() > deadline:
            raise TargetError(
                f"The control group of {container.spot} says {probe.cpu_max!r} where a limit of {format_level(level)} "
                f"cores was asked for, {IN_FORCE_TIMEOUT_S:g} s after the cluster called it done."
            )
        time.sleep(0.05)
