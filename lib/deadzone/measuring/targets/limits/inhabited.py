"""The accounting of the group that a process is in, whoever made it: a container's, for example."""

from __future__ import annotations

from deadzone.measuring.targets.limits.base import Counters
from deadzone.measuring.targets.limits.cgroup_v1 import read_v1, v1_homes
from deadzone.measuring.targets.limits.cgroup_v2 import has_cpu_controller, own_v2_group, read_v2, v2_mount


def read_group_of(pid: int) -> Counters | None:
    """Counters of the group of a process; None where it is in no group of its own.

    Raises OSError or TargetError if the process or its group is gone.
    """
    group, mount = own_v2_group(pid), v2_mount()
    if group and mount and group != mount and has_cpu_controller(group):
        return read_v2(group)
    groups = v1_homes(pid)
    if "cpu" not in groups or "cpuacct" not in groups or groups["cpu"] == v1_homes()["cpu"]:
        return None
    return read_v1(groups, group if group and group != mount else None)
