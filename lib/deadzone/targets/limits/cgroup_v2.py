"""CPU limits by cgroup v2: `cpu.max`, with accounting from `cpu.stat`.

Files and units: Linux kernel documentation, admin-guide/cgroup-v2. Used as root, or in a sub-tree that was
delegated to the user.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from deadzone.errors import TargetError
from deadzone.targets.limits.base import (
    GROUP_PREFIX,
    PERIOD_US,
    Counters,
    key_values,
    quota_us,
    reason,
    remove_group,
)

MICROSECONDS = 1e6


class CgroupV2:
    """A group of its own below one that hands the cpu controller down."""

    name = "cgroup-v2"

    def __init__(self) -> None:
        self._group: Path | None = None
        self._enabled_in: Path | None = None

    def open(self, group: str) -> None:
        """Make the group in the first place that permits it."""
        mount = v2_mount()
        if mount is None:
            raise TargetError("no cgroup v2 hierarchy is mounted")
        refusals = []
        for parent in _candidates(mount):
            try:
                self._open_below(parent, group)
            except OSError as error:
                self.close()
                refusals.append(reason(error))
            else:
                return
        raise TargetError(refusals[-1] if refusals else f"{mount} has no cpu controller (is this cgroup v1?)")

    def _open_below(self, parent: Path, group: str) -> None:
        if "cpu" not in (parent / "cgroup.subtree_control").read_text().split():
            (parent / "cgroup.subtree_control").write_text("+cpu")
            self._enabled_in = parent
        self._group = parent / group
        self._group.mkdir(exist_ok=True)
        (self._group / "cpu.max").write_text(f"max {PERIOD_US}")

    def wrap(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The launcher needs no wrapping: it is moved once, before any trial."""
        return tuple(argv)

    def adopt(self, pid: int) -> None:
        """Move the launcher into the group."""
        try:
            (self._path / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise TargetError(reason(error)) from error

    def set_cpu_limit(self, cores: float | None) -> None:
        """Write cpu.max; writing it also refills the group's budget."""
        quota = quota_us(cores)
        wanted = f"{'max' if quota is None else quota} {PERIOD_US}"
        try:
            (self._path / "cpu.max").write_text(wanted)
        except OSError as error:
            raise TargetError(f"The CPU limit cannot be set: {reason(error)}.") from error
        verify_cpu_max(self._path, wanted)

    def read(self) -> Counters:
        """The group's cpu.stat and memory.events."""
        return read_v2(self._path)

    def procs_files(self) -> tuple[Path, ...]:
        """The group's process list."""
        return (self._group / "cgroup.procs",) if self._group else ()

    def close(self) -> None:
        """Remove the group, and hand the cpu controller back where it was switched on for it."""
        if self._group:
            remove_group(self._group)
            self._group = None
        if self._enabled_in:
            another_sweep = any(self._enabled_in.glob(f"{GROUP_PREFIX}*"))  # would lose its limit
            if not another_sweep:
                with contextlib.suppress(OSError):
                    (self._enabled_in / "cgroup.subtree_control").write_text("-cpu")
            self._enabled_in = None

    @property
    def _path(self) -> Path:
        assert self._group is not None
        return self._group


def read_v2(group: Path) -> Counters:
    """Accounting of a v2 group; throttling counts are None where it has no cpu controller."""
    stat = key_values(group / "cpu.stat")
    throttled = stat.get("throttled_usec")
    return Counters(
        usage_s=stat["usage_usec"] / MICROSECONDS if "usage_usec" in stat else None,
        user_s=stat["user_usec"] / MICROSECONDS if "user_usec" in stat else None,
        sys_s=stat["system_usec"] / MICROSECONDS if "system_usec" in stat else None,
        nr_periods=stat.get("nr_periods"),
        nr_throttled=stat.get("nr_throttled"),
        throttled_s=None if throttled is None else throttled / MICROSECONDS,
        oom_kills=key_values(group / "memory.events").get("oom_kill"),
    )


def verify_cpu_max(group: Path, wanted: str) -> None:
    """Raise TargetError unless the limit in force is the one that was asked for."""
    in_force = (group / "cpu.max").read_text().strip()
    if in_force != wanted:
        raise TargetError(f"{group}/cpu.max is {in_force!r} where {wanted!r} was asked for.")


def v2_mount() -> Path | None:
    """Where the cgroup v2 hierarchy is mounted, or None."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        if right.split()[0] == "cgroup2":
            return Path(left.split()[4])
    return None


def own_v2_group(pid: int | str = "self") -> Path | None:
    """The v2 group a process is in, or None."""
    mount = v2_mount()
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        if line.startswith("0::") and mount:
            return mount / line[3:].lstrip("/")
    return None


def _candidates(mount: Path) -> Iterator[Path]:
    """Places a group may be made in: for root the top, for all the groups from their own one upwards."""
    if "cpu" not in _words(mount / "cgroup.controllers"):
        return
    if os.geteuid() == 0:
        yield mount
    here = own_v2_group() or mount
    for parent in (here, *here.parents):
        if not parent.is_relative_to(mount):
            return
        if "cpu" in _words(parent / "cgroup.controllers") and os.access(parent, os.W_OK):
            yield parent


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
