"""Limits by cgroup v1: `cpu.cfs_quota_us` and `memory.limit_in_bytes`, with accounting from cpuacct
and memory.

Files and units: Linux kernel documentation, admin-guide/cgroup-v1 and scheduler/sched-bwc.

Also the group of either version that a process is in, or that has a name, whoever made it: a
server's, or a container's.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deadzone.errors import SaidAs, TargetError, system_reason
from deadzone.run.targets.kernel_files import NANOSECONDS, key_values, stall_s, whole_number
from deadzone.run.targets.limits.base import (
    PERIOD_US,
    ControlGroup,
    Counters,
    proc_lines,
    quota_us,
    remove_group,
)
from deadzone.run.targets.limits.cgroup_v2 import (
    PAGE_BYTES,
    UNIFIED,
    CgroupV2,
    has_cpu_controller,
    mounted,
    own_v2_group,
    v2_mount,
)
from deadzone.run.targets.processes import listed

NO_MEMORY_LIMIT = 2**62
"""Without a limit the kernel tells the largest number of pages it can count [bytes]."""

NOWHERE = Path("/nowhere")
"""In place of the group of a controller that is not there: its files say nothing."""

CONTROLLERS = ("cpu", "cpuacct", "memory", "blkio")


class CgroupV1(ControlGroup):
    """A group of its own in the hierarchies of cpu and cpuacct, and of memory where there is one.
    One in the v2 hierarchy, which systems with v1 controllers have beside them, tells its stalls.
    """

    name = "cgroup-v1"
    hierarchy = "cpu"

    def open(self, group: str) -> None:
        """Make the groups below the ones this process is in."""
        homes, beside = v1_homes(), v2_mount()
        if beside and (beside / "io.pressure").exists():
            homes[UNIFIED] = beside
        for controller in ("cpu", "cpuacct"):
            if controller not in homes:
                raise TargetError(f"the cgroup v1 controller {controller} is not mounted")
        try:
            for controller in ("cpu", "cpuacct"):
                self._make(homes[controller], group, controller)
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        except OSError as error:
            self.close()
            raise TargetError(system_reason(error)) from error
        for further in homes.keys() & {"memory", UNIFIED}:
            with contextlib.suppress(OSError):
                self._make(homes[further], group, further)

    def _make(self, home: Path, group: str, controller: str) -> None:
        (home / group).mkdir(exist_ok=True)
        self.folders[controller] = home / group

    def set_cpu_limit(self, cores: float | None) -> None:
        """Write the quota, -1 for none; writing it also refills the group's budget."""
        quota = quota_us(cores) or -1
        with SaidAs(TargetError, "The CPU limit cannot be set", names_file=True):
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))
            in_force = whole_number(f"{self.folder}/cpu.cfs_quota_us")
        if in_force != quota:
            raise TargetError(
                f"The CPU limit is {in_force} us a period where {quota} us was asked for."
            )

    def set_memory_limit(self, size: int | None) -> None:
        """Write the limit, -1 for none. Nothing is swapped out: the limit is to be met, not to be
        paged around."""
        memory = self.folders.get("memory")
        if memory is None:
            if size is None:
                return
            raise TargetError("the cgroup v1 controller memory is not mounted, or not permitted")
        with SaidAs(TargetError, "The memory limit cannot be set", names_file=True):
            with contextlib.suppress(OSError):
                (memory / "memory.swappiness").write_text("0")
            (memory / "memory.limit_in_bytes").write_text(str(size or -1))
            in_force = whole_number(f"{memory}/memory.limit_in_bytes") or 0
        if size is not None and not size - PAGE_BYTES < in_force <= size:
            raise TargetError(f"The memory limit is {in_force} bytes where {size} were asked for.")

    def read(self) -> Counters:
        """Precise CPU time (nanoseconds in the kernel) and the bandwidth controller's counts."""
        cpuacct = self.folders["cpuacct"]
        memory, pressure = (self.folders.get(name, NOWHERE) for name in ("memory", UNIFIED))
        stat = key_values(f"{self.folder}/cpu.stat")
        used = (whole_number(f"{cpuacct}/cpuacct.usage{part}") for part in ("", "_user", "_sys"))
        usage_s, user_s, sys_s = (
            None if time_ns is None else time_ns / NANOSECONDS for time_ns in used
        )
        return replace(
            Counters.of_memory(key_values(f"{memory}/memory.stat")),
            usage_s=usage_s,
            user_s=user_s,
            sys_s=sys_s,
            nr_periods=stat.get("nr_periods"),
            nr_throttled=stat.get("nr_throttled"),
            throttled_s=stat.get("throttled_time", 0) / NANOSECONDS,
            oom_kills=key_values(f"{memory}/memory.oom_control").get("oom_kill"),
            memory_bytes=whole_number(f"{memory}/memory.usage_in_bytes"),
            memory_peak_bytes=whole_number(f"{memory}/memory.max_usage_in_bytes"),
            cpu_stall_s=stall_s(f"{pressure}/cpu.pressure"),
            memory_stall_s=stall_s(f"{pressure}/memory.pressure"),
            io_stall_s=stall_s(f"{pressure}/io.pressure"),
        )

    def limit_files(self) -> tuple[Path, ...]:
        """What putting limits in force writes to."""
        memory = self.folders.get("memory", NOWHERE)
        cpu = (self.folder / f"cpu.cfs_{name}_us" for name in ("period", "quota"))
        further = (memory / f"memory.{name}" for name in ("swappiness", "limit_in_bytes"))
        return (*cpu, *(path for path in further if path.exists()))

    def limits(self) -> tuple[float | None, int | None]:
        """CPU and memory limit in force, in cores and bytes; None: no limit."""
        quota, period = (
            whole_number(f"{self.folder}/cpu.cfs_{name}_us") or 0 for name in ("quota", "period")
        )
        size = whole_number(self.folders.get("memory", NOWHERE) / "memory.limit_in_bytes")
        limited = size if size and size < NO_MEMORY_LIMIT else None
        return (quota / period if quota > 0 else None), limited

    def close(self) -> None:
        """Remove the groups."""
        for path in set(self.folders.values()):
            remove_group(path)
        self.folders = {}


def v1_homes(pid: int | str = "self") -> dict[str, Path]:
    """The folder of a process's group in the hierarchy of each mounted v1 controller."""
    own: dict[str, str] = {}
    for line in proc_lines(f"{pid}/cgroup"):
        _, controllers, path = line.split(":", 2)
        own.update(dict.fromkeys(controllers.split(","), path))
    homes: dict[str, Path] = {}
    for controller, root, mount in _mounted():
        if controller in own:
            inside = own[controller].removeprefix(root if root != "/" else "").lstrip("/")
            homes[controller] = mount / inside if (mount / inside).is_dir() else mount
    return homes


def v1_mounts() -> dict[str, Path]:
    """Where the hierarchies are mounted in which groups are made, by controller."""
    return {controller: mount for controller, _, mount in _mounted() if controller in CONTROLLERS}


def _mounted() -> Iterator[tuple[str, str, Path]]:
    """Each mounted v1 controller with the group that is its root here, and its mount point."""
    for root, mount_point, options in mounted("cgroup"):
        yield from ((controller, root, mount_point) for controller in options.split(","))


Group = CgroupV1 | CgroupV2


def group_of(pid: int) -> Group | None:
    """The group of a process; None where it is the one at the top, or the harness's own. Raises
    OSError if the process is gone."""
    unified, mount = own_v2_group(pid), v2_mount()
    if unified and mount and unified not in (mount, own_v2_group()) and has_cpu_controller(unified):
        return CgroupV2({UNIFIED: unified})
    homes = v1_homes(pid)
    if "cpu" not in homes or "cpuacct" not in homes or homes["cpu"] == v1_homes()["cpu"]:
        return None
    return CgroupV1({**homes, UNIFIED: unified} if unified and unified != mount else homes)


def group_named(name: str) -> Group | None:
    """A group by its path from the root of a hierarchy, or by its last part, as a systemd unit has
    it; None without one."""
    mounts, mount = v1_mounts(), v2_mount()
    if mount:
        mounts[UNIFIED] = mount
    for root in dict.fromkeys((mount, mounts.get("cpu"))):
        if root is None or not (path := _below(root, name)):
            continue
        if root == mount and has_cpu_controller(path):
            return CgroupV2({UNIFIED: path})
        inside = path.relative_to(root)
        homes = {
            controller: top / inside
            for controller, top in mounts.items()
            if (top / inside).is_dir()
        }
        if {"cpu", "cpuacct"} <= homes.keys():
            return CgroupV1(homes)
    return None


def _below(root: Path, name: str) -> Path | None:
    """The folder of a group, given by its path, by that from the root, or by its last part."""
    given = Path(name)
    path = given if given.is_relative_to(root) else root / name.lstrip("/")
    if path.is_dir() and path != root:
        return path
    if "/" in name:
        return None
    return next((Path(folder) / name for folder, below, _ in os.walk(root) if name in below), None)


def inhabitants(group: Group) -> tuple[int, ...]:
    """Processes of a group and of the groups below it."""
    return listed(Path(inside) / "cgroup.procs" for inside, _, _ in os.walk(group.folder))
