"""Where the time of a trial's threads went: running, ready, throttled, waiting for a disk, memory,
the network or a timer, asleep.

The parts add up to the time that its threads lived. It is what thread state analysis does by hand
(Gregg 2013, Thinking Methodically about Performance, Communications of the ACM 56, 45-51). How long
threads lived, ran and were ready is exact where the kernel tells of threads as they end
(taskstats), and else looked at while they live (`schedstat`), for which every user has the right.
What they waited for is looked at in both cases, unless the kernel counts that too.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deadzone.run.targets.limits.base import Counters
from deadzone.run.targets.schedstat import (
    EndedThreads,
    ThreadTime,
    living_thread,
    threads_of,
    waits_for,
)

LOOKING_SHARE = 0.01
"""Of a trial's time, at most, that is spent on looking at its threads."""

LEAST_SEEN = 0.8
"""Where looks met threads with less than this share of the CPU time that was counted, they tell too
little of the rest."""

ON_DISK, SLEEPING = ("page", "disk"), ("network", "timer", "asleep")
LOOKS = (*ON_DISK, *SLEEPING)
"""What a thread may wait for."""

LONGEST_FAULT_S = 0.01
"""A seek of a disk: of a trial too short for its waits to be looked at, no fault is taken to wait
longer [s]."""

SPENT = 0.9
"""Who got so much of all that the limit gives, waited for the limit and not for a core that others
had."""


class ThreadAccount:
    """Keeps the account of one trial after the other."""

    def __init__(self) -> None:
        self._listening = EndedThreads()
        self._before: dict[int, ThreadTime] = {}
        """The threads that were there as the trial began."""
        self._seen: dict[int, ThreadTime] = {}
        self._waits = Counter[str]()
        """Looks at a thread, by what it waited for."""
        self._loops: set[int] = set()
        """The threads that were met in an event loop."""
        self._next_s, self._refused = 0.0, ""
        self._most = 0

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
        waits = " with delays" if self._listening.counts_delays() else ", waits looked at"
        refused = {"taskstats": self._refused} if self._refused else {}
        return {
            "account_source": "schedstat, looked at" if refused else f"taskstats{waits}",
            "account_refused": refused,
        }

    def begin(self, there: Iterable[int] = ()) -> None:
        """A trial begins: what ended before is none of it. there: the processes of a service that
        it asks."""
        self._listening.forget()
        self._seen, self._loops = {}, set()  # a number may be another thread's by now
        self._look_at(there)
        self._before, self._waits, self._next_s = self._seen.copy(), Counter(), 0.0
        self._most = 0

    def look(self, processes: Callable[[], Iterable[int]]) -> None:
        """Look at the threads that live now, as often as LOOKING_SHARE permits."""
        if time.monotonic() < self._next_s:
            return
        began = time.thread_time()
        self._listening.hear()
        self._most = max(self._most, len(self._look_at(processes())))
        self._next_s = time.monotonic() + (time.thread_time() - began) / LOOKING_SHARE

    def take(self, living: ThreadTime, waits_for: str) -> None:
        """A look at a thread that another reader had; for an account that hears of no ends."""
        self._refused = "looked at from elsewhere"
        self._seen[living.thread] = living
        self._waits[waits_for] += 1

    def _look_at(self, processes: Iterable[int]) -> list[ThreadTime]:
        """The threads of processes, with a note of what each waits for."""
        living = []
        for pid in processes:
            waits = {}
            for thread in threads_of(pid):
                with contextlib.suppress(ValueError):  # it has ended
                    living.append(living_thread(pid, thread))
                    waits[thread] = waits_for(pid, thread)
            self._note(waits)
        self._seen |= {thread.thread: thread for thread in living}
        return living

    def _note(self, waits: Mapping[int, str]) -> None:
        """What the threads of one process wait for, by thread.

        An event loop waits for others, but for the threads that it gave work to while these are at
        it. Threads that are event loops themselves are no such threads.
        """
        self._loops |= {thread for thread, reason in waits.items() if reason == "loop"}
        has_workers = any(
            reason in ("", *ON_DISK)
            for thread, reason in waits.items()
            if thread not in self._loops
        )
        self._waits.update(
            ("asleep" if has_workers else "network") if reason == "loop" else reason
            for reason in waits.values()
        )

    def counts(self) -> dict[str, int]:
        """What else was counted of the trial, by column; threads_most where threads were looked
        at."""
        return {"threads_most": self._most} if self._most else {}

    def end(
        self,
        roots: Iterable[int],
        wall_s: float,
        cpu_s: float,
        used: Counters,
        limit: float | None = None,
        there: Iterable[int] = (),
    ) -> dict[str, float]:
        """The columns of a trial that ended [thread-seconds]; none where too little is known of it.

        roots: whose descendants its processes are. wall_s, cpu_s: of the trial, and what it used.
        limit: in force [cores]. there: the processes of a service, which live on.
        """
        living = self._look_at(there)
        ended = None if self._refused else self._listening.below(*roots)
        threads = self._looked_at(cpu_s) if ended is None else self._grown((*ended, *living))
        if not threads:
            return {}
        # No thread lives longer than the trial: its first one was there before, and waited for the
        # signal to go.
        lived = sum(min(thread.lived_s, wall_s) for thread in threads)
        running, ready = (
            sum(thread.running_s for thread in threads),
            sum(thread.ready_s for thread in threads),
        )
        waiting = max(lived - running - ready, 0.0)
        # In a period whose budget was spent, waiting for a core cost nothing that the limit would
        # not have cost.
        spent = cpu_s >= SPENT * limit * wall_s if limit else False
        throttled = ready * (1.0 if spent else (used.nr_throttled or 0) / (used.nr_periods or 1))
        if self._listening.counts_delays() and not (self._refused or self._before):
            disk, memory = (
                sum(getattr(thread, name) for thread in threads) for name in ("disk_s", "memory_s")
            )
        else:
            # Few looks may miss what the group stalled on.
            on_disk = max(
                self._share(ON_DISK, among=LOOKS) * waiting, min(used.io_stall_s or 0.0, waiting)
            )
            faulted = min(on_disk, LONGEST_FAULT_S * (used.major_faults or 0))
            was_looked_at = any(self._waits[name] for name in ON_DISK)
            for_pages = (
                self._share(("page",), among=ON_DISK) * on_disk if was_looked_at else faulted
            )
            # The kernel counts a stall on memory only for pages that it took to be in use
            # (workingset detection).
            again = min((used.refaulted_pages or 0) / (used.major_faults or 1), 1.0)
            memory = max(used.memory_stall_s or 0.0, again * for_pages)
            disk = sum(thread.disk_s for thread in threads) or max(on_disk - memory, 0.0)
        memory = min(memory, waiting)
        disk = min(disk, waiting - memory)
        slept = waiting - memory - disk
        network, timer = (self._share((name,), SLEEPING) * slept for name in ("network", "timer"))
        facts = {
            "threads_s": running + ready + waiting,
            "running_s": running,
            "ready_s": ready - throttled,
            "throttled_wait_s": throttled,
            "disk_wait_s": disk,
            "memory_wait_s": memory,
            "network_wait_s": network,
            "timer_wait_s": timer,
            "asleep_s": slept - network - timer,
        }
        return {name: round(value, 6) for name, value in facts.items()}

    def _share(self, wanted: Sequence[str], among: Sequence[str]) -> float:
        """Of the looks that met a thread waiting for one of some things, the share at which it was
        for a wanted one."""
        met = sum(self._waits[name] for name in among)
        return sum(self._waits[name] for name in wanted) / met if met else 0.0

    def _looked_at(self, cpu_s: float) -> list[ThreadTime]:
        """The threads as they were looked at, brought up to the CPU time that was counted in
        all."""
        seen = self._grown(self._seen.values())
        running = sum(thread.running_s for thread in seen)
        if running < LEAST_SEEN * cpu_s or running <= 0:
            return []
        more = max(cpu_s / running, 1.0)
        times = ("lived_s", "running_s", "ready_s")
        return [
            replace(thread, **{name: getattr(thread, name) * more for name in times})
            for thread in seen
        ]

    def _grown(self, threads: Iterable[ThreadTime]) -> list[ThreadTime]:
        """What came to threads in the trial."""
        return [thread.since(self._before.get(thread.thread)) for thread in threads]
