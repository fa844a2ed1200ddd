"""CPU limits by systemd: a transient scope with `CPUQuota=`, for users without rights on the cgroup tree.

Source: systemd.resource-control(5), systemd-run(1).
"""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from deadzone.errors import TargetError
from deadzone.measuring.targets.limits.base import (
    PERIOD_US,
    Counters,
    LimitMechanism,
    quota_us,
    start_ticks,
    whole_number,
)
from deadzone.measuring.targets.limits.cgroup_v2 import (
    SYSTEMCTL_TIMEOUT_S,
    cpu_max,
    has_cpu_controller,
    own_v2_group,
    read_v2,
    v2_mount,
    verify_cpu_max,
)
from deadzone.store.programs import answer_of, last_words

IN_FORCE_TIMEOUT_S = 2.0
"""systemd answers before it writes the limit, a moment later [s]."""

PROPERTIES = ("CPUAccounting=yes", "MemoryAccounting=yes", "CPUQuota=1000%", "CPUWeight=100")
"""The weight is the default one. It keeps the cpu controller on while there is no quota: systemd takes the
controller from units that need it no more, and leaves their last quota in force if others keep it on."""

NOT_DELEGATED = (
    "systemd may not limit the CPU of this user's programs; an administrator permits it with a file "
    "/etc/systemd/system/user@.service.d/delegate.conf that says `[Service]` and `Delegate=cpu memory pids`"
)


class SystemdScope(LimitMechanism):
    """A scope of the user's systemd, or of the system's for root, that the launcher is started in."""

    name = "systemd"

    def __init__(self) -> None:
        self._unit = ""
        self._group: Path | None = None

    @property
    def _manager(self) -> tuple[str, ...]:
        return () if os.geteuid() == 0 else ("--user",)

    def open(self, group: str) -> None:
        """Check that systemd answers; the scope itself is made when the launcher starts."""
        if not shutil.which("systemd-run"):
            raise TargetError("systemd-run is not installed")
        mount = v2_mount()
        if mount is None or not has_cpu_controller(mount):
            raise TargetError("systemd's limits are only used with cgroup v2, which this machine has not")
        answer = _run("systemctl", *self._manager, "show", "--property=Version")
        if answer.returncode != 0:
            raise TargetError(f"systemd does not answer: {last_words(answer)}")
        self._unit = f"{group}.scope"

    def wrap(self, argv: Sequence[str]) -> tuple[str, ...]:
        """Start the launcher in a scope of its own, which vanishes with its last process."""
        run = ("systemd-run", *self._manager, "--scope", "--quiet", "--collect", f"--unit={self._unit}")
        return (*run, *(f"--property={value}" for value in PROPERTIES), "--", *argv)

    def adopt(self, pid: int) -> None:
        """Wait until systemd has moved the launcher into the scope."""
        deadline = time.monotonic() + SYSTEMCTL_TIMEOUT_S
        while time.monotonic() < deadline and start_ticks(pid) is not None:
            with contextlib.suppress(OSError):
                group = own_v2_group(pid)
                if group and group.name == self._unit:
                    self._group = group
                    return
            time.sleep(0.01)
        raise TargetError(f"systemd did not start the launcher in {self._unit}")

    def set_cpu_limit(self, cores: float | None) -> None:
        """Set CPUQuota of the scope, and read cpu.max back."""
        quota = quota_us(cores)
        percent = "" if quota is None else f"{quota * 100 / PERIOD_US:.10g}%"
        answer = _run(
            "systemctl", *self._manager, "set-property", "--runtime", self._unit, f"CPUQuota={percent}"
        )
        if answer.returncode != 0:
            raise TargetError(f"systemd refused the CPU limit: {last_words(answer)}")
        assert self._group is not None
        wanted = f"{'max' if quota is None else quota} {PERIOD_US}"
        deadline = time.monotonic() + IN_FORCE_TIMEOUT_S
        while cpu_max(self._group) not in (wanted, None) and time.monotonic() < deadline:
            time.sleep(0.002)
        if cpu_max(self._group) is None:
            raise TargetError(NOT_DELEGATED)
        verify_cpu_max(self._group, wanted)

    def set_memory_limit(self, size: int | None) -> None:
        """Set MemoryMax of the scope, without swap beside it, and read memory.max back."""
        assert self._group is not None
        wanted = "infinity" if size is None else str(size)
        swap = "infinity" if size is None else "0"
        answer = _run(
            *("systemctl", *self._manager, "set-property", "--runtime", self._unit),
            *(f"MemoryMax={wanted}", f"MemorySwapMax={swap}"),
        )
        if size is not None and answer.returncode != 0:
            raise TargetError(f"systemd refused the memory limit: {last_words(answer)}")
        deadline = time.monotonic() + IN_FORCE_TIMEOUT_S
        while whole_number(self._group / "memory.max") != size and time.monotonic() < deadline:
            time.sleep(0.002)
        if size is not None and whole_number(self._group / "memory.max") != size:
            raise TargetError(
                "systemd did not put the memory limit in force: it may not limit memory for this user"
            )

    def read(self) -> Counters:
        """The scope's cpu.stat and memory.events."""
        assert self._group is not None
        return read_v2(self._group)

    def procs_files(self) -> tuple[Path, ...]:
        """The scope's process list."""
        return (self._group / "cgroup.procs",) if self._group else ()

    def close(self) -> None:
        """Stop the scope if a process is left in it."""
        if self._group and self._group.is_dir():
            _run("systemctl", *self._manager, "stop", self._unit)
        self._group = None


def _run(*argv: str) -> subprocess.CompletedProcess[str]:
    return answer_of(argv, SYSTEMCTL_TIMEOUT_S)
