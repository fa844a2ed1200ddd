"""Files in which the kernel tells figures, read with as few calls as there can be: a trial of
milliseconds waits for each.

Formats: proc(5); Linux kernel documentation, admin-guide/cgroup-v1, admin-guide/cgroup-v2 and
accounting/psi.
"""

import os
from pathlib import Path

TICK_S = 1 / os.sysconf("SC_CLK_TCK")

NANOSECONDS, MICROSECONDS = 1e9, 1e6
"""So many are a second."""

MOST_BYTES = 65_536
"""Longer ones, such as the list of all interrupts in /proc/stat, are told in part; the totals stand
first."""


def read_bytes(path: str | Path) -> bytes:
    """What a file says now; nothing where there is none, as of a process that has ended, or none
    that may be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, MOST_BYTES)
        finally:
            os.close(descriptor)
    except OSError:
        return b""


def whole_number(path: str | Path) -> int | None:
    """The number in a file; None without the file, or where it says `max`."""
    try:
        return int(read_bytes(path))
    except ValueError:
        return None


def key_values(path: str | Path) -> dict[str, int]:
    """A file of `key number` or `key: number unit` lines, as a dict; empty if there is no such
    file."""
    pairs = (line.split()[:2] for line in read_bytes(path).splitlines())
    return {
        pair[0].rstrip(b":").decode(errors="replace"): int(pair[1])
        for pair in pairs
        if len(pair) == 2 and pair[1].removeprefix(b"-").isdigit()
    }


def stall_s(path: str | Path) -> float | None:
    """Seconds in which some task was stalled, from a file of pressure stall information; None
    without one."""
    first, _, _ = read_bytes(path).partition(b"\n")
    return int(first.rpartition(b"total=")[2]) / MICROSECONDS if first else None
