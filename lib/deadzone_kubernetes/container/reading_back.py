"""Whether amounts are in force: read in the control group that the node has for the container.

A CPU limit is a quota, a memory limit a number of bytes, in whole pages. A CPU request is a weight
among all groups of the node: shares of version 1 are 1024 a core; for version 2 runtimes turn these
into a weight from 1 to 10,000, in a straight line (Kubernetes, KEP-2254) or, since 2025, along a
curve (github.com/opencontainers/cgroups, pull request 20). A memory request leaves no trace there.
"""

import math

from deadzone.plugins import TargetError
from deadzone_kubernetes.container.accounting import cores_of
from deadzone_kubernetes.container.container import PodContainer, Probe
from deadzone_kubernetes.container.resources import Resources

IN_FORCE_TIMEOUT_S = 10.0
"""The kubelet writes the group a moment after it says so, if at all [s]."""

LOOK_EVERY_S = 0.05

ROUNDING = 1e-6

SHARES_A_CORE, LEAST_SHARES, MOST_SHARES = 1024, 2, 262_144

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
        if key == "limits.cpu" and not _is_close(have, wanted):
            return f"{probe.cpu_max!r} where a limit of {_cores(wanted)}"
        if key == "requests.cpu" and not _is_weight(probe, wanted):
            weight = probe.others.get("cpu_shares") or probe.others.get("cpu_weight")
            return f"a weight of {weight} where a request of {_cores(wanted)}"
        if key == "limits.memory" and not _is_size(probe.others.get("memory_max"), wanted):
            return (
                f"{probe.others.get('memory_max')} bytes where a memory limit of "
                f"{quantity or 'none'}"
            )
    return ""


def _cores(cores: float | None) -> str:
    return "none" if cores is None else f"{cores:g} cores"


def _is_close(have: float | None, wanted: float | None) -> bool:
    return have == wanted or (
        have is not None and wanted is not None and abs(have - wanted) < ROUNDING
    )


def _is_weight(probe: Probe, cores: float | None) -> bool:
    shares = max(LEAST_SHARES, min(MOST_SHARES, int((cores or 0.0) * SHARES_A_CORE + ROUNDING)))
    if in_force := probe.others.get("cpu_shares"):
        return int(in_force) == shares
    return int(probe.others.get("cpu_weight", 0)) in weights_of(shares)


def weights_of(shares: int) -> tuple[int, int]:
    """What runtimes make of shares of version 1 as a weight of version 2: by the straight line, and
    by the curve."""
    line = 1 + (shares - LEAST_SHARES) * 9999 // (MOST_SHARES - LEAST_SHARES)
    power = math.log2(shares)
    curve = math.ceil(10 ** ((power**2 + 125 * power) / 612 - 7 / 34))
    return line, curve


def _is_size(in_force: str | None, wanted: float | None) -> bool:
    """Whether a limit is in force; the kernel rounds down to whole pages."""
    have = math.inf if in_force == "max" else float(in_force or 0)
    if wanted is None:
        return have >= UNLIMITED_BYTES
    return wanted - LARGEST_PAGE < have <= wanted
