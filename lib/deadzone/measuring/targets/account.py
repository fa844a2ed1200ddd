"""Where the time of a trial's threads went: running, ready, throttled, waiting for a disk, memory or the network, asleep.

The parts add up to the time that its threads lived. It is what thread state analysis does by hand (Gregg 2013, Thinking
Methodically about Performance, Communications of the ACM 56, 45-51). How long threads lived, ran and were ready is exact
where the kernel tells of threads as they end (`taskstats`), and else looked at while they live (`schedstat`), for which
every user has the right. What they waited for is looked at in both cases, unless the kernel counts that too.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from deadzone.measuring.targets.ending import Exit
from deadzone.measuring.targets.kernel_files import TICK_S, told
from deadzone.measuring.targets.limits.base import Counters
from deadzone.measuring.targets.schedstat import Scheduled, scheduled_thread, threads_of
from deadzone.measuring.targets.taskstats import EndedThread, EndedThreads

LOOKING_SHARE = 0.01
"""Of a trial's time, at most, that is spent on looking at its threads."""

LEAST_SEEN = 0.8
"""Where looks met threads with less than this share of the CPU time that was counted, they tell too little of the rest."""

SPENT = 0.9
"""Who got so much of all that the limit gives, waited for the limit and not for a core that others had."""

NETWORK = (
    b"wait_woken",
    b"inet_",
    b"sk_",
    b"tcp_",
    b"udp_",
    b"unix_",
    b"poll_schedule",
    b"do_epoll",
    b"ep_poll",
    b"do_poll",
)
"""Where in the kernel a thread sleeps that waits for somebody beyond its process: in a socket, or for one of several."""


@dataclass
class _Seen:
    """A thread at its last look."""

    lived_s: float = 0.0
    got: Scheduled = field(default_factory=Scheduled)


class Account:
    """Keeps the account of one trial after the other."""

    def __init__(self) -> None:
        self._listening = EndedThreads()
        self._seen: dict[int, _Seen] = {}
        self._waits = Counter[str]()
        """Looks at which a thread waited, by what for."""
        self._next_s, self._refused = 0.0, ""

    def open(self) -> None:
        """Listen to threads as they end, where that is permitted."""
        try:
            self._listening.open()
        except (OSError, KeyError) as error:
            self._refused = str(error)

    def close(self) -> None:
        """Listen no longer."""
        self._listening.close()

    def facts(self) -> dict[str, Any]:
        """Where the account comes from, and what refused a better source."""
        if self._refused:
            return {"account_source": "schedstat, looked at", "account_refused": {"taskstats": self._refused}}
        delays = " with delays" if self._listening.counts_delays() else ", waits looked at"
        return {"account_source": f"taskstats{delays}"}

    def begin(self) -> None:
        """A trial begins: what ended before is none of it."""
        self._listening.forget()
        self._seen, self._waits, self._next_s = {}, Counter(), 0.0

    def look(self, processes: Callable[[], Iterable[int]]) -> None:
        """Look at the threads that live now, as often as LOOKING_SHARE permits."""
        if time.monotonic() < self._next_s:
            return
        began = time.thread_time()
        self._listening.hear()
        for pid in processes():
            for thread in threads_of(pid):
                with contextlib.suppress(ValueError, IndexError):  # it has ended
                    self._look_at(pid, thread)
        self._next_s = time.monotonic() + (time.thread_time() - began) / LOOKING_SHARE

    def _look_at(self, pid: int, thread: int) -> None:
        one = self._seen.setdefault(thread, _Seen())
        if self._refused:
            one.got = scheduled_thread(pid, thread) or one.got
        place = f"/proc/{pid}/task/{thread}"
        state, *fields = told(f"{place}/stat").rpartition(b")")[2].split()
        one.lived_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[18]) * TICK_S
        if state == b"D":
            self._waits["disk"] += 1
        elif state == b"S":
            outside = told(f"{place}/wchan").startswith(NETWORK)
            self._waits["network" if outside else "asleep"] += 1

    def end(self, launcher: int, ended: Exit, used: Counters, limit: float | None = None) -> dict[str, float]:
        """The columns of a trial that ended [thread-seconds]; none where too little is known of it. limit: in force [cores]."""
        threads = None if self._refused else self._listening.below(launcher)
        cpu_s = sum(used.cpu_times(ended.user_s, ended.sys_s))
        if threads is None:
            threads = self._looked_at(cpu_s, ended.wall_s)
        if not threads:
            return {}
        # No thread lives longer than the trial: its first one was there before, and waited for the signal to go.
        lived = sum(min(one.lived_s, ended.wall_s) for one in threads)
        running, ready = sum(one.running_s for one in threads), sum(one.ready_s for one in threads)
        waiting = max(lived - running - ready, 0.0)
        # In a period whose budget was spent, waiting for a core cost nothing that the limit would not have cost.
        spent = cpu_s >= SPENT * limit * ended.wall_s if limit else False
        throttled = ready * (1.0 if spent else (used.nr_throttled or 0) / (used.nr_periods or 1))
        if self._listening.counts_delays() and not self._refused:
            disk, memory = (sum(getattr(one, name) for one in threads) for name in ("disk_s", "memory_s"))
        else:
            memory = used.memory_stall_s or 0.0
            disk = max(self._share("disk", "network", "asleep") * waiting - memory, 0.0)
        memory = min(memory, waiting)
        disk = min(disk, waiting - memory)
        network = self._share("network", "asleep") * (waiting - memory - disk)
        told = {
            "threads_s": running + ready + waiting,
            "running_s": running,
            "ready_s": ready - throttled,
            "throttled_wait_s": throttled,
            "disk_wait_s": disk,
            "memory_wait_s": memory,
            "network_wait_s": network,
            "asleep_s": waiting - memory - disk - network,
        }
        return {name: round(value, 6) for name, value in told.items()}

    def _share(self, wanted: str, *others: str) -> float:
        """Of the looks that met a waiting thread, the share at which it waited for this, and not for one of the others."""
        among = sum(self._waits[name] for name in (wanted, *others))
        return self._waits[wanted] / among if among else 0.0

    def _looked_at(self, cpu_s: float, wall_s: float) -> list[EndedThread]:
        """The threads as they were looked at, brought up to the CPU time that was counted in all."""
        running = sum(one.got.running_s for one in self._seen.values())
        if running < LEAST_SEEN * cpu_s or running <= 0:
            return []
        more = max(cpu_s / running, 1.0)
        return [
            EndedThread(
                0, 0, min(one.lived_s, wall_s) * more, one.got.running_s * more, one.got.ready_s * more
            )
            for one in self._seen.values()
        ]
