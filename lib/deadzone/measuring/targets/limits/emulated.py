"""CPU limits without any right: the program is stopped and continued in turns, as the pacer does it.

It counts what the kernel's quota counts, the time for which the program was stopped in the place of throttling.
Reports say so in their first lines, and how well the limits were held.
"""

import json
import select
import subprocess
import sys
from typing import Any

from deadzone.errors import TargetError
from deadzone.measuring.targets.limits import pacer
from deadzone.measuring.targets.limits.base import Counters, LimitMechanism, quota_us

ANSWER_TIMEOUT_S = 30.0
"""The pacer answers in a millisecond; on a starved machine it may take seconds [s]."""


class Emulated(LimitMechanism):
    """A pacer beside the launcher, which stops and continues whatever descends from it."""

    name = "emulated"

    def __init__(self) -> None:
        self._pacer: subprocess.Popen[bytes] | None = None

    def adopt(self, pid: int) -> None:
        """Start the pacer. Raises TargetError where this system does not let it see and signal processes."""
        self._pacer = subprocess.Popen(
            (sys.executable, "-I", "-S", pacer.__file__, str(pid)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._ask("read")

    def set_cpu_limit(self, cores: float | None) -> None:
        """Hand the limit to the pacer, which begins a fresh period."""
        quota_us(cores)  # refuses what the kernel would refuse
        self._ask(f"limit {'none' if cores is None else cores}")

    def read(self) -> Counters:
        """What the pacer counted. CPU time comes from the program's own accounting."""
        said = self._ask("read")
        return Counters(
            nr_periods=said["nr_periods"],
            nr_throttled=said["nr_throttled"],
            throttled_s=said["throttled_s"],
            overhead_s=said["overhead_s"],
        )

    def close(self) -> None:
        """End the pacer, and with it whatever it still holds."""
        if self._pacer:
            self._pacer.communicate()
            self._pacer = None

    def _ask(self, request: str) -> dict[str, Any]:
        assert self._pacer is not None and self._pacer.stdin is not None and self._pacer.stdout is not None
        try:
            self._pacer.stdin.write(request.encode() + b"\n")
            self._pacer.stdin.flush()
        except BrokenPipeError as error:
            raise TargetError(self._last_words()) from error
        if not select.select([self._pacer.stdout], [], [], ANSWER_TIMEOUT_S)[0]:
            raise TargetError(f"The pacer of the CPU limit did not answer within {ANSWER_TIMEOUT_S:g} s.")
        line = self._pacer.stdout.readline()
        if not line:
            raise TargetError(self._last_words())
        said: dict[str, Any] = json.loads(line)
        return said

    def _last_words(self) -> str:
        assert self._pacer is not None
        _, said = self._pacer.communicate()
        why = said.decode(errors="replace").strip().splitlines()
        return (
            f"The pacer, which holds the program to its CPU limit, has ended: {why[-1] if why else 'killed'}"
        )
