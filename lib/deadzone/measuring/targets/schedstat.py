"""How long threads ran and how long they were ready but waited for a core, as the kernel counts it for each of them.

Source: Linux kernel documentation, scheduler/sched-stats.rst, /proc/<pid>/schedstat: time on the CPU and time waiting to
run [ns]. Every user may read it of processes that are their own; it ends with its thread. Time in which a limit holds a
thread back counts as waiting.
"""

import os
from dataclasses import dataclass

from deadzone.measuring.targets.kernel_files import told

NANOSECONDS = 1e9


@dataclass(frozen=True)
class Scheduled:
    """What one or more threads got of the cores since they began: running_s, and ready_s without a core [thread-seconds]."""

    running_s: float = 0.0
    ready_s: float = 0.0


def threads_of(pid: int) -> tuple[int, ...]:
    """The threads of a process now; none where it is gone."""
    try:
        return tuple(map(int, os.listdir(f"/proc/{pid}/task")))  # noqa: PTH208 - looked at many times in a trial
    except OSError:
        return ()


def scheduled_thread(pid: int, thread: int) -> Scheduled | None:
    """What one thread of a process got so far; None where it is gone, or the kernel does not count it."""
    try:
        running, ready, _ = told(f"/proc/{pid}/task/{thread}/schedstat").split()
    except ValueError:
        return None
    return Scheduled(int(running) / NANOSECONDS, int(ready) / NANOSECONDS)
