"""Files in which the kernel tells figures, read with as few calls as there can be: a trial of
milliseconds waits for each.

Formats: proc(5); Linux kernel documentation, admin-guide/cgroup-v1, admin-guide/cgroup-v2 and
accounting/psi.
"""

import os
from pathlib import Path

TICK_S = 1 / os.sysconf("SC_CLK_TCK")

MOST_BYTES = 65_536
"""Longer ones, such as the list of all interrupts in /proc/stat, are told in part; the totals stand
first."""


_KEPT: dict[str, dict[str, int]] = {"/proc": {}, "/proc/pressure": {}}
"""Files that are read again and again, by folder and path, with their descriptors: to open one
takes three times as long as to read it."""


LISTS = ("cgroup.procs", "tasks")
"""Lists of processes and threads, which cgroup v1 makes when the file is opened and keeps for as
long as it is read: one that stays open says that what was killed is there still, and a trial that
timed out took 5 s longer to be ended."""


def keep_open(folder: str | Path) -> None:
    """Keep the files of a folder open from their first reading on, until it is let go of."""
    _KEPT.setdefault(str(folder), {})


def let_go(folder: str | Path) -> None:
    """Close the files of a folder, and keep none open."""
    for descriptor in _KEPT.pop(str(folder), {}).values():
        os.close(descriptor)


def read_bytes(path: str | Path) -> bytes:
    """What a file says now; nothing where there is none, as of a process that has ended, or none
    that may be read."""
    name = str(path)
    folder, _, last = name.rpartition("/")
    kept = None if last in LISTS else _KEPT.get(folder)
    return _read(name) if kept is None else _read_again(name, kept)


def _read_again(path: str, kept: dict[str, int]) -> bytes:
    try:
        if path not in kept:
            kept[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(kept[path], MOST_BYTES, 0)
    except OSError:  # there is none, or it was removed and made anew
        if path in kept:
            os.close(kept.pop(path))
        return _read(path)


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, MOST_BYTES)
        finally:
            os.close(descriptor)
    except OSError:
        return b""


def tell(path: str | Path, value: object) -> None:
    """Write a value to a file of the kernel's. Raises OSError where it refuses it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)


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


def flat_keyed(path: str | Path) -> dict[str, int]:
    """A file of `key number` lines alone, as of a control group, as a dict; empty if there is no
    such file. It takes half the time of `key_values`."""
    words = read_bytes(path).decode(errors="replace").split()
    pairs = zip(words[::2], words[1::2], strict=False)
    return {key: int(number) for key, number in pairs if number.isdecimal()}


def stall_s(path: str | Path) -> float | None:
    """Seconds in which some task was stalled, from a file of pressure stall information; None
    without one."""
    first, _, _ = read_bytes(path).partition(b"\n")
    return int(first.rpartition(b"total=")[2]) / 1e6 if first else None
