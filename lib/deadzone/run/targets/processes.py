"""Processes as proc(5) shows them: which there are below one, and what they and those that ended
have used."""

import contextlib
import re
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import psutil

from deadzone.run.targets.kernel_files import TICK_S, key_values, read_bytes

READINGS = 4
"""Where processes come and go all the time no reading is whole; so many are enough for a server
that ends its own as its client ends."""


@dataclass(frozen=True)
class ProcessTotals:
    """Processes added up.

    user_s, sys_s, major_faults, read_bytes and written_bytes hold also the descendants that ended
    and were waited for; the bytes are those asked of a device, page cache and memory-backed file
    systems left out. threads and rss_bytes are of the moment; largest_rss_bytes is the most that a
    single one of them ever held.
    """

    user_s: float = 0.0
    sys_s: float = 0.0
    major_faults: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    threads: int = 0
    rss_bytes: int = 0
    largest_rss_bytes: int = 0

    def __add__(self, other: "ProcessTotals") -> "ProcessTotals":
        sums = {
            name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__
        }
        sums["largest_rss_bytes"] = max(self.largest_rss_bytes, other.largest_rss_bytes)
        return ProcessTotals(**sums)


HELD = ("threads", "rss_bytes", "largest_rss_bytes")
"""What processes hold at a moment, and do not add to over time."""

There = TypeVar("There")
Read = TypeVar("Read")


def whole(there: Callable[[], There], read: Callable[[There], Read]) -> Read:
    """What is read of processes, again where others are there after it than before.

    What a process used that ended meanwhile is in no account: it was not there to be read, and its
    parent's was read before.
    """
    before = there()
    for _ in range(READINGS):
        reading, after = read(before), there()
        if after == before:
            break
        before = after
    return reading


def totals(pids: Iterable[int], account_only: Iterable[int] = ()) -> ProcessTotals:
    """What processes have used; those that ended meanwhile are in the account of whoever waited for
    them.

    account_only: of these only what they and their ended descendants used counts, not what they
    hold now.
    """
    nothing = dict.fromkeys(HELD, 0)
    return sum(
        (*map(_of, pids), *(replace(_of(pid), **nothing) for pid in account_only)), ProcessTotals()
    )


def _of(pid: int) -> ProcessTotals:
    fields = read_bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if not fields:
        return ProcessTotals()
    # io only of the user's own
    status, io = (key_values(f"/proc/{pid}/{name}") for name in ("status", "io"))
    return ProcessTotals(
        user_s=(int(fields[11]) + int(fields[13])) * TICK_S,
        sys_s=(int(fields[12]) + int(fields[14])) * TICK_S,
        major_faults=int(fields[9]) + int(fields[10]),
        read_bytes=io.get("read_bytes", 0),
        written_bytes=io.get("write_bytes", 0),
        threads=int(fields[17]),
        rss_bytes=status.get("VmRSS", 0) * 1024,
        largest_rss_bytes=status.get("VmHWM", 0) * 1024,
    )


def listed(files: Iterable[Path]) -> tuple[int, ...]:
    """Process ids in files that list them, each once. A list of threads gives the processes they
    belong to."""
    pids: dict[int, None] = {}
    for path in files:
        with contextlib.suppress(OSError):
            pids.update(dict.fromkeys(int(line) for line in path.read_text().split()))
    return tuple(pid for pid in pids if key_values(f"/proc/{pid}/status").get("Tgid", pid) == pid)


def below(*pids: int) -> tuple[int, ...]:
    """Descendants of processes that run now, without these."""
    children: dict[int, None] = {}
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            children.update(
                dict.fromkeys(child.pid for child in psutil.Process(pid).children(recursive=True))
            )
    return tuple(pid for pid in children if pid not in pids)


def waits_for_children(pid: int) -> bool:
    """Whether a process is told of the ends of its children: one that ignores SIGCHLD has the
    kernel clear them away, and their time is added to nothing (wait(2), times(2))."""
    ignored = re.search(rb"^SigIgn:\s*(\w+)", read_bytes(f"/proc/{pid}/status"), re.MULTILINE)
    return not (ignored and int(ignored[1], 16) >> (signal.SIGCHLD - 1) & 1)


def names_of(pid: int) -> tuple[str, ...]:
    """What a process is called: by the kernel, and by its program; empty for one of the kernel's
    own, or that is gone."""
    try:
        arguments, own = (
            psutil.Process(pid).cmdline(),
            Path(f"/proc/{pid}/comm").read_text(errors="replace").strip(),
        )
    except (psutil.Error, OSError):
        return ()
    program = arguments[0].rpartition("/")[2].split(" ")[0].rstrip(":") if arguments else ""
    return tuple(dict.fromkeys(name for name in (own, program) if name)) if arguments else ()


def listening() -> dict[int, tuple[int, ...]]:
    """The TCP ports that are listened on, each with the processes that do, as far as this user may
    see them."""
    listeners: dict[int, dict[int, None]] = {}
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN:
            listeners.setdefault(connection.laddr.port, {}).update(
                {connection.pid: None} if connection.pid else {}
            )
    return {port: tuple(pids) for port, pids in listeners.items()}
