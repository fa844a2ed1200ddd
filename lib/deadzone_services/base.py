"""A service under test: where it can run, how it is reached, and what it used while a client asked
it: the counters of its group and its processes, read as the trial begins and ends."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from deadzone.plugins import Command, DeadzoneError, Sample, Target
from deadzone.run.targets.account import ThreadAccount
from deadzone.run.targets.base import Exit
from deadzone.run.targets.limits.base import Counters
from deadzone.run.targets.processes import HELD, ProcessTotals, totals, whole
from deadzone.run.targets.schedstat import threads_of, waits_for_disk
from deadzone.run.workloads.addresses import STANDARD_PORTS
from deadzone.study.coresident_specs import USED
from deadzone.study.service_specs import ADDRESS, HOST, PORT, SERVICE_URL

SERVICE_RESPONSES = (
    "client_cpu_s",
    *(f"service_{name}" for name in ("start_s", "disk_wait_s", *USED)),
)
"""Columns that every trial with a service has, as far as the system can tell them."""


class ServiceError(DeadzoneError):
    """A service under test did not start, did not become ready, or ended too early; the trial has
    failed."""


class RunningProgram(Protocol):
    """A service that was started."""

    @property
    def pid(self) -> int:
        """Its process id."""

    def runs(self) -> bool:
        """Whether it has not ended by itself."""

    def stop(self, timeout_s: float) -> Exit:
        """End it and all its descendants."""


class Host(Target):
    """Where a service runs: a target that puts limits in force and tells what its inhabitants use.

    It may lack `start` where it only limits and counts a service that is up already, and `read`
    where nothing is counted. One that says
    counts_from_afar is asked as a trial begins and ends, and not in between: each reading takes a
    while, and costs the service CPU.
    """

    def start(self, command: Command, log: Path, port: int | None = None) -> RunningProgram:
        """Start a service under the limits in force; what it prints goes to the log. port: where it
        will be asked.

        A host whose inside is another one than this machine may say, as inner_port and python,
        which port and which Python there are inside.
        """
        raise NotImplementedError

    def read(self) -> Counters:
        """The accounting now."""
        raise NotImplementedError


def placeholders_of(url: str) -> dict[str, str | int]:
    """What stands in a client's arguments for the address of a service that answers there:
    service_url, address, host and port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or STANDARD_PORTS[parts.scheme]
    named = f"[{host}]" if ":" in host else host
    return {SERVICE_URL: url.rstrip("/"), ADDRESS: f"{named}:{port}", HOST: host, PORT: port}


@dataclass(frozen=True)
class Use:
    """What a service used between the beginning and the end of a trial; None: the system does not
    tell.

    grown: what its group counted. account: where the time of its threads went, empty where it was
    not kept.
    """

    user_s: float | None
    sys_s: float | None
    largest_rss_bytes: int | None
    grown: Counters
    responses: Mapping[str, float]
    account: Mapping[str, float]


Pids = tuple[int, ...]

INTERVAL_S = 0.01
"""Between two looks; waits as short as a flush of a journal are caught in proportion to the time
they take."""

LISTING_S = 0.05
"""Between two readings of which processes there are: a program that a request starts is seen within
50 ms."""

LISTING_SHARE = 0.05
"""Of the time, at most, that is spent on reading which there are, where that is slow."""

PRIORITY = -10
"""Niceness of the looking thread where it is permitted: on a busy machine it would else look only
when others wait."""


class Watch:
    """A companion of a trial: reads what a service uses, at the moments at which the trial itself
    is read.

    A group's own accounting counts where there is one; processes are added up for what no group
    tells, and for everything where there is none.
    """

    def __init__(
        self,
        read: Callable[[], Counters] = Counters,
        processes: Callable[[], tuple[Pids, Pids]] = lambda: ((), ()),
        from_afar: bool = False,
        disk_waits: bool = True,
        account: ThreadAccount | None = None,
        limit: float | None = None,
    ) -> None:
        """read: the group's accounting now. processes: those of the service, and those that only
        hold the account of others that ended. from_afar: reading is slow, so that there is no time
        series. disk_waits: whether to look for threads that wait for a disk, which costs CPU with
        every process there is. account: kept of its threads, which are on this machine. limit: in
        force [cores]."""
        self._read, self._processes, self._from_afar = read, processes, from_afar
        self._before = self._after = (Counters(), ProcessTotals())
        self._most, self._most_memory, self._known = ProcessTotals(), 0, False
        self._looks_for_waits, self._disk_waits = disk_waits, DiskWaits(tuple)
        self._account, self._limit = (None, None) if from_afar else (account, limit)
        self._began_s, self._told = 0.0, dict[str, float]()

    def begin(self) -> float:
        """The trial begins: CPU time of the service so far [s]."""
        self._before = self._whole()
        self._most, self._most_memory = ProcessTotals(), 0
        self._note(*self._before)
        self._disk_waits = DiskWaits(lambda: self._processes()[0])
        if self._looks_for_waits:
            self._disk_waits.start()
        if self._account:
            self._account.begin(self._processes()[0])
        self._began_s = time.monotonic()
        return _cpu_s(*self._before)

    def tick(self, t_s: float) -> Sequence[Sample]:
        """A reading of the time series, counted from the beginning; memory and threads as they
        stand."""
        if self._from_afar:
            return ()
        counters, held = self._now()
        self._note(counters, held)
        if self._account:
            self._account.look(lambda: self._processes()[0])
        used_s = _cpu_s(counters, held) - _cpu_s(*self._before) if self._known else None
        held_now = {
            "service_memory_bytes": counters.memory_bytes,
            "service_rss_bytes": held.rss_bytes or None,
            "service_threads": held.threads or None,
        }
        series = replace(counters.since(self._before[0]), usage_s=used_s).series(t_s)
        known = {name: float(value) for name, value in held_now.items() if value is not None}
        return [*series, *(Sample(t_s, name, value) for name, value in known.items())]

    def end(self) -> float:
        """The trial has ended: CPU time of the service so far [s]."""
        if self._looks_for_waits:
            self._disk_waits.stop()
        wall_s, self._after = time.monotonic() - self._began_s, self._whole()
        self._note(*self._after)
        if self._account:
            there, holders = self._processes()
            cpu_s = _cpu_s(*self._after) - _cpu_s(*self._before)
            grown = self._after[0].since(self._before[0])
            everyone = (*holders, *there)
            self._told = self._account.end(everyone, wall_s, cpu_s, grown, self._limit, there)
        return _cpu_s(*self._after)

    def cpu_s(self) -> float:
        """CPU time of the service so far [s]."""
        return _cpu_s(*self._now())

    def use(self) -> Use:
        """What the service used in between."""
        (first, before), (last, after) = self._before, self._after
        grown, seen = last.since(first), self._most.threads > 0
        user_s, sys_s = after.user_s - before.user_s, after.sys_s - before.sys_s
        moved = {
            name: getattr(after, name) - getattr(before, name) if seen else getattr(grown, name)
            for name in ("major_faults", "read_bytes", "written_bytes")
        }
        facts = {
            "memory_peak_bytes": self._peak(),
            "memory_stall_s": grown.memory_stall_s,
            "oom_kills": grown.oom_kills,
            "io_stall_s": grown.io_stall_s,
            "disk_wait_s": self._disk_waits.waited_s,
            **moved,
            "rss_bytes": self._most.rss_bytes if seen else None,
            "threads": self._most.threads if seen else None,
        }
        split: tuple[float | None, float | None] = (
            grown.cpu_times(max(0.0, user_s), max(0.0, sys_s)) if self._known else (None, None)
        )
        responses = {
            f"service_{name}": max(0.0, float(value))
            for name, value in facts.items()
            if value is not None
        }
        largest = self._most.largest_rss_bytes if seen else None
        return Use(*split, largest, grown, responses, self._told)

    def _now(self) -> tuple[Counters, ProcessTotals]:
        return self._read(), totals(*self._processes())

    def _whole(self) -> tuple[Counters, ProcessTotals]:
        """As now, with what processes used that ended meanwhile: a server may end what served a
        connection just as its client ends."""
        return whole(self._processes, lambda there: (self._read(), totals(*there)))

    def _note(self, counters: Counters, held: ProcessTotals) -> None:
        """Remember the most that was seen at once."""
        self._known = self._known or counters.usage_s is not None or held.threads > 0
        self._most_memory = max(self._most_memory, counters.memory_bytes or 0)
        most = {name: max(getattr(self._most, name), getattr(held, name)) for name in HELD}
        self._most = ProcessTotals(**most)

    def _peak(self) -> int | None:
        """The most memory the group held: the kernel's mark where this trial raised it, else the
        most that was read."""
        first, last = (
            counters.memory_peak_bytes or 0 for counters, _ in (self._before, self._after)
        )
        return last if last > first else self._most_memory or None


def await_settled(watch: Watch, longest_s: float, quiet_s: float = 0.05) -> None:
    """Wait until a service that was started does nothing any more, at most so long: its start must
    not be measured."""
    deadline = time.monotonic() + longest_s
    used = watch.cpu_s()
    while time.monotonic() < deadline:
        time.sleep(quiet_s)
        now = watch.cpu_s()
        if now - used < quiet_s * 0.1:
            return
        used = now


def _cpu_s(counters: Counters, held: ProcessTotals) -> float:
    return counters.usage_s if counters.usage_s is not None else held.user_s + held.sys_s


class DiskWaits(threading.Thread):
    """Adds up the time in which some thread of the processes waited for the disk, from start to
    stop.

    A control group of version 2 counts this by itself (pressure stall information); version 1 does
    not, and the kernel's counter of a process's waits is usually switched off. The machine's own
    pressure counter would hold the waits of all its other programs too.
    """

    def __init__(self, processes: Callable[[], Iterable[int]]) -> None:
        """processes: those of the service, now."""
        super().__init__(daemon=True)
        self._processes = processes
        self._told_to_stop = threading.Event()
        self.waited_s: float | None = None
        """Time waited between start and stop [s]; None where there was no process to look at."""

    def stop(self) -> None:
        """Look no longer."""
        self._told_to_stop.set()
        self.join()

    def run(self) -> None:
        """Called by the thread."""
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PRIORITY)
        pids: tuple[int, ...] = ()
        last = listed = time.monotonic()
        while not self._told_to_stop.wait(INTERVAL_S):
            if (began := time.monotonic()) >= listed:
                pids = tuple(self._processes())
                if not pids and self.waited_s is not None:
                    return  # the service has ended
                spent = time.monotonic() - began
                listed = began + max(LISTING_S, spent / LISTING_SHARE)
            waits = any(waits_for_disk(pid, thread) for pid in pids for thread in threads_of(pid))
            now = time.monotonic()
            if pids:
                self.waited_s = (self.waited_s or 0.0) + (now - last if waits else 0.0)
            last = now
