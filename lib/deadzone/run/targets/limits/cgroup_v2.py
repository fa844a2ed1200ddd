"""Limits by cgroup v2: `cpu.max` and `memory.max`, with accounting from `cpu.stat` and the memory
controller.

Files and units: Linux kernel documentation, admin-guide/cgroup-v2. Used as root, or in a sub-tree
that was delegated to the user (Control Group APIs and Delegation, systemd documentation).
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deadzone.errors import SaidAs, TargetError, system_reason
from deadzone.run.targets.kernel_files import (
    MICROSECONDS,
    key_values,
    read_bytes,
    stall_s,
    whole_number,
)
from deadzone.run.targets.limits.base import (
    GROUP_PREFIX,
    PERIOD_US,
    ControlGroup,
    Counters,
    proc_lines,
    quota_us,
    remove_group,
)
from deadzone.store.programs import answer_of

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
"""The kernel rounds memory limits down to whole pages."""

LENT = "-lent"
"""Ends the name of a group for which controllers were switched on in the group above it: cpu, and
those that the name goes on with (`-lent_memory_io`)."""

WANTED = ("cpu", "memory", "io")
"""Controllers that a group should have. Without the first there is no limit; the others limit and
count more."""

UNIFIED = "unified"
"""Name of the one hierarchy of version 2, beside those of version 1, which are named by their
controllers."""

UNIT_SUFFIXES = (".scope", ".service", ".slice")

SYSTEMCTL_TIMEOUT_S = 30.0

NOT_DELEGATED = (
    "no control group is delegated to this user (`systemd-run --user --scope "
    "--property=Delegate=yes COMMAND` starts a command in one)"
)


class CgroupV2(ControlGroup):
    """A group of its own below one that hands the cpu controller down."""

    name = "cgroup-v2"
    hierarchy = UNIFIED

    def open(self, group: str) -> None:
        """Make the group in the first place that permits it."""
        mount = v2_mount()
        if mount is None:
            raise TargetError("no cgroup v2 hierarchy is mounted")
        no_controller = f"{mount} has no cpu controller (is this cgroup v1?)"
        reason = NOT_DELEGATED if has_cpu_controller(mount) else no_controller
        for parent in _candidates(mount):
            try:
                self._open_below(parent, group)
                return
            except OSError as error:
                self.close()
                reason = system_reason(error)
        raise TargetError(reason)

    def _open_below(self, parent: Path, group: str) -> None:
        lent = [name for name in WANTED if _switch_on(parent, name)]
        made = parent / (group + LENT + "".join(f"_{name}" for name in lent) if lent else group)
        self.folders[UNIFIED] = made
        made.mkdir(exist_ok=True)
        if read_bytes(made / "cgroup.type").split() == [b"domain", b"invalid"]:
            # The group above holds processes, this one among them: only threaded groups may live
            # beside those.
            (made / "cgroup.type").write_text("threaded")
            self._list = "cgroup.threads"  # which serves as well
        (made / "cpu.max").write_text(f"max {PERIOD_US}")

    def set_cpu_limit(self, cores: float | None) -> None:
        """Write cpu.max; writing it also refills the group's budget."""
        quota = quota_us(cores)
        wanted = f"{'max' if quota is None else quota} {PERIOD_US}"
        with SaidAs(TargetError, "The CPU limit cannot be set", names_file=True):
            (self.folder / "cpu.max").write_text(wanted)
        verify_cpu_max(self.folder, wanted)

    def set_memory_limit(self, size: int | None) -> None:
        """Write memory.max, and no swap beside it. Raises TargetError also where another limit is
        in force afterwards."""
        limit = self.folder / "memory.max"
        if not limit.exists():
            if size is None:
                return
            raise TargetError(
                f"{self.folder} has no memory controller, so its memory cannot be limited"
            )
        with SaidAs(TargetError, "The memory limit cannot be set", names_file=True):
            with contextlib.suppress(OSError):  # a kernel without swap accounting has no such file
                (self.folder / "memory.swap.max").write_text("max" if size is None else "0")
            limit.write_text("max" if size is None else str(size))
        if not has_memory_max(self.folder, size):
            raise TargetError(
                f"{limit} is {whole_number(limit)} bytes where {size} were asked for."
            )

    def read(self) -> Counters:
        """The group's cpu.stat, and its memory and stalls. Raises TargetError if the cpu
        controller, and so the limit, was taken from it."""
        group = self.folder
        stat = key_values(f"{group}/cpu.stat")
        if "nr_periods" not in stat:
            raise TargetError(
                f"{group} has lost its cpu controller, so the CPU limit is no longer in force."
            )
        return replace(
            Counters.of_memory(key_values(f"{group}/memory.stat")),
            usage_s=stat["usage_usec"] / MICROSECONDS,
            user_s=stat["user_usec"] / MICROSECONDS,
            sys_s=stat["system_usec"] / MICROSECONDS,
            nr_periods=stat["nr_periods"],
            nr_throttled=stat["nr_throttled"],
            throttled_s=stat["throttled_usec"] / MICROSECONDS,
            oom_kills=key_values(f"{group}/memory.events").get("oom_kill"),
            memory_bytes=whole_number(f"{group}/memory.current"),
            memory_peak_bytes=whole_number(f"{group}/memory.peak"),
            cpu_stall_s=stall_s(f"{group}/cpu.pressure"),
            memory_stall_s=stall_s(f"{group}/memory.pressure"),
            io_stall_s=stall_s(f"{group}/io.pressure"),
        )

    def limit_files(self) -> tuple[Path, ...]:
        """What putting limits in force writes to."""
        files = (self.folder / name for name in ("cpu.max", "memory.swap.max", "memory.max"))
        return tuple(path for path in files if path.exists())

    def limits(self) -> tuple[float | None, int | None]:
        """CPU and memory limit in force, in cores and bytes; None: no limit."""
        quota, _, period = (cpu_max(self.folder) or "max 1").partition(" ")
        cores = None if quota == "max" else int(quota) / int(period)
        return cores, whole_number(self.folder / "memory.max")

    def close(self) -> None:
        """Remove the group, and hand the cpu controller back where it was switched on for it."""
        for group in self.folders.values():
            remove_group(group)
            hand_back(group)
        self.folders, self._list = {}, "cgroup.procs"


def _switch_on(parent: Path, controller: str) -> bool:
    """Hand a controller down to the groups below; whether it was not handed down before.

    Raises OSError where the system refuses the cpu controller; of the others a group may do
    without.
    """
    control = parent / "cgroup.subtree_control"
    there = read_bytes(parent / "cgroup.controllers").decode().split()
    if controller in control.read_text().split() or controller not in there:
        return False
    try:
        control.write_text(f"+{controller}")
    except OSError:
        if controller == "cpu":
            raise
        return False
    return True


def hand_back(group: Path) -> None:
    """Switch those controllers off again that were switched on for a group that is gone now."""
    another_sweep = any(group.parent.glob(f"{GROUP_PREFIX}*"))  # would lose its limit
    _, lent, names = group.name.rpartition(LENT)
    if not lent or another_sweep:
        return
    for controller in reversed(names.split("_")[1:] or ["cpu"]):
        with contextlib.suppress(OSError):
            (group.parent / "cgroup.subtree_control").write_text(f"-{controller}")


def cpu_max(group: Path) -> str | None:
    """The limit in force, as the kernel writes it; None where the group has no cpu controller."""
    return read_bytes(f"{group}/cpu.max").decode().strip() or None


def has_memory_max(group: Path, size: int | None) -> bool:
    """Whether a memory limit is in force, to a page, which the kernel rounds it to."""
    now = whole_number(group / "memory.max")
    return (now is None) == (size is None) and abs((now or 0) - (size or 0)) < PAGE_BYTES


def verify_cpu_max(group: Path, wanted: str) -> None:
    """Raise TargetError unless the limit in force is the one that was asked for."""
    in_force = cpu_max(group)
    if in_force != wanted:
        raise TargetError(f"{group}/cpu.max is {in_force!r} where {wanted!r} was asked for.")


def v2_mount() -> Path | None:
    """Where the cgroup v2 hierarchy is mounted, or None."""
    return next((mount_point for _, mount_point, _ in mounted("cgroup2")), None)


def mounted(kind: str) -> Iterator[tuple[str, Path, str]]:
    """The hierarchies of cgroup or cgroup2: the group that is the root here, the mount point, and
    the options of each."""
    for line in proc_lines("self/mountinfo"):
        left, _, right = line.partition(" - ")
        if right.split()[0] == kind:
            root, mount_point = left.split()[3:5]
            yield root, Path(mount_point), right.split()[2]


def own_v2_group(pid: int | str = "self") -> Path | None:
    """The v2 group a process is in, or None."""
    mount = v2_mount()
    own = (line[3:].lstrip("/") for line in proc_lines(f"{pid}/cgroup") if line.startswith("0::"))
    return next((mount / path for path in own if mount), None)


def _candidates(mount: Path) -> Iterator[Path]:
    """Places a group may be made in: for root the top, for all their own group if it was handed
    over to them."""
    own = own_v2_group()
    if os.geteuid() == 0 and has_cpu_controller(mount):
        yield mount
    if own and has_cpu_controller(own) and os.access(own, os.W_OK) and _is_delegated(own):
        yield own


def has_cpu_controller(group: Path) -> bool:
    """Whether the limits of a group's inhabitants can be set."""
    return b"cpu" in read_bytes(group / "cgroup.controllers").split()


def _is_delegated(group: Path) -> bool:
    """Whether systemd leaves the inside of a group alone.

    A user may write to all that the user's systemd made, but systemd undoes changes to units that
    it manages.
    """
    unit = next((path for path in (group, *group.parents) if path.suffix in UNIT_SUFFIXES), None)
    if unit is None:
        return True
    manager = ("--user",) if any(name.startswith("user@") for name in unit.parent.parts) else ()
    argv = ("systemctl", *manager, "show", "--property=Delegate", "--value", unit.name)
    return answer_of(argv, SYSTEMCTL_TIMEOUT_S).stdout.strip() == "yes"
