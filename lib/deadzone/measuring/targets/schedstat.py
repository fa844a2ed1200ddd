"""How long a thread lived, ran and was ready but waited for a core: of one that lives, as the kernel counts it.

Source: Linux kernel documentation, scheduler/sched-stats.rst, /proc/<pid>/schedstat: time on the CPU and time waiting to
run [ns]; proc(5) for its state and when it began. Every user may read them of processes that are their own; they end with
the thread. Time in which a limit holds a thread back counts as waiting.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace

from deadzone.measuring.targets.kernel_files import TICK_S, told

NANOSECONDS = 1e9


@dataclass(frozen=True)
class ThreadTime:
    """A thread and its time so far [s]. disk_s, memory_s: waiting for them; 0 where the kernel does not count it."""

    thread: int
    process: int
    parent: int
    lived_s: float = 0.0
    running_s: float = 0.0
    ready_s: float = 0.0
    disk_s: float = 0.0
    memory_s: float = 0.0

    def since(self, before: ThreadTime | None) -> ThreadTime:
        """What came to it since it was looked at; the whole where it was not, or that was another of the same number."""
        if before is None or self.lived_s < before.lived_s:
            return self
        grown = {
            name: getattr(self, name) - getattr(before, name) for name in ("lived_s", "running_s", "ready_s")
        }
        return replace(self, **grown)


def threads_of(pid: int) -> tuple[int, ...]:
    """The threads of a process now; none where it is gone."""
    try:
        return tuple(map(int, os.listdir(f"/proc/{pid}/task")))  # noqa: PTH208 - looked at many times in a trial
    except OSError:
        return ()


def living_thread(pid: int, thread: int) -> tuple[bytes, ThreadTime]:
    """The state of a thread of a process, as proc(5) names it, and its time until now.

    Raises ValueError where it is gone, or the kernel does not count its time.
    """
    place = f"/proc/{pid}/task/{thread}"
    running, ready, _ = map(int, told(f"{place}/schedstat").split())
    state, parent, *fields = told(f"{place}/stat").rpartition(b")")[2].split()
    lived_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[17]) * TICK_S
    found = ThreadTime(thread, pid, int(parent), lived_s, running / NANOSECONDS, ready / NANOSECONDS)
    return state, found
