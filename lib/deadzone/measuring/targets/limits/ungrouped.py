"""The mechanisms that make no control group: only the CPU is theirs to limit, by affinity, or not at all."""

import os

from deadzone.errors import TargetError
from deadzone.measuring.targets.limits.base import LimitMechanism


class Affinity(LimitMechanism):
    """The launcher pinned to the last so many of the cores this process may use."""

    name = "affinity"

    def __init__(self) -> None:
        self._pid, self._cores = 0, list[int]()

    def adopt(self, pid: int) -> None:
        """Remember whom to pin, and which cores there are."""
        self._pid, self._cores = pid, sorted(os.sched_getaffinity(0))

    def set_cpu_limit(self, cores: float | None) -> None:
        """Pin the launcher; more cores than there are is the same as no limit."""
        if cores is not None and cores != int(cores):
            raise TargetError(
                f"A CPU limit of {cores:g} cores needs a quota, and no mechanism for quotas works here; affinity knows "
                "whole cores only. Run as root, or in a systemd user session, or use whole cores in the study."
            )
        count = len(self._cores) if cores is None else min(int(cores), len(self._cores))
        os.sched_setaffinity(self._pid, self._cores[-count:])


class Unlimited(LimitMechanism):
    """No limit and no group: for studies that limit nothing, on machines that permit nothing."""

    name = "unlimited"

    def set_cpu_limit(self, cores: float | None) -> None:
        """Only `none` can be had."""
        if cores is not None:
            raise TargetError(f"The mechanism is unlimited, so a CPU limit of {cores:g} cores cannot be set.")
