"""The pacer: a small process that holds a program to a CPU limit by stopping and continuing it,
which needs no right but to signal processes of the same user.

It does in user space what the kernel's quota does (Turner, Rao and Rao, "CPU bandwidth control for
CFS", Ottawa Linux Symposium 2010): every period brings a quota of CPU time; a program that has used
it up is stopped (SIGSTOP) until the next period (SIGCONT). What it used beyond is taken off the
periods that follow, so that the limit holds on average, however late a look comes. To limit by
signals is cpulimit's idea.

It is run as a script of its own (`python -I -S pacer.py LAUNCHER_PID`) and imports nothing of
Deadzone. It holds whatever descends from the launcher, in any process group or session, for the
launcher is the reaper of its descendants. Requests arrive as lines on standard input; each is
answered with a JSON line on standard output:

    limit 0.5 | limit none | read
    -> {"nr_periods": 12, "nr_throttled": 11, "throttled_s": 0.52, "overhead_s": 0.01}

When standard input closes, or the launcher is gone, it kills what it holds and ends: nothing is
left stopped.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PERIOD_S = 0.1
"""As the kernel's [s]."""

LEAST_LOOK_S = 0.002
"""Looks come no closer to each other: each costs some 0.1 ms that the program could use [s]."""

LONGEST_LOOK_S = 0.01
"""What starts after a rest, or is born while its parent is being stopped, is seen within this time
[s]."""

AT_REST = 0.05
"""Below this share of its limit a program is at rest, and its period begins anew, as the kernel's
timer stops."""

STOP_ROUNDS = 20
"""Descendants that are born faster than they can be stopped so often are left until the next
look."""

CORES = len(os.sched_getaffinity(0))

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class HeldProcess:
    """A process as proc(5) and its CPU clock show it, a zombie included.

    own_s: CPU time of all its threads, to the nanosecond (clock_getcpuclockid(3)). reaped_s: of the
    descendants that were waited for, in whole ticks: what those used is seen up to two ticks late,
    and not lost.
    """

    def __init__(self, pid: int) -> None:
        fields = content(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        self.pid, self.parent, self.stopped_itself = pid, int(fields[1]), fields[0] == b"T"
        self.threads, self.started = int(fields[17]), int(fields[19])
        self.reaped_s = (int(fields[13]) + int(fields[14])) * TICK_S
        try:
            self.own_s = time.clock_gettime((~pid << 3) | 2)
        except OSError:
            self.own_s = (int(fields[11]) + int(fields[12])) * TICK_S

    def send(self, number: int) -> None:
        """Signal it, if it is still the same process."""
        with contextlib.suppress(OSError):
            if HeldProcess(self.pid).started == self.started:
                os.kill(self.pid, number)


def content(path: str) -> bytes:
    """What a file of /proc says."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 65536)
    finally:
        os.close(descriptor)


def processes(pids: Iterable[int]) -> Iterator[HeldProcess]:
    """Those that still are."""
    for pid in pids:
        with contextlib.suppress(OSError):
            yield HeldProcess(pid)


def children(pid: int) -> list[int]:
    """Process ids of the children of a process, whichever thread had them."""
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                pids.extend(map(int, content(f"/proc/{pid}/task/{thread}/children").split()))
    return pids


def descendants(pid: int) -> list[HeldProcess]:
    """All that live, parents before their children."""
    family = [*processes(children(pid))]
    for process in family:  # grows as it is walked
        family.extend(processes(children(process.pid)))
    return family


class LimitPacer:
    """Holds the descendants of a launcher to a limit."""

    def __init__(self, launcher: int) -> None:
        self._launcher = launcher
        self._limit: float | None = None
        self._held: list[HeldProcess] = []
        self._met: list[HeldProcess] = []
        self._stopped: dict[int, HeldProcess] = {}
        self._stopped_since = self._throttled_s = 0.0
        self._nr_periods = self._nr_throttled = 0
        self._used_s = self._budget_s = self._period_end = 0.0
        self.limit_to(None)

    def limit_to(self, cores: float | None) -> None:
        """From now on, with a fresh quota: what was used before is forgotten."""
        self._limit = cores
        self._go_on()
        self._look()
        self._begin_period()

    def counters(self) -> dict[str, float]:
        """What a kernel counts of its quota, and what this process has used itself."""
        since_s = time.monotonic() - self._stopped_since if self._stopped else 0.0
        return {
            "nr_periods": self._nr_periods,
            "nr_throttled": self._nr_throttled,
            "throttled_s": self._throttled_s + since_s,
            "overhead_s": time.process_time(),
        }

    def turn(self) -> float:
        """Look, and stop or continue what must be; returns after how long to look again [s]."""
        self._look()
        if self._limit is None:
            return PERIOD_S
        now = time.monotonic()
        if not self._stopped and self._is_at_rest(now):
            self._begin_period()
        elif now >= self._period_end:
            self._end_periods(1 + int((now - self._period_end) / PERIOD_S))
        if self._limit < CORES and (self._stopped or self._budget_s <= 0):
            self._stop(now)
        return self._next_look_s()

    def end(self) -> None:
        """Kill what is held, and what it has become the parent of since. A look after the launcher
        has ended finds none of them, for they have another parent."""
        for process in (*self._met, *self._stopped.values(), *descendants(self._launcher)):
            process.send(signal.SIGKILL)

    @property
    def _quota_s(self) -> float:
        return PERIOD_S * (CORES if self._limit is None else self._limit)

    def _look(self) -> None:
        """Take what was used since the last look off the budget."""
        self._held = descendants(self._launcher)
        self._met = self._held or self._met
        used_s = sum(held_process.own_s + held_process.reaped_s for held_process in self._held)
        used_s += sum(process.reaped_s for process in processes([self._launcher]))
        self._budget_s -= used_s - self._used_s
        self._used_s = used_s

    def _begin_period(self) -> None:
        self._budget_s = self._quota_s
        self._period_end = time.monotonic() + PERIOD_S

    def _is_at_rest(self, now: float) -> bool:
        elapsed_s = now - self._period_end + PERIOD_S
        return self._quota_s - self._budget_s < AT_REST * self._quota_s / PERIOD_S * elapsed_s

    def _end_periods(self, periods: int) -> None:
        self._nr_periods += periods
        self._period_end += periods * PERIOD_S
        self._nr_throttled += periods if self._stopped else 0
        self._budget_s = min(self._budget_s + periods * self._quota_s, self._quota_s)
        if self._budget_s > 0:
            self._go_on()

    def _stop(self, now: float) -> None:
        """Stop parents before their children, so that none sees a child stop, until no newcomer is
        found."""
        if not self._stopped:
            self._stopped_since = now
        family = self._held
        for _ in range(STOP_ROUNDS):
            newcomers = [
                process
                for process in family
                if process.pid not in self._stopped and not process.stopped_itself
            ]
            if not newcomers:
                return
            for held_process in newcomers:
                held_process.send(signal.SIGSTOP)
                self._stopped[held_process.pid] = held_process
            family = descendants(self._launcher)

    def _go_on(self) -> None:
        """Continue children before their parents."""
        if self._stopped:
            self._throttled_s += time.monotonic() - self._stopped_since
        for process in reversed(self._stopped.values()):
            process.send(signal.SIGCONT)
        self._stopped = {}

    def _next_look_s(self) -> float:
        """When the budget can be used up at the soonest."""
        left_s = max(0.0, self._period_end - time.monotonic())
        if self._stopped or not self._held:
            return min(left_s, LONGEST_LOOK_S)
        at_once = min(CORES, sum(process.threads for process in self._held))
        return min(left_s, max(LEAST_LOOK_S, self._budget_s / at_once))


def serve(launcher: int) -> None:
    """Answer requests and pace in between, until the harness or the launcher is gone."""
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):  # noqa: PTH110 - pathlib loads slowly
        sys.exit("this kernel lists no children of a process (CONFIG_PROC_CHILDREN)")
    pacer = LimitPacer(launcher)
    gone = os.pidfd_open(launcher)
    buffer, wait_s = b"", 0.0
    try:
        while True:
            ready, _, _ = select.select([0, gone], [], [], wait_s)
            piece = os.read(0, 4096) if 0 in ready else b"\n"
            if gone in ready:
                sys.exit("the launcher is gone")
            if not piece:
                return
            *lines, buffer = (buffer + piece).split(b"\n")
            for line in filter(None, lines):
                if line.startswith(b"limit "):
                    cores = line.split()[1]
                    pacer.limit_to(None if cores == b"none" else float(cores))
                os.write(1, json.dumps(pacer.counters()).encode() + b"\n")
            wait_s = pacer.turn()
    finally:
        pacer.end()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    serve(int(sys.argv[1]))
