"""The group that a process is in, or that has a name, whoever made it: a server's, or a
container's."""

import os
from pathlib import Path

from deadzone.run.targets.limits.cgroup_v1 import CgroupV1, v1_homes, v1_mounts
from deadzone.run.targets.limits.cgroup_v2 import (
    UNIFIED,
    CgroupV2,
    has_cpu_controller,
    own_v2_group,
    v2_mount,
)
from deadzone.run.targets.processes import listed

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
