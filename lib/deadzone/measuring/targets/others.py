"""Which other processes used the CPU between two looks at all of them, by name.

A program whose processes live for a connection or a request is one name: what a process that ended had used is in its
parent's account (times(2)), and what it had used before the first look is taken off again.
"""

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from deadzone.measuring.targets.kernel_files import TICK_S, told
from deadzone.measuring.targets.processes import whole

LEAST_CORES = 0.02
"""Others that use less are not named [cores]."""

MOST_NAMED = 5

LOOKING_SHARE = 0.02
"""Of the time, at most, that is spent on looking: of many processes a look costs as much as a short trial."""

OLDEST_S = 0.5
"""A look that is older tells nothing of the trial, however many processes there are; neighbours are counted over as long [s]."""

KERNEL = 2
"""Parent of the kernel's own threads."""


@dataclass(frozen=True)
class Process:
    """A process at a look. cpu_s: its own and that of descendants that ended and were waited for [s]."""

    parent: int
    name: str
    cpu_s: float


class Others:
    """Looks at all processes, the harness and its descendants left out."""

    def __init__(self) -> None:
        self._at, self._due_s, self._last = 0.0, 0.0, dict[tuple[int, int], Process]()
        self._named: tuple[tuple[str, float], ...] | None = None

    def begin(self) -> None:
        """A trial begins: what is named after it is what works from here on, or not long before."""
        if time.monotonic() >= self._due_s:
            self.look()

    def beside(self, spare: Collection[int] = ()) -> tuple[tuple[str, float], ...]:
        """As look, for a trial that ends; of trials so short that looks at each would slow them, as the last look named them."""
        if self._named is None or time.monotonic() >= self._due_s:
            return self.look(spare)
        return self._named

    def between(self, spare: Collection[int] = ()) -> tuple[tuple[str, float], ...]:
        """As look, while no trial runs: who works then is not named beside the next one."""
        named, self._named = self.look(spare), None
        return named

    def look(self, spare: Collection[int] = ()) -> tuple[tuple[str, float], ...]:
        """Who used how many cores since the last look, largest first; the first look tells nothing.

        spare: processes that are no others.
        """
        began = time.thread_time()
        now, at = _all(), time.monotonic()
        elapsed = max(at - self._at, 1e-9)
        own = {*_family(os.getpid(), now), *spare, KERNEL}
        used = _used(self._last, now, own)
        largest = sorted(used.items(), key=lambda one: -one[1])[:MOST_NAMED]
        shares = ((name, seconds / elapsed) for name, seconds in largest)
        self._named = tuple(one for one in shares if one[1] >= LEAST_CORES) if self._last else None
        self._at, self._last = at, now
        self._due_s = at + min((time.thread_time() - began) / LOOKING_SHARE, OLDEST_S)
        return self._named or ()


def _used(
    before: dict[tuple[int, int], Process], after: dict[tuple[int, int], Process], own: Collection[int]
) -> dict[str, float]:
    parents = {key[0]: before[key].parent for key in before.keys() - after.keys()}
    gone: dict[int, float] = defaultdict(float)
    for key in before.keys() - after.keys():
        heir = key[0]
        while heir in parents:
            heir = parents[heir]
        gone[heir] += before[key].cpu_s
    used: dict[str, float] = defaultdict(float)
    for key, process in after.items():
        if key[0] in own or process.parent in own:
            continue
        earlier = before[key].cpu_s if key in before else 0.0
        used[process.name] += max(0.0, process.cpu_s - earlier - gone[key[0]])
    return used


def _family(root: int, processes: dict[tuple[int, int], Process]) -> set[int]:
    """A process and its descendants, as they were at a look."""
    family, born = set[int](), {root}
    while born:
        family |= born
        born = {pid for (pid, _), one in processes.items() if one.parent in born} - family
    return family


def _all() -> dict[tuple[int, int], Process]:
    """Every process by its id and start."""
    # A path object for each would cost as much as the rest.
    return whole(lambda: set(filter(str.isdigit, os.listdir("/proc"))), _read)  # noqa: PTH208


def _read(pids: Collection[str]) -> dict[tuple[int, int], Process]:
    found = {}
    for pid in pids:
        with contextlib.suppress(IndexError):  # it has ended
            head, _, tail = told(f"/proc/{pid}/stat").rpartition(b")")
            fields = tail.split()
            name = head.partition(b"(")[2].decode(errors="replace")
            cpu_s = sum(map(int, fields[11:15])) * TICK_S
            found[int(pid), int(fields[19])] = Process(int(fields[1]), name, cpu_s)
    return found
