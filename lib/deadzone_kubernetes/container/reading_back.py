"""Whether amounts are in force: read in the control group that the node has for the container.

A CPU limit is a quota, a memory limit a number of bytes, in whole pages. Of requests the kubelet
says that they are in force: of CPU each runtime makes a weight of its own, of memory nothing.
"""

from math import inf, isclose

from deadzone.plugins import TargetError
from deadzone_kubernetes.container.accounting import cores_of
from deadzone_kubernetes.container.container import PodContainer, Probe
from deadzone_kubernetes.container.resources import Resources

IN_FORCE_TIMEOUT_S = 10.0
"""The kubelet writes the group a moment after it says so, if at all [s]."""

LOOK_EVERY_S = 0.05

ROUNDING = 1e-6

LARGEST_PAGE = 65_536
"""Of the kernels that nodes have [bytes]."""

UNLIMITED_BYTES = 2**62
"""Version 1 has its largest number for no limit, a little more than this."""


def verified(container: PodContainer, must: Resources) -> Probe:
    """Look into the container's control group until it has the amounts.

    Raises TargetError if it does not get them, or shows no control group.
    """
    for _ in container.cluster.looks(IN_FORCE_TIMEOUT_S, LOOK_EVERY_S):
        probe = container.probe()
        if probe.cgroup == 0:
            raise TargetError(
                f"{container.spot} shows no control group, so no limit can be verified and nothing "
                "be measured."
            )
        differing = not_in_force(probe, must)
        if not differing:
            return probe
    raise TargetError(
        f"The control group of {container.spot} says {differing} was asked for, "
        f"{IN_FORCE_TIMEOUT_S:g} s after the cluster called it done."
    )


def not_in_force(probe: Probe, must: Resources) -> str:
    """The first amount that the control group does not have, in words; empty where it has them
    all."""
    have = cores_of(probe.cpu_max)
    for key, quantity in must.amounts.items():
        wanted = must.number(key)
        if key == "limits.cpu" and not isclose(have or inf, wanted or inf, abs_tol=ROUNDING):
            return f"{probe.cpu_max!r} where a limit of {_cores(wanted)}"
        if key == "limits.memory" and not _is_size(probe.memory_max, wanted):
            return f"{probe.memory_max} bytes where a memory limit of {quantity or 'none'}"
    return ""


def _cores(cores: float | None) -> str:
    return "none" if cores is None else f"{cores:g} cores"


def _is_size(in_force: str | None, wanted: float | None) -> bool:
    """Whether a limit is in force; the kernel rounds down to whole pages."""
    have = inf if in_force == "max" else float(in_force or 0)
    if wanted is None:
        return have >= UNLIMITED_BYTES
    return wanted - LARGEST_PAGE < have <= wanted
