"""What processes used that ended and were never waited for: it is in no account of one that lives.

A server that ignores SIGCHLD (wait(2)) has the kernel clear away its children, whose time is then
added to nothing (times(2)). The kernel tells root of each thread as it ends (`taskstats`); another
user has looks alone, which miss what a process used after the last of them.
"""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from deadzone.run.targets.kernel_files import TICK_S, read_bytes
from deadzone.run.targets.schedstat import ThreadTime
from deadzone.run.targets.taskstats import EndedThreads

ROUNDED_S = 3 * TICK_S
"""An account is rounded to ticks, user and system time each: so little more than it holds was
waited for [s]."""

Key = tuple[int, int]
"""A process id, and when it started: ids are used again."""


@dataclass(frozen=True)
class ProcessCpu:
    """A process at a look. own_s: by its threads. waited_s: by descendants that ended and were
    waited for [s]."""

    parent: int
    name: str
    own_s: float
    waited_s: float = 0.0

    @property
    def cpu_s(self) -> float:
        """All that is in its account [s]."""
        return self.own_s + self.waited_s


def all_pids() -> set[str]:
    """The ids of all processes now."""
    # A path object for each would cost as much as the rest.
    return set(filter(str.isdigit, os.listdir("/proc")))  # noqa: PTH208


def read_cpu(pids: Iterable[str | int]) -> dict[Key, ProcessCpu]:
    """Those of some processes that are there."""
    living = {}
    for pid in pids:
        with contextlib.suppress(IndexError):  # it has ended
            head, _, tail = read_bytes(f"/proc/{pid}/stat").rpartition(b")")
            fields = tail.split()
            name = head.partition(b"(")[2].decode(errors="replace")
            ticks = [int(field) for field in fields[11:15]]
            living[int(pid), int(fields[19])] = ProcessCpu(
                int(fields[1]), name, sum(ticks[:2]) * TICK_S, sum(ticks[2:]) * TICK_S
            )
    return living


def of_ended(threads: Iterable[ThreadTime], living: Collection[int]) -> dict[int, ProcessCpu]:
    """The processes that ended threads belonged to; a thread of one that lives is in its
    account."""
    processes: dict[int, ProcessCpu] = {}
    for thread in threads:
        if thread.process not in living:
            earlier = processes.get(thread.process, ProcessCpu(thread.parent, "", 0.0))
            processes[thread.process] = replace(earlier, own_s=earlier.own_s + thread.running_s)
    return processes


def never_waited_s(
    before: Mapping[Key, ProcessCpu], now: Mapping[Key, ProcessCpu], ended: Mapping[int, ProcessCpu]
) -> dict[int, float]:
    """What the children of living processes used that ended in between and are not in the account
    of these [s], by process. ended: as they were last seen, by id."""
    children: dict[int, list[int]] = defaultdict(list)
    for pid, process in ended.items():
        children[process.parent].append(pid)

    def used_s(pid: int) -> float:
        process = ended[pid]
        below_s = sum(map(used_s, children.get(pid, ())))
        return process.own_s + max(process.waited_s, below_s)

    lost = {}
    for key, process in now.items():
        if mine := children.get(key[0]):
            grown_s = process.waited_s - (before[key].waited_s if key in before else 0.0)
            missing_s = sum(map(used_s, mine)) - grown_s
            if missing_s > ROUNDED_S:
                lost[key[0]] = missing_s
    return lost


class EndedChildren:
    """Of some processes, from `begin` to `end`. Looks are needed where the kernel tells of no
    ends."""

    def __init__(self) -> None:
        self._listening = EndedThreads()
        self._hears = self._is_refused = False
        self._before: dict[Key, ProcessCpu] = {}
        self._last: dict[Key, ProcessCpu] = {}
        self._others: set[str] = set()

    def open(self) -> None:
        """Listen to threads as they end, where that is permitted, unless it does."""
        if self._hears or self._is_refused:
            return
        try:
            self._listening.open()
            self._hears = True
        except (OSError, KeyError):
            self._is_refused = True

    def close(self) -> None:
        """Listen no longer."""
        self._listening.close()
        self._hears = False

    def begin(self, pids: Iterable[int]) -> None:
        """What ended before is left out. pids: the processes and their descendants now."""
        self._before = read_cpu(pids)
        self._last = dict(self._before)
        if self._hears:
            self._listening.forget()
        else:
            self._others = all_pids() - {str(pid) for pid, _ in self._last}

    def look(self) -> None:
        """Read those that live, and who joined them."""
        if self._hears:
            self._listening.hear()
            return
        there = all_pids()
        joined, self._others = there - self._others, there
        members = {pid for pid, _ in self._last}
        candidates = read_cpu(joined)
        while born := {key for key, process in candidates.items() if process.parent in members}:
            self._last |= {key: candidates.pop(key) for key in born}
            members |= {pid for pid, _ in born}
        self._last |= read_cpu(members)

    def end(self, pids: Iterable[int]) -> float:
        """What is in no account of those that live [s]. pids: as in `begin`."""
        self.look()
        now = read_cpu({*pids})
        living = {pid for pid, _ in now}
        if self._hears:
            threads = self._listening.below(*living) or ()
            ended = of_ended(threads, living)
        else:
            ended = {key[0]: process for key, process in self._last.items() if key not in now}
        return sum(never_waited_s(self._before, now, ended).values())
