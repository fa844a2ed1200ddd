"""I/O limits on the disk below a folder: bytes and calls a second, for reads and for writes each.

By cgroup v2 `io.max` in the group of the mechanism in force, or by cgroup v1 `blkio.throttle.*` in
a group of our own in that hierarchy, whatever limits the CPU. Files and units: Linux kernel
documentation, admin-guide/cgroup-v2 and cgroup-v1/blkio-controller. Under v1 only what bypasses the
page cache is slowed down as it is written: the kernel writes the cache out later, in a group of its
own.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from deadzone.errors import SaidAs, TargetError
from deadzone.run.targets.limits.base import remove_group
from deadzone.run.targets.limits.cgroup_v1 import v1_homes
from deadzone.study.levels import NONE, Level

IO_LIMITS = ("io_bandwidth_limit", "iops_limit")
"""Names of the factors."""

V1_FILES = {
    "blkio.throttle.read_bps_device": "bandwidth",
    "blkio.throttle.write_bps_device": "bandwidth",
    "blkio.throttle.read_iops_device": "calls",
    "blkio.throttle.write_iops_device": "calls",
}
"""The field of a limit that each file of cgroup v1 holds."""

V2_KEYS = {"rbps": "bandwidth", "wbps": "bandwidth", "riops": "calls", "wiops": "calls"}
"""The field of a limit that each key of io.max of cgroup v2 holds."""

BLOCK_DEVICES = Path("/sys/dev/block")


@dataclass(frozen=True)
class IoLimit:
    """A limit in each direction. bandwidth: [bytes/s]. calls: reads or writes [1/s]. None: no
    limit, as of both by default."""

    bandwidth: int | None = None
    calls: int | None = None


class IoLimiter:
    """Puts I/O limits of one disk in force for the launcher and all it starts."""

    def __init__(self, folder: Path, limits: Sequence[IoLimit] = ()) -> None:
        """folder: the one whose disk is meant. limits: all that the study will ask for."""
        self._folder, self._limits = folder, limits
        self._device = ""
        self._max: Path | None = None
        self._group: Path | None = None
        self.name = ""

    def open(self, group: str, pid: int, procs_files: Sequence[Path]) -> None:
        """Find the way that works here. group: name for a group of our own. pid: the launcher.
        procs_files: of the group that it is in already.

        Raises TargetError, with the reason, where there is none, or a limit of the study is
        refused.
        """
        self._device = throttled_device(self._folder)
        self._find(group, pid, procs_files)
        for limit in (*self._limits, IoLimit()):
            self.set(limit)

    def _find(self, group: str, pid: int, procs_files: Sequence[Path]) -> None:
        for path in procs_files:
            if (path.parent / "io.max").exists():
                self._max, self.name = path.parent / "io.max", "io.max"
                return
        home = v1_homes().get("blkio")
        if home is None:
            raise TargetError(
                "I/O cannot be limited here: the group has no io.max (is the io controller handed "
                "down to it?), and the cgroup v1 controller blkio is not mounted. Run as root on a "
                "system with either"
            )
        with SaidAs(TargetError, "I/O cannot be limited here", names_file=True):
            self._group = home / group
            self._group.mkdir(exist_ok=True)
            if not (self._group / next(iter(V1_FILES))).exists():
                raise TargetError(
                    "I/O cannot be limited here: this kernel's blkio controller does not throttle"
                )
            (self._group / "cgroup.procs").write_text(str(pid))
        self.name = "blkio.throttle"

    def set(self, limit: IoLimit) -> None:
        """Put a limit in force and read it back. Raises TargetError if it is not in force."""
        with SaidAs(
            TargetError, f"The I/O limit of disk {self._device} cannot be set", names_file=True
        ):
            if self._max:
                wanted = " ".join(
                    f"{key}={getattr(limit, field) or 'max'}" for key, field in V2_KEYS.items()
                )
                self._write(self._max, wanted, None if limit == IoLimit() else wanted)
            elif group := self._group:
                for name, field in V1_FILES.items():
                    value = getattr(limit, field)
                    self._write(group / name, value or 0, value and str(value))

    def _write(self, path: Path, value: object, wanted: str | None) -> None:
        """Write what holds for this disk. Raises TargetError unless the file, of lines that begin
        with a device, has what is wanted of this one; no line where it has no limit."""
        path.write_text(f"{self._device} {value}")
        lines = path.read_text().splitlines()
        in_force = dict(line.split(maxsplit=1) for line in lines if line.strip()).get(self._device)
        if in_force != wanted:
            raise TargetError(f"{path} is {in_force} where {wanted} was asked for.")

    def close(self) -> None:
        """Remove the group that was made. Called when no process is left in it; never raises."""
        if self._group:
            remove_group(self._group)
        self._group = self._max = None


def io_limit(bandwidth: Level, calls: Level) -> IoLimit:
    """The limit of two levels, each a number or `none`."""
    return IoLimit(_number(bandwidth), _number(calls))


def _number(level: Level) -> int | None:
    return None if level == NONE else max(1, round(float(level)))


def throttled_device(folder: Path) -> str:
    """major:minor of the whole disk below a folder: the kernel limits disks, not partitions.

    Raises TargetError where there is no block device below it.
    """
    existing = next((path for path in (folder, *folder.parents) if path.is_dir()), Path("/"))
    disk = disk_below(existing)
    if disk is None:
        raise TargetError(
            f"I/O of {existing} cannot be limited: no block device is seen below its file system "
            "(memory, network, or a container's overlay). Name a folder on a disk"
        )
    return (disk / "dev").read_text().strip()


def mount_of(folder: Path) -> Any:
    """The mount that holds a folder, as psutil tells of it: the last one with the longest fitting
    mount point."""
    path = str(folder.resolve())
    around = [
        mount
        for mount in psutil.disk_partitions(all=True)
        if f"{path}/".startswith(f"{mount.mountpoint.rstrip('/')}/")
    ]
    return max(reversed(around), key=lambda mount: len(mount.mountpoint))


def disk_below(folder: Path) -> Path | None:
    """Where the kernel tells of the whole disk that a folder's file system is on; None where there
    is none."""
    for number in _numbers(folder):
        place = BLOCK_DEVICES / f"{os.major(number)}:{os.minor(number)}"
        if place.exists():
            place = place.resolve()
            return place.parent if (place / "partition").exists() else place
    return None


def _numbers(folder: Path) -> Iterator[int]:
    """What the file system of a folder may be numbered by: btrfs numbers it apart from its
    device."""
    yield folder.stat().st_dev
    source = mount_of(folder).device
    if source.startswith("/dev/") and Path(source).is_block_device():
        yield Path(source).stat().st_rdev
