"""CPU limits by systemd: a transient scope with `CPUQuota=`, for users without rights on the cgroup
tree.

Source: systemd.resource-control(5), systemd-run(1).
"""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence

from deadzone.errors import TargetError
from deadzone.run.targets.limits.base import PERIOD_US, quota_us, start_ticks
from deadzone.run.targets.limits.cgroup_v2 import (
    SYSTEMCTL_TIMEOUT_S,
    CgroupV2,
    cpu_max,
    has_cpu_controller,
    has_memory_max,
    own_v2_group,
    v2_mount,
    verify_cpu_max,
)
from deadzone.store.programs import answer_of, last_words

IN_FORCE_TIMEOUT_S = 2.0
"""systemd answers before it writes the limit, a moment later [s]."""

PROPERTIES = ("CPUAccounting=yes", "MemoryAccounting=yes", "CPUQuota=1000%", "CPUWeight=100")
"""The weight is the default one. It keeps the cpu controller on while there is no quota: systemd
takes the controller from units that need it no more, and leaves their last quota in force if others
keep it on."""

NOT_DELEGATED = (
    "systemd may not limit the CPU of this user's programs; an administrator permits it with a "
    "file /etc/systemd/system/user@.service.d/delegate.conf that says `[Service]` and "
    "`Delegate=cpu memory pids`"
)


class SystemdScope(CgroupV2):
    """A scope of the user's systemd, or of the system's for root, that the launcher is started in:
    a group of version 2 that systemd makes, limits and removes."""

    name = "systemd"
    _unit = ""

    @property
    def _manager(self) -> tuple[str, ...]:
        return () if os.geteuid() == 0 else ("--user",)

    def open(self, group: str) -> None:
        """Check that systemd answers; the scope itself is made when the launcher starts."""
        if not shutil.which("systemd-run"):
            raise TargetError("systemd-run is not installed")
        mount = v2_mount()
        if mount is None or not has_cpu_controller(mount):
            raise TargetError(
                "systemd's limits are only used with cgroup v2, which this machine does not have"
            )
        answer = _run("systemctl", *self._manager, "show", "--property=Version")
        if answer.returncode != 0:
            raise TargetError(f"systemd does not answer: {last_words(answer)}")
        self._unit = f"{group}.scope"

    def wrap(self, argv: Sequence[str]) -> tuple[str, ...]:
        """Start the launcher in a scope of its own, which vanishes with its last process."""
        run = ("systemd-run", *self._manager, *["--scope", "--quiet", "--collect"])
        properties = (f"--property={value}" for value in PROPERTIES)
        return (*run, f"--unit={self._unit}", *properties, "--", *argv)

    def adopt(self, pid: int) -> None:
        """Wait until systemd has moved the launcher into the scope."""
        deadline = time.monotonic() + SYSTEMCTL_TIMEOUT_S
        while time.monotonic() < deadline and start_ticks(pid) is not None:
            with contextlib.suppress(OSError):
                group = own_v2_group(pid)
                if group and group.name == self._unit:
                    self.folders[self.hierarchy] = group
                    return
            time.sleep(0.01)
        raise TargetError(
            f"systemd did not start the program's launcher in {self._unit}; "
            f"see journalctl -u {self._unit}"
        )

    def set_cpu_limit(self, cores: float | None) -> None:
        """Set CPUQuota of the scope, and read cpu.max back."""
        quota = quota_us(cores)
        percent = "" if quota is None else f"{quota * 100 / PERIOD_US:.10g}%"
        wanted = f"{'max' if quota is None else quota} {PERIOD_US}"
        answer = self._set(lambda: cpu_max(self.folder) in (wanted, None), f"CPUQuota={percent}")
        if answer.returncode != 0:
            raise TargetError(f"systemd refused the CPU limit: {last_words(answer)}")
        if cpu_max(self.folder) is None:
            raise TargetError(NOT_DELEGATED)
        verify_cpu_max(self.folder, wanted)

    def set_memory_limit(self, size: int | None) -> None:
        """Set MemoryMax of the scope, without swap beside it, and read memory.max back."""
        limits = ("infinity", "infinity") if size is None else (str(size), "0")
        properties = (f"MemoryMax={limits[0]}", f"MemorySwapMax={limits[1]}")
        answer = self._set(lambda: has_memory_max(self.folder, size), *properties)
        if size is not None and answer.returncode != 0:
            raise TargetError(f"systemd refused the memory limit: {last_words(answer)}")
        if size is not None and not has_memory_max(self.folder, size):
            raise TargetError(
                "systemd did not put the memory limit in force: it may not limit memory for this "
                "user"
            )

    def _set(
        self, is_in_force: Callable[[], bool], *properties: str
    ) -> subprocess.CompletedProcess[str]:
        """Set properties of the scope, and wait until they are in force."""
        answer = _run(
            "systemctl", *self._manager, "set-property", "--runtime", self._unit, *properties
        )
        deadline = time.monotonic() + IN_FORCE_TIMEOUT_S
        while not (answer.returncode or is_in_force()) and time.monotonic() < deadline:
            time.sleep(0.002)
        return answer

    def close(self) -> None:
        """Stop the scope if a process is left in it."""
        if self.folders and self.folder.is_dir():
            _run("systemctl", *self._manager, "stop", self._unit)
        self.folders = {}


def _run(*argv: str) -> subprocess.CompletedProcess[str]:
    return answer_of(argv, SYSTEMCTL_TIMEOUT_S)
