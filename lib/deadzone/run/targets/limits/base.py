"""What every way of putting a CPU limit in force has in common."""

import contextlib
import itertools
import os
import re
import signal
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadzone.errors import SaidAs, TargetError
from deadzone.measurement import Sample, difference
from deadzone.run.targets.kernel_files import read_bytes
from deadzone.study.levels import NONE, Level, is_number, read_level

PERIOD_US = 100_000
"""Accounting period of the quota, the kernel's and Kubernetes' default [microseconds]."""

LEAST_LIMIT = 0.01
"""The kernel refuses a quota under 1 ms a period, which is a hundredth of a core [cores]."""

GROUP_PREFIX = "deadzone-"

MADE_NAME = re.compile(
    rf"{GROUP_PREFIX}(?P<pid>\d+)-(?P<ticks>\d+)-(?P<namespace>\d+)(-\w+){{0,2}}(\.scope)?$"
)
"""What group_name gives, and what a further group, a scratch folder or a scope has after it;
nothing else is ever removed."""

LEAST_MEMORY_LIMIT = 16 * 1024 * 1024
"""The launcher alone needs half of this; below it the kernel would kill the harness's own process
[bytes]."""

EMPTYING_TIMEOUT_S = 5.0
"""A killed process may finish a system call first; longer than this only a stuck device takes
[s]."""


THROTTLING = ("nr_periods", "nr_throttled", "throttled_s")
"""What is counted of a limit that is reached."""


REFAULTS = ("", "_anon", "_file")
"""Kinds of pages that are read again after memory had run short of them: of all, as older kernels
count, or apart."""


@dataclass(frozen=True)
class Counters:
    """Readings of a group's accounting; None: the mechanism does not count it.

    All but memory_bytes grow monotonically. memory_peak_bytes is the most the group ever held, its
    page cache included; cpu_stall_s, memory_stall_s and io_stall_s are times in which some task of
    it waited for a core, memory or a device. read_bytes and written_bytes are counted by groups
    whose processes cannot be looked at from here. refaulted_pages were read again after memory had
    run short of them. overhead_s is CPU time of the mechanism itself, none of the program's.
    """

    usage_s: float | None = None
    user_s: float | None = None
    sys_s: float | None = None
    nr_periods: int | None = None
    nr_throttled: int | None = None
    throttled_s: float | None = None
    oom_kills: int | None = None
    memory_bytes: int | None = None
    memory_peak_bytes: int | None = None
    cpu_stall_s: float | None = None
    memory_stall_s: float | None = None
    io_stall_s: float | None = None
    major_faults: int | None = None
    refaulted_pages: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    overhead_s: float = 0.0

    @classmethod
    def of_memory(cls, stat: Mapping[str, int]) -> "Counters":
        """What memory.stat tells; of version 1 with the groups below, which the plain names leave
        out there."""
        total = "total_" if "total_pgmajfault" in stat else ""
        again = [
            stat[name] for kind in REFAULTS if (name := f"{total}workingset_refault{kind}") in stat
        ]
        return cls(
            major_faults=stat.get(f"{total}pgmajfault"),
            refaulted_pages=sum(again) if again else None,
        )

    @classmethod
    def sum(cls, every: "Sequence[Counters]") -> "Counters":
        """Of several groups together; None where any of them lacks it."""
        columns = {name: [getattr(part, name) for part in every] for name in vars(cls())}
        added: dict[str, Any] = {
            name: None if None in column else sum(column) for name, column in columns.items()
        }
        return cls(**added)

    def since(self, before: "Counters") -> "Counters":
        """What grew since an earlier reading; None where either lacks it."""
        grown: dict[str, Any] = {
            name: difference(getattr(before, name), value) for name, value in vars(self).items()
        }
        return Counters(**grown)

    def cpu_times(self, user_s: float, sys_s: float) -> tuple[float, float]:
        """User and system time of what was counted [s].

        The group's total where there is one, for it also holds descendants without a parent that
        waited for them; split as the group says, or where it does not, as user_s and sys_s do,
        which others counted.
        """
        if self.usage_s is None:
            return user_s, sys_s
        if self.user_s or self.sys_s:
            user_s, sys_s = self.user_s or 0.0, self.sys_s or 0.0
        share = user_s / (user_s + sys_s) if user_s + sys_s > 0 else 1.0
        return self.usage_s * share, self.usage_s * (1 - share)

    def series(self, t_s: float) -> list[Sample]:
        """What grew until t_s of a trial, as a reading of its time series."""
        facts = {"cpu_usage_s": self.usage_s, **{name: getattr(self, name) for name in THROTTLING}}
        return [
            Sample(t_s, metric, float(value))
            for metric, value in facts.items()
            if value is not None
        ]


class LimitMechanism:
    """One way to limit the CPU of the launcher and all it starts; as it stands here, one that makes
    no control group and knows no limit, for studies without any on machines that permit nothing."""

    name = "unlimited"

    def open(self, group: str) -> None:
        """Make the group. Raises TargetError, with the reason, where this mechanism does not work
        here."""

    def wrap(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The argument vector that starts the launcher, which most move once, before any trial."""
        return tuple(argv)

    def adopt(self, pid: int) -> None:
        """Put the launcher into the group. Raises TargetError if that is not permitted."""

    def set_cpu_limit(self, cores: float | None) -> None:
        """Put a limit in force and read it back; None removes it. Raises TargetError if it is not
        in force, or is nothing this mechanism knows."""
        if cores is not None:
            raise TargetError(
                f"The mechanism is {self.name}, so a CPU limit of {cores:g} cores cannot be set."
            )

    def set_memory_limit(self, size: int | None) -> None:
        """Put a limit of so many bytes in force and read it back; None removes it. Raises
        TargetError if it is not in force, or is nothing this mechanism knows."""
        if size is not None:
            raise TargetError(
                f"A memory limit of {size:,} bytes needs a control group, and the mechanism is "
                f"{self.name}."
            )

    def read(self) -> Counters:
        """The group's accounting now; without a group CPU time comes from the program's own."""
        return Counters()

    def procs_files(self) -> tuple[Path, ...]:
        """Files that list the processes of the group; empty where the mechanism has no group."""
        return ()

    def close(self) -> None:
        """Remove what open made. Called when no process is left in the group; never raises."""


class ControlGroup(LimitMechanism):
    """A control group of either version, made here or there already, by its folder in each
    hierarchy."""

    hierarchy: str
    """The one in which the CPU is limited."""

    def __init__(self, folders: Mapping[str, Path] | None = None) -> None:
        """folders: those of a group that is there already, by hierarchy; by default open makes
        them."""
        self.folders: dict[str, Path] = dict(folders or {})
        """The group in each hierarchy."""
        self._list = "cgroup.procs"

    @property
    def folder(self) -> Path:
        """The group where the CPU is limited."""
        return self.folders[self.hierarchy]

    def adopt(self, pid: int) -> None:
        """Move the launcher into the group, in every hierarchy."""
        for path in set(self.folders.values()):
            with SaidAs(TargetError, f"{path}/cgroup.procs"):
                (path / "cgroup.procs").write_text(str(pid))

    def procs_files(self) -> tuple[Path, ...]:
        """The group's process list; all hierarchies hold the same processes."""
        return (self.folder / self._list,) if self.folders else ()


_COUNT = itertools.count(1)


def group_name(counted: bool = False) -> str:
    """A name that tells later which process made the group, and whether that process still lives.
    counted: with a number, so that nothing else of this process has the same."""
    name = f"{GROUP_PREFIX}{os.getpid()}-{start_ticks(os.getpid())}-{pid_namespace()}"
    return f"{name}-{next(_COUNT)}" if counted else name


def proc_lines(name: str) -> list[str]:
    """Lines of a file below /proc; none on systems without it."""
    path = Path("/proc", name)
    return path.read_text(errors="surrogateescape").splitlines() if path.exists() else []


def pid_namespace() -> int:
    """Which numbering of processes is meant: a container's process 7 is another one than the
    host's; 0 without /proc."""
    own = Path("/proc/self/ns/pid")
    return own.stat().st_ino if own.exists() else 0


def start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if there is none, or only its
    zombie."""
    fields = read_bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return None if not fields or fields[0] in b"ZX" else int(fields[19])


def is_left_over(name: str) -> bool:
    """Whether a name was given by group_name, in a process that has ended. One from another
    numbering of processes, as of a container, can be judged in there alone."""
    made = MADE_NAME.match(name)
    if not made or int(made["namespace"]) != pid_namespace():
        return False
    return start_ticks(int(made["pid"])) != int(made["ticks"])


def as_cores(level: Level) -> float | None:
    """The cores of a limit level; None for `none`, and for one that is left unchanged."""
    cores = read_level(level)  # a table with a word among its levels holds texts
    return float(cores) if is_number(cores) else None


def quota_us(cores: float | None) -> int | None:
    """The quota of a limit in microseconds a period; None for no limit.

    Raises TargetError below the least limit the kernel takes.
    """
    if cores is None:
        return None
    if cores < LEAST_LIMIT:
        raise TargetError(
            f"A CPU limit of {cores:g} cores is too small: the kernel takes {LEAST_LIMIT} cores or "
            "more."
        )
    return round(cores * PERIOD_US)


def as_bytes(level: Level) -> int | None:
    """The bytes of a memory limit; None for `none`.

    Raises TargetError below the least limit that the harness itself can live in.
    """
    if level == NONE:
        return None
    size = int(float(level))
    if size < LEAST_MEMORY_LIMIT:
        raise TargetError(
            f"A memory limit of {size:,} bytes is too small: {LEAST_MEMORY_LIMIT:,} bytes are the "
            "least here."
        )
    return size


def kill_all(procs_files: Iterable[Path], spare: Collection[int] = ()) -> None:
    """Kill every process the files list but the spared ones, until none is left."""
    killed: set[int] = set()
    deadline = time.monotonic() + EMPTYING_TIMEOUT_S
    while time.monotonic() < deadline:
        pids = {int(pid) for path in procs_files for pid in read_bytes(path).split()} - {0, *spare}
        if not pids:
            break
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if pids <= killed:
            time.sleep(0.001)
        killed |= pids


def remove_group(path: Path) -> bool:
    """Remove a control group, waiting for the last processes to leave it; whether it is gone."""
    deadline = time.monotonic() + EMPTYING_TIMEOUT_S
    while path.is_dir():
        try:
            path.rmdir()
        except FileNotFoundError:
            break
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
    return True
