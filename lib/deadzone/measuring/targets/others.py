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

from deadzone.measuring.targets.processes import TICK_S

LEAST_CORES = 0.02
"""Others that use less are not named [cores]."""

MOST_NAMED = 5

FRESH_S = 0.05
"""A look as young as this serves for the trial that follows it: each costs some milliseconds [s]."""

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
        self._at, self._last = 0.0, dict[tuple[int, str], Process]()

    def look(self, fresh: bool = True, spare: Collection[int] = ()) -> tuple[tuple[str, float], ...]:
        """Who used how many cores since the last look, largest first; the first look tells nothing.

        fresh: look anew though the last look is young. spare: processes that are no others.
        """
        if not fresh and time.monotonic() - self._at < FRESH_S:
            return ()
        now, at = _all(), time.monotonic()
        elapsed = max(at - self._at, 1e-9)
        own = {*_family(os.getpid(), now), *spare, KERNEL}
        used = _used(self._last, now, own)
        known = bool(self._last)
        self._at, self._last = at, now
        named = [
            (name, seconds / elapsed)
            for name, seconds in sorted(used.items(), key=lambda one: -one[1])[:MOST_NAMED]
        ]
        return tuple(one for one in named if one[1] >= LEAST_CORES) if known else ()


def _used(
    before: dict[tuple[int, str], Process], after: dict[tuple[int, str], Process], own: Collection[int]
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


def _family(root: int, processes: dict[tuple[int, str], Process]) -> set[int]:
    """A process and its descendants, as they were at a look."""
    family, born = set[int](), {root}
    while born:
        family |= born
        born = {pid for (pid, _), one in processes.items() if one.parent in born} - family
    return family


def _all() -> dict[tuple[int, str], Process]:
    """Every process by its id and start."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 a path object for each would cost as much as the rest
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat", errors="replace") as file:  # noqa: PTH123
            head, _, tail = file.read().rpartition(")")
            fields = tail.split()
            name = head.partition("(")[2]
            cpu_s = sum(map(int, fields[11:15])) * TICK_S
            found[int(pid), fields[19]] = Process(int(fields[1]), name, cpu_s)
    return found
