"""Processes that a setup or a preparation leaves running, such as a server that makes a daemon of
itself.

They are known by a variable of their environment and by an open file, which a process inherits
whoever becomes its parent. nginx and PostgreSQL write their titles over the environment that they
were started in; sudo closes files.
"""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from deadzone.run.targets.limits.base import start_ticks
from deadzone.run.targets.processes import names_of

VARIABLE = "DEADZONE_PREPARED_BY"

ENDS_WITHIN_S, LOOK_AGAIN_S = 5.0, 0.05
"""A server ends within so long of SIGTERM; how long between two looks [s]."""

MOST_NAMED = 3
"""So many processes are named in a message."""

Processes = Mapping[int, int]
"""Process ids, each with the time of its start in clock ticks since boot."""


class LeftRunning:
    """What the unmeasured programs of one sweep left running."""

    def __init__(self) -> None:
        self._mark = uuid.uuid4().hex
        self._before: dict[int, tuple[int | None, str]] = {}

    @contextmanager
    def inherited(self) -> Iterator[tuple[dict[str, str], int]]:
        """The environment of an unmeasured program, and a file that it is to keep open."""
        self._before = self._before or {
            pid: (start_ticks(pid), _name(pid)) for pid in psutil.pids()
        }
        file = os.memfd_create(self._mark)
        try:
            yield {**os.environ, VARIABLE: self._mark}, file
        finally:
            os.close(file)

    def processes(self) -> Processes:
        """Those that run now, by what they inherited."""
        starts: dict[int, int] = {}
        for pid in psutil.pids() if self._before else ():
            ticks = start_ticks(pid)
            if ticks and self._before.get(pid, (None,))[0] != ticks and self._inherited_by(pid):
                starts[pid] = ticks
        return starts

    def _inherited_by(self, pid: int) -> bool:
        """Whether a process that is not this one has the variable or the file."""
        mark, folder = f"{VARIABLE}={self._mark}".encode(), Path(f"/proc/{pid}")
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                return True
            files = (folder / "fd").iterdir() if pid != os.getpid() else ()
            return any(f"memfd:{self._mark}" in _target(file) for file in files)
        return False

    def end(self) -> str:
        """End them, and say which they were; empty where there were none.

        One that took the place of a process of the same name, which was up before the sweep and is
        gone, such as a server that was started again, is left running, and said.
        """
        ran_before = {name for pid, (ticks, name) in self._before.items() if _gone(pid, ticks)}
        left = self.processes()
        kept = {pid: ticks for pid, ticks in left.items() if _name(pid) in ran_before}
        ours = {pid: ticks for pid, ticks in left.items() if pid not in kept}
        parts = [f"left {named(kept)} running, as before the sweep"] if kept else []
        parts += [f"left {named(ours)} running, which was ended"] if ours else []
        _end(ours)
        return f"What the study prepared {' and '.join(parts)}." if parts else ""


def listed(processes: Processes) -> str:
    """Processes as a column has them: `redis-server 4711@98765`, by their ids."""
    each = ((_name(pid).replace(",", " "), pid, processes[pid]) for pid in sorted(processes))
    return ", ".join(f"{name} {pid}@{ticks}" for name, pid, ticks in each)


def named(processes: Processes) -> str:
    """Processes in a sentence: `redis-server (4711)`."""
    shown = [f"{_name(pid)} ({pid})" for pid in [*processes][:MOST_NAMED]]
    return ", ".join(shown) + (" and others" if len(processes) > MOST_NAMED else "")


def _target(file: Path) -> str:
    with suppress(OSError):  # closed meanwhile
        return str(file.readlink())
    return ""


def _name(pid: int) -> str:
    return next(iter(names_of(pid)), "")


def _gone(pid: int, ticks: int | None) -> bool:
    return start_ticks(pid) != ticks


def _end(processes: Processes) -> None:
    """SIGTERM, and SIGKILL for those that do not end."""
    until_s = time.monotonic() + ENDS_WITHIN_S
    _signal(processes, signal.SIGTERM)
    while any(not _gone(*process) for process in processes.items()):
        if time.monotonic() > until_s:
            _signal(processes, signal.SIGKILL)
            return
        time.sleep(LOOK_AGAIN_S)


def _signal(processes: Processes, number: int) -> None:
    for pid, ticks in processes.items():
        with suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                if not _gone(pid, ticks):
                    signal.pidfd_send_signal(handle, number)
            finally:
                os.close(handle)
