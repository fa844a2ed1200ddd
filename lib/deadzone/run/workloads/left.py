"""Processes that a setup or a preparation leaves running, such as a server that makes a daemon of
itself.

They are known by a variable of their environment and by an open file, which a process inherits
whoever becomes its parent. nginx and PostgreSQL write their titles over the environment that they
were started in; sudo closes files.
"""

import os
import time
import uuid
from collections.abc import Collection, Iterator
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

Processes = Collection[psutil.Process]


class LeftRunning:
    """What the unmeasured programs of one sweep left running."""

    def __init__(self) -> None:
        self._mark = uuid.uuid4().hex
        self._before: dict[psutil.Process, list[str]] = {}

    @contextmanager
    def inherited(self) -> Iterator[tuple[dict[str, str], int]]:
        """The environment of an unmeasured program, and a file that it is to keep open."""
        self._before = self._before or {one: _argv(one) for one in psutil.process_iter()}
        file = os.memfd_create(self._mark)
        try:
            yield {**os.environ, VARIABLE: self._mark}, file
        finally:
            os.close(file)

    def processes(self) -> list[psutil.Process]:
        """Those that run now, by what they inherited."""
        there = psutil.process_iter() if self._before else ()
        return [one for one in there if one not in self._before and self._inherited_by(one.pid)]

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

        One with the command line of a process that was up before the sweep and is gone, such as a
        server that was started again, is left running, and said.
        """
        ran_before = [argv for process, argv in self._before.items() if argv and not _runs(process)]
        left = self.processes()
        kept = [process for process in left if _argv(process) in ran_before]
        ours = [process for process in left if process not in kept]
        parts = [f"left {named(kept)} running, as before the sweep"] if kept else []
        parts += [f"left {named(ours)} running, which was ended"] if ours else []
        _end(ours)
        return f"What the study prepared {' and '.join(parts)}." if parts else ""


def listed(processes: Processes) -> str:
    """Processes as a column has them: `redis-server 4711@98765`, by their ids, with the time of
    their start in clock ticks since boot."""
    return ", ".join(
        f"{_name(one).replace(',', ' ')} {one.pid}@{start_ticks(one.pid)}" for one in processes
    )


def named(processes: Processes) -> str:
    """Processes in a sentence: `redis-server (4711)`."""
    shown = [f"{_name(one)} ({one.pid})" for one in [*processes][:MOST_NAMED]]
    return ", ".join(shown) + (" and others" if len(processes) > MOST_NAMED else "")


def _target(file: Path) -> str:
    with suppress(OSError):  # closed meanwhile
        return str(file.readlink())
    return ""


def _name(process: psutil.Process) -> str:
    return next(iter(names_of(process.pid)), "")


def _argv(process: psutil.Process) -> list[str]:
    """A command line: of a name there are many, such as python3, and one ends at any time."""
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _end(processes: Processes) -> None:
    """SIGTERM, and SIGKILL for those that do not end."""
    for process in processes:
        with suppress(psutil.Error):
            process.terminate()
    until_s = time.monotonic() + ENDS_WITHIN_S
    while any(map(_runs, processes)) and time.monotonic() < until_s:
        time.sleep(LOOK_AGAIN_S)
    for process in filter(_runs, processes):
        with suppress(psutil.Error):
            process.kill()
