"""The mechanisms for CPU limits, best first."""

from deadzone.run.targets.limits.base import LimitMechanism
from deadzone.run.targets.limits.cgroup_v1 import CgroupV1
from deadzone.run.targets.limits.cgroup_v2 import CgroupV2
from deadzone.run.targets.limits.systemd import SystemdScope
from deadzone.run.targets.limits.ungrouped import Affinity, Emulated, Unlimited

MECHANISMS: dict[str, type[LimitMechanism]] = {
    "cgroup-v2": CgroupV2,
    "cgroup-v1": CgroupV1,
    "systemd": SystemdScope,
    "emulated": Emulated,
    "affinity": Affinity,
    "unlimited": Unlimited,
}
"""By name, in the order of preference: the kernel's own files before a go-between, a quota before
its emulation, that before affinity."""

QUOTA_MECHANISMS = ("cgroup-v2", "cgroup-v1", "systemd")
"""Those in which the kernel itself holds the limit."""
