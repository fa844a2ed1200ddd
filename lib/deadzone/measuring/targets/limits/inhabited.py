"""The group that a process is in, or that has a name, whoever made it: a server's, or a container's."""

import os
from collections.abc import Iterable
from pathlib import Path

from deadzone.measuring.targets.limits.base import Counters
from deadzone.measuring.targets.limits.cgroup_v1 import PRESSURE, CgroupV1, v1_homes, v1_mounts
from deadzone.measuring.targets.limits.cgroup_v2 import CgroupV2, has_cpu_controller, own_v2_group, v2_mount
from deadzone.measuring.targets.processes import listed

Group = CgroupV1 | CgroupV2


def read_group_of(pid: int) -> Counters | None:
    """Counters of the group of a process; None where it is in no group of its own.

    Raises OSError or TargetError if the process or its group is gone.
    """
    found = group_of(pid)
    return found[0].read() if found else None


def group_of(pid: int) -> tuple[Group, Path] | None:
    """The group of a process with its folder; None where it is the one at the top, or the harness's own."""
    group, mount = own_v2_group(pid), v2_mount()
    if group and mount and group not in (mount, own_v2_group()) and has_cpu_controller(group):
        return CgroupV2(group), group
    homes = v1_homes(pid)
    if "cpu" not in homes or "cpuacct" not in homes or homes["cpu"] == v1_homes()["cpu"]:
        return None
    return _v1(homes, group if group and group != mount else None)


def group_named(name: str) -> tuple[Group, Path] | None:
    """A group by its path from the root of a hierarchy, or by its last part, as a systemd unit has it; None without one."""
    mount, mounts = v2_mount(), v1_mounts()
    for root in dict.fromkeys((mount, mounts.get("cpu"))):
        if root is None or not (path := _below(root, name)):
            continue
        if root == mount and has_cpu_controller(path):
            return CgroupV2(path), path
        inside = path.relative_to(root)
        homes = {one: top / inside for one, top in mounts.items() if (top / inside).is_dir()}
        if {"cpu", "cpuacct"} <= homes.keys():
            return _v1(homes, mount / inside if mount and (mount / inside).is_dir() else None)
    return None


def _v1(homes: dict[str, Path], pressure: Path | None) -> tuple[Group, Path]:
    return CgroupV1({**homes, **({PRESSURE: pressure} if pressure else {})}), homes["cpu"]


def _below(root: Path, name: str) -> Path | None:
    """The folder of a group, given by its path, by that from the root, or by its last part."""
    given = Path(name)
    path = given if given.is_relative_to(root) else root / name.lstrip("/")
    if path.is_dir() and path != root:
        return path
    if "/" in name:
        return None
    return next((Path(folder) / name for folder, below, _ in os.walk(root) if name in below), None)


def inhabitants(folder: Path) -> tuple[int, ...]:
    """Processes of a group and of the groups below it."""
    return listed(Path(inside) / "cgroup.procs" for inside, _, _ in os.walk(folder))


def is_theirs_alone(folder: Path, pids: Iterable[int]) -> bool:
    """Whether nothing else lives in a group."""
    return set(inhabitants(folder)) <= set(pids)
