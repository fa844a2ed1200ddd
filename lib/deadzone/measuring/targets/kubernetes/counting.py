"""The accounting of a container at one moment, as the launcher tells it, in the form of the local groups'."""

from __future__ import annotations

import re
from dataclasses import replace

from deadzone.measuring.targets.kubernetes.accounting import Reading
from deadzone.measuring.targets.limits.base import Counters

MAJOR_FAULTS = ("pgmajfault", "total_pgmajfault")
"""In memory.stat of cgroup v2, and of v1, where the plain name leaves out groups below."""

READ = re.compile(r"\b(?:rbytes=|Read )(\d+)")
WRITTEN = re.compile(r"\b(?:wbytes=|Write )(\d+)")
STALLED = re.compile(r"^some .*\btotal=(\d+)$")


def parse(text: str) -> Counters:
    """What the launcher printed, as counters; what the container's cgroups do not tell is None."""
    reading = Reading()
    lines: dict[str, list[str]] = {"memory_stat": [], "io_stat": [], "memory_pressure": [], "io_pressure": []}
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        if key in lines:
            lines[key].append(rest)
        else:
            reading.add(line)
    faults = dict(line.split(" ", 1) for line in lines["memory_stat"] if line.startswith(MAJOR_FAULTS))
    return replace(
        reading.counters(),
        memory_stall_s=_stalled_s(lines["memory_pressure"]),
        io_stall_s=_stalled_s(lines["io_pressure"]),
        major_faults=int(max(faults.values(), key=int)) if faults else None,
        read_bytes=_sum(READ, lines["io_stat"]),
        written_bytes=_sum(WRITTEN, lines["io_stat"]),
    )


def _sum(what: re.Pattern[str], lines: list[str]) -> int | None:
    """Over all devices; None where the container cannot see its I/O at all."""
    found = [int(number) for line in lines for number in what.findall(line)]
    return sum(found) if found else None


def _stalled_s(lines: list[str]) -> float | None:
    found = [match[1] for line in lines if (match := STALLED.match(line))]
    return int(found[0]) / 1e6 if found else None
