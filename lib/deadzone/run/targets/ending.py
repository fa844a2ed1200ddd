"""How a program ended, and what a trial of it was, wherever it ran."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deadzone.measurement import Measurement, Status
from deadzone.run.targets.limits.base import THROTTLING, Counters


@dataclass(frozen=True)
class Exit:
    """How a program ended, and after how long, from the kernel's accounting of it and all its
    descendants.

    teardown_cpu_s: what it used after the end of what was measured.
    """

    wall_s: float
    exit_code: int
    user_s: float = 0.0
    sys_s: float = 0.0
    max_rss_bytes: int | None = None
    timed_out: bool = False
    exec_error: str | None = None
    counted: Mapping[str, int] = field(default_factory=dict)
    teardown_cpu_s: float = 0.0


def measurement(ended: Exit, used: Counters, timeout_s: float, **further: Any) -> Measurement:
    """A trial of a program that ended. used: what its group counted meanwhile. further: other
    fields of it."""
    user_s, sys_s = used.cpu_times(ended.user_s, ended.sys_s)
    status, error = _judged(ended, used.oom_kills, timeout_s)
    return Measurement(
        wall_s=ended.wall_s,
        user_s=user_s,
        sys_s=sys_s,
        max_rss_bytes=ended.max_rss_bytes,
        exit_code=ended.exit_code,
        status=status,
        error=error,
        **{name: getattr(used, name) for name in THROTTLING},
        **further,
    )


def _judged(ended: Exit, oom_kills: int | None, timeout_s: float) -> tuple[Status, str | None]:
    """The status of a trial as far as its ending tells, and what went wrong."""
    if ended.timed_out:
        return "timeout", f"killed after {timeout_s:g} s"
    if ended.exec_error:
        return "failed", f"the program did not start: {ended.exec_error}"
    if oom_kills:
        return "oom_killed", "a process was killed for want of memory"
    if ended.exit_code < 0:
        number = -ended.exit_code
        is_named = number in set(signal.Signals)
        name = signal.Signals(number).name if is_named else f"signal {number}"
        return "failed", f"killed by {name}"
    if left := ended.counted.get("left_running"):
        return "ok", f"{left} processes were left running and were killed"
    return "ok", None
