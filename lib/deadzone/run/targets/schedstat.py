"""How long a thread that lives was there, ran, and was ready but without a core, as the kernel
counts it; what it waits for now.

Source: Linux kernel documentation, scheduler/sched-stats.rst, /proc/<pid>/schedstat: time on the
CPU and time waiting to run [ns]; proc(5) for its state and when it began. Every user may read them
of processes that are their own; they end with the thread. Time in which a limit holds a thread back
counts as waiting. A thread that waits for the disk is in uninterruptible sleep, which proc(5) shows
as D; so does one that waits for a page of its memory, and one that starts another program and waits
until that has begun, which are told apart (proc_pid_syscall(5)).
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass, replace

from deadzone.run.targets.kernel_files import TICK_S, read_bytes

NANOSECONDS = 1e9

LOOPS = (b"do_epoll", b"ep_poll")
"""Where in the kernel an event loop sleeps."""

NETWORK = (
    *(b"wait_woken", b"inet_", b"sk_", b"tcp_", b"udp_", b"unix_", b"poll_schedule", b"do_poll"),
    *LOOPS,
)
"""Where in the kernel a thread sleeps that waits for another process: in a socket, or
for one of several."""

STARTING = {"x86_64": (b"56", b"58", b"435"), "aarch64": (b"220", b"435")}.get(
    platform.machine(), ()
)
"""Numbers of clone, vfork and clone3 (proc_pid_syscall(5)): whoever sleeps in these waits for a
child, not for a disk."""


NO_CALL = b"-1"
"""What stands there of a thread that sleeps outside of any call: in a fault, for a page of its
memory."""


@dataclass(frozen=True)
class ThreadTime:
    """A thread and its time so far [s]. disk_s, memory_s: waiting for them; 0 where the kernel does
    not count it."""

    thread: int
    process: int
    parent: int
    lived_s: float = 0.0
    running_s: float = 0.0
    ready_s: float = 0.0
    disk_s: float = 0.0
    memory_s: float = 0.0

    def since(self, before: ThreadTime | None) -> ThreadTime:
        """What came to it since it was looked at; the whole where it was not, or that was another
        of the same number."""
        if before is None or self.lived_s < before.lived_s:
            return self
        grown = {
            name: getattr(self, name) - getattr(before, name)
            for name in ("lived_s", "running_s", "ready_s")
        }
        return replace(self, **grown)


def threads_of(pid: int) -> tuple[int, ...]:
    """The threads of a process now; none where it is gone."""
    try:
        return tuple(map(int, os.listdir(f"/proc/{pid}/task")))  # noqa: PTH208 - looked at many times in a trial
    except OSError:
        return ()


def waits_for(pid: int, thread: int) -> str:
    """What a thread of a process waits for now: "disk", "page", a page of its memory that is on a
    disk, "network", "loop", an event loop, or else "asleep"; "" where it does not
    wait, or is gone."""
    place = f"/proc/{pid}/task/{thread}"
    call, state = _seen(place)
    if state != b"S":
        return _on_disk(place, call, state)
    function = read_bytes(f"{place}/wchan")
    if function.startswith(LOOPS):
        return "loop"
    return "network" if function.startswith(NETWORK) else "asleep"


def waits_for_disk(pid: int, thread: int) -> str:
    """Of what `waits_for` tells, "disk" and "page" alone, for which a thread is looked at less."""
    place = f"/proc/{pid}/task/{thread}"
    return _on_disk(place, *_seen(place))


def _seen(place: str) -> tuple[bytes, bytes]:
    """The call that a thread is in, with its arguments, and its state."""
    return read_bytes(f"{place}/syscall"), read_bytes(f"{place}/stat").rpartition(b") ")[2][:1]


def _on_disk(place: str, call: bytes, state: bytes) -> str:
    """What a thread in a state waits for on a disk. call: it was in before its state was read."""
    if state != b"D":
        return ""
    # starting takes a millisecond: it is looked for on both sides of the state
    calls = {_number(call), _number(read_bytes(f"{place}/syscall"))}
    if calls & {*STARTING}:
        return ""
    return "page" if NO_CALL in calls else "disk"  # it may run again by now


def _number(call: bytes) -> bytes:
    """The number of the call that a thread sleeps in; empty where the kernel does not tell."""
    return call.partition(b" ")[0]


def living_thread(pid: int, thread: int) -> ThreadTime:
    """A thread of a process, and its time until now.

    Raises ValueError where it is gone, or the kernel does not count its time.
    """
    place = f"/proc/{pid}/task/{thread}"
    running, ready, _ = map(int, read_bytes(f"{place}/schedstat").split())
    _, parent, *fields = read_bytes(f"{place}/stat").rpartition(b")")[2].split()
    lived_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[17]) * TICK_S
    return ThreadTime(thread, pid, int(parent), lived_s, running / NANOSECONDS, ready / NANOSECONDS)
