"""The mechanisms that make no control group: only the CPU is theirs to limit, by affinity, by
emulation, or not at all.

Emulated CPU limits need no right: the program is stopped and continued in turns, as the pacer does
it. It counts what the kernel's quota counts, the time for which the program was stopped in the
place of throttling. Reports say so in their first lines, and how well the limits were held.
"""

import os
import sys

from deadzone.errors import TargetError
from deadzone.run.targets.launching import Answering
from deadzone.run.targets.limits import pacer
from deadzone.run.targets.limits.base import Counters, LimitMechanism, quota_us


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
                f"A CPU limit of {cores:g} cores needs a quota, and no mechanism for quotas works "
                "here; affinity knows whole cores only. Run as root, or in a systemd user "
                "session, or use whole cores in the study."
            )
        count = len(self._cores) if cores is None else min(int(cores), len(self._cores))
        os.sched_setaffinity(self._pid, self._cores[-count:])


class Unlimited(LimitMechanism):
    """No limit and no group: for studies that limit nothing, on machines that permit nothing."""

    name = "unlimited"

    def set_cpu_limit(self, cores: float | None) -> None:
        """Only `none` can be had."""
        if cores is not None:
            raise TargetError(
                f"The mechanism is unlimited, so a CPU limit of {cores:g} cores cannot be set."
            )


class Emulated(LimitMechanism):
    """A pacer beside the launcher, which stops and continues whatever descends from it."""

    name = "emulated"

    def __init__(self) -> None:
        self._pacer: Answering | None = None

    def adopt(self, pid: int) -> None:
        """Start the pacer. Raises TargetError where this system does not let it see and signal
        processes."""
        self._pacer = Answering(
            (sys.executable, "-I", "-S", pacer.__file__, str(pid)),
            silent="The pacer of the CPU limit",
            ended="The pacer, which holds the program to its CPU limit, has ended",
            wordless="killed",
        )
        self._ask("read")

    def set_cpu_limit(self, cores: float | None) -> None:
        """Hand the limit to the pacer, which begins a fresh period."""
        quota_us(cores)  # refuses what the kernel would refuse
        self._ask(f"limit {'none' if cores is None else cores}")

    def read(self) -> Counters:
        """What the pacer counted. CPU time comes from the program's own accounting."""
        return self._ask("read")

    def _ask(self, request: str) -> Counters:
        assert self._pacer is not None
        counted = self._pacer.ask(request)
        del counted["limit"]
        return Counters(**counted)

    def close(self) -> None:
        """End the pacer, and with it whatever it still holds."""
        if self._pacer:
            self._pacer.close()
            self._pacer = None
