"""CPU limits by emulation, without a control group.

They need no right: the program is stopped and continued in turns, as the pacer does
it. It counts what the kernel's quota counts, the time for which the program was stopped in the
place of throttling. Reports say so in their first lines, and how well the limits were held.
"""

import sys

from deadzone.run.targets.launching import Answering
from deadzone.run.targets.limits import pacer
from deadzone.run.targets.limits.base import Counters, LimitMechanism, quota_us


class Emulated(LimitMechanism):
    """A pacer beside the launcher, which stops and continues whatever descends from it."""

    name = "emulated"

    _pacer: Answering | None = None

    def adopt(self, pid: int) -> None:
        """Start the pacer. Raises TargetError where this system does not let it see and signal
        processes."""
        argv = (sys.executable, "-I", "-S", pacer.__file__, str(pid))
        self._pacer = Answering(argv, "The pacer, which holds the program to its CPU limit,")
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
