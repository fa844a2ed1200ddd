"""What the rest of the machine did while a trial ran: other processes' CPU, steal, pressure and the
clocks.

Sources: proc(5) for /proc/stat, the kernel's accounting/psi documentation for /proc/pressure.

Other processes are told by name, from two looks at all of them. A program whose processes live for
a connection or a request is one name: what a process that ended had used is in its parent's account
(times(2)), and what it had used before the first look is taken off again. Children that nothing
waits for are in no account, and not named.
"""

import contextlib
import errno
import os
import re
import resource
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from deadzone.measurement import Interference
from deadzone.run.targets.kernel_files import TICK_S, read_bytes, stall_s
from deadzone.run.targets.processes import whole

LEAST_CORES = 0.02
"""Others that use less are not named [cores]."""

MOST_NAMED = 5

LOOKING_SHARE = 0.02
"""Of the time, at most, that is spent on looking: of many processes a look costs as much as a short
trial."""

OLDEST_S = 0.5
"""A look that is older tells nothing of the trial, however many processes there are; neighbours are
counted over as long [s]."""

KERNEL = "kthreadd"
"""Parent of the kernel's own threads; in a container any program may have its number."""


Key = tuple[int, int]
"""A process id, and when it started: ids are used again."""

Shares = tuple[tuple[str, float], ...]
"""Names, each with the cores it used."""


@dataclass(frozen=True)
class ProcessCpu:
    """A process at a look. cpu_s: by itself and by what it waited for [s]."""

    parent: int
    name: str
    cpu_s: float


class OtherProcesses:
    """Looks at all processes, the harness and its descendants left out."""

    def __init__(self) -> None:
        self._at, self._due_s, self._last = 0.0, 0.0, dict[Key, ProcessCpu]()
        self._named: Shares | None = None
        self._workers: dict[str, list[tuple[float, int]]] = {}

    def begin(self, spare: Callable[[], Collection[int]] = tuple) -> None:
        """A trial begins: what is named after it is what works from here on, or not long before.
        spare: tells the processes that are no others."""
        if time.monotonic() >= self._due_s:
            self.look(spare())

    def at_end(self, spare: Collection[int] = ()) -> Shares:
        """As look, for a trial that ends; of trials so short that looks at each would slow them, as
        the last look named them."""
        if self._named is None or time.monotonic() >= self._due_s:
            return self.look(spare)
        return self._named

    def between(self, spare: Collection[int] = ()) -> Shares:
        """As look, while no trial runs: who works then is not named beside the next one."""
        workers = self._workers
        named, self._named = self.look(spare), None
        self._workers = workers
        return named

    def at_work(self, name: str) -> tuple[int, ...]:
        """The processes of a name that worked beside the last trial, those that used most first."""
        return tuple(pid for _, pid in sorted(self._workers.get(name, ()), reverse=True))

    def look(self, spare: Collection[int] = ()) -> Shares:
        """Who used how many cores since the last look, largest first; the first look tells nothing.

        spare: processes that are no others.
        """
        began = time.thread_time()
        now, at = _all(), time.monotonic()
        elapsed = max(at - self._at, 1e-9)
        kernel = {pid for (pid, _), one in now.items() if (one.parent, one.name) == (0, KERNEL)}
        self._workers = _used(self._last, now, {*_family(os.getpid(), now), *spare, *kernel})
        used = {name: sum(s for s, _ in each) for name, each in self._workers.items()}
        largest = sorted(used.items(), key=lambda pair: -pair[1])[:MOST_NAMED]
        shares = ((name, seconds / elapsed) for name, seconds in largest)
        self._named = (
            tuple(share for share in shares if share[1] >= LEAST_CORES) if self._last else None
        )
        self._at, self._last = at, now
        self._due_s = at + min((time.thread_time() - began) / LOOKING_SHARE, OLDEST_S)
        return self._named or ()


def _used(
    before: dict[Key, ProcessCpu], after: dict[Key, ProcessCpu], own: Collection[int]
) -> dict[str, list[tuple[float, int]]]:
    """CPU time of each process that is no own one in between, with its ended children, by name."""
    parents = {key[0]: before[key].parent for key in before.keys() - after.keys()}
    gone: dict[int, float] = defaultdict(float)
    for key in before.keys() - after.keys():
        heir = key[0]
        while heir in parents:
            heir = parents[heir]
        gone[heir] += before[key].cpu_s
    used: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for key, process in after.items():
        pid = key[0]
        if pid in own or process.parent in own:
            continue
        earlier = before[key].cpu_s if key in before else 0.0
        used[process.name].append((max(0.0, process.cpu_s - earlier - gone[pid]), pid))
    return used


def _family(root: int, processes: dict[Key, ProcessCpu]) -> set[int]:
    """A process and its descendants, as they were at a look."""
    family = {root}
    while born := {pid for (pid, _), one in processes.items() if one.parent in family} - family:
        family |= born
    return family


def _all() -> dict[Key, ProcessCpu]:
    """Every process by its id and start."""
    # A path object for each would cost as much as the rest.
    return whole(lambda: set(filter(str.isdigit, os.listdir("/proc"))), _read_cpu)  # noqa: PTH208


def _read_cpu(pids: Iterable[str]) -> dict[Key, ProcessCpu]:
    living = {}
    for pid in pids:
        with contextlib.suppress(IndexError):  # it has ended
            head, _, tail = read_bytes(f"/proc/{pid}/stat").rpartition(b")")
            fields = tail.split()
            name = head.partition(b"(")[2].decode(errors="replace")
            cpu_s = sum(map(int, fields[11:15])) * TICK_S
            living[int(pid), int(fields[19])] = ProcessCpu(int(fields[1]), name, cpu_s)
    return living


BUSY_FIELDS = (0, 1, 2, 5, 6)
"""user, nice, system, irq and softirq in the first line of /proc/stat; guest time is already in
user."""

STEAL_FIELD = 7

RESOLUTION_TICKS = 3
"""Each busy field is rounded to a tick and charged by sampling; three ticks cover what that adds up
to."""


WINDOW_S = 0.5
"""Neighbours are counted over at least this time up to the end of a trial: in a trial of some
milliseconds none can be seen, and to trust it for that would be to choose trials by their length
[s]."""


@dataclass(frozen=True)
class MachineReading:
    """Running totals of the machine at one moment; differences of two readings are what counts."""

    busy_s: float
    steal_s: float
    memory_stall_s: float | None
    io_stall_s: float | None
    monotonic_s: float
    wall_clock_s: float
    boot_clock_s: float


def read_machine() -> MachineReading:
    """The machine's totals now; stalls on the CPU are none of them, for a throttled program stalls
    itself.

    Raises FileNotFoundError where the kernel does not tell them.
    """
    first = read_bytes("/proc/stat").partition(b"\n")[0]
    if not first:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/proc/stat")
    busy, stolen = busy_and_stolen(first.split()[1:])
    return MachineReading(
        busy_s=busy * TICK_S,
        steal_s=stolen * TICK_S,
        memory_stall_s=stall_s("/proc/pressure/memory"),
        io_stall_s=stall_s("/proc/pressure/io"),
        monotonic_s=time.monotonic(),
        wall_clock_s=time.time(),
        boot_clock_s=time.clock_gettime(time.CLOCK_BOOTTIME),
    )


def busy_and_stolen(fields: Sequence[bytes | str]) -> tuple[int, int]:
    """Ticks from the fields of the first line of /proc/stat: in which a core was busy, and in which
    the hypervisor withheld it."""
    ticks = [int(field) for field in fields]
    return sum(ticks[i] for i in BUSY_FIELDS), ticks[STEAL_FIELD] if len(ticks) > STEAL_FIELD else 0


def harness_cpu_s() -> float:
    """CPU time of the harness and of what it waited for, such as a profiler [s]."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class Neighbours:
    """What others use of the machine, from readings that go on over the trials of a sweep."""

    def __init__(self) -> None:
        self._marks: deque[tuple[MachineReading, float]] = deque()

    def mark(self, reading: MachineReading, own_s: float) -> None:
        """A reading, with the CPU time that trials and harness have used until then [s]."""
        self._marks.append((reading, own_s))

    def until_counted_s(self) -> float:
        """For how long the machine is still to be looked at before a trial of any length can be
        judged [s]."""
        return WINDOW_S - (time.monotonic() - self._marks[0][0].monotonic_s)

    def of_trial(self, trial: Interference) -> Interference:
        """The interference of a trial, which ended at the last mark, its neighbours counted from
        WINDOW_S or more before its end."""
        end, own_s = self._marks[-1]
        while len(self._marks) > 1 and end.monotonic_s - self._marks[1][0].monotonic_s >= WINDOW_S:
            self._marks.popleft()
        start, before_s = self._marks[0]
        wide = between(start, end, own_s - before_s)
        return replace(
            trial, foreign_cpu=wide.foreign_cpu, foreign_cpu_resolution=wide.foreign_cpu_resolution
        )


@cache
def physical_cores() -> int:
    """Cores that do not share their parts with another, of those that trials can use. A virtual
    machine is not told which of its cores are two threads of one; two by two they are taken for
    that."""
    usable = os.sched_getaffinity(0)
    groups = {_siblings(cpu) for cpu in usable}
    if re.search(rb"^flags\s*:.*\bhypervisor\b", read_bytes("/proc/cpuinfo"), re.MULTILINE):
        return min(len(groups), (len(usable) + 1) // 2)
    return len(groups)


def waited_share(
    foreign_cpu: float, wall_s: float, ready_s: float | None, stall_s: float | None
) -> float | None:
    """Of the time that neighbours used, the share that a trial lost; None where the kernel did not
    count its waiting.

    ready_s: its threads were ready and did not run, no limit holding them [thread-seconds]:
    neighbours took no more than that from them, whatever they took from each other. stall_s: in
    which one of them or more was so: neighbours took nothing outside it.
    """
    if ready_s is not None:
        return min(1.0, ready_s / max(foreign_cpu * wall_s, 1e-9))
    return None if stall_s is None else min(1.0, stall_s / max(wall_s, 1e-9))


@cache
def threads_share_cores() -> bool:
    """Whether a core that trials can use is a hardware thread of a physical one that has more of
    them, as far as is told."""
    usable = os.sched_getaffinity(0)
    return physical_cores() < len(usable) or not all(_siblings(cpu).isdigit() for cpu in usable)


def _siblings(cpu: int) -> str:
    listed = read_bytes(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return listed.decode().strip() or str(cpu)


def exposure(cores_used: float | None, waited: float | None = None) -> float:
    """The share of what neighbours use that meets a trial.

    cores_used: by the trial, at least one: so large a share of the physical cores, for the
    scheduler gives neighbours those that are free. waited: the share of their time for which a
    thread of the trial was ready and did not run, None where that is unknown. It is all that meets
    a trial on cores of their own; where two hardware threads share one, a neighbour on the other
    slows a thread that never waits.
    """
    shared = min(1.0, max(1.0, cores_used or 1.0) / physical_cores())
    if waited is None:
        return shared
    return min(1.0, max(waited, shared if threads_share_cores() else 0.0))


def between(before: MachineReading, after: MachineReading, own_cpu_s: float) -> Interference:
    """Interference between two readings.

    own_cpu_s: CPU time of the trial and the harness in between [s].
    """
    elapsed = max(after.monotonic_s - before.monotonic_s, 1e-9)
    suspended = (after.boot_clock_s - before.boot_clock_s) - elapsed
    stepped = (after.wall_clock_s - before.wall_clock_s) - elapsed
    return Interference(
        foreign_cpu=max(0.0, after.busy_s - before.busy_s - own_cpu_s) / elapsed,
        foreign_cpu_resolution=RESOLUTION_TICKS * TICK_S / elapsed,
        steal=(after.steal_s - before.steal_s) / elapsed,
        memory_pressure=_share(before.memory_stall_s, after.memory_stall_s, elapsed),
        io_pressure=_share(before.io_stall_s, after.io_stall_s, elapsed),
        clock_drift=max(abs(suspended), abs(stepped)) / elapsed,
    )


def _share(before: float | None, after: float | None, elapsed: float) -> float | None:
    return None if before is None or after is None else min(1.0, (after - before) / elapsed)
