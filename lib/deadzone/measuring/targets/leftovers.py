"""What a killed run left behind on this machine: control groups, their processes and scratch folders.

Everything Deadzone makes carries the process that made it in its name; once that process is gone, whatever
bears its name is left over.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from deadzone.measuring.targets.elsewhere import left_elsewhere, remove_elsewhere
from deadzone.measuring.targets.limits.base import (
    EMPTYING_TIMEOUT_S,
    GROUP_PREFIX,
    is_left_over,
    kill_all,
    remove_group,
)
from deadzone.measuring.targets.limits.cgroup_v1 import v1_mounts
from deadzone.measuring.targets.limits.cgroup_v2 import hand_back, v2_mount


def find_leftovers() -> list[Path]:
    """Control groups and scratch folders whose maker no longer lives."""
    here = (path for path in (*_groups(), *_scratch_folders()) if is_left_over(path.name))
    return sorted([*here, *left_elsewhere()])


def remove_leftovers() -> list[Path]:
    """Kill what still runs in left-over groups and remove them; returns what was removed."""
    removed = []
    for path in find_leftovers():
        if (path / "cgroup.procs").exists():
            kill_all([path / "cgroup.procs", path / "cgroup.threads"])
            if path.suffix == ".scope":
                _await_systemd(path)
            gone = remove_group(path)
        else:
            gone = remove_elsewhere(path)
        if gone:
            removed.append(path)
    for path in removed:
        hand_back(path)
    return removed


def _await_systemd(scope: Path) -> None:
    """Let systemd remove an empty scope: it would take one whose group is gone for still running."""
    deadline = time.monotonic() + EMPTYING_TIMEOUT_S
    while scope.is_dir() and time.monotonic() < deadline:
        time.sleep(0.01)


def _groups() -> Iterator[Path]:
    """Groups anywhere in the hierarchies, for the killed run may have been in another session than this one."""
    roots = {*v1_mounts().values(), v2_mount()} - {None}
    for root in roots:
        for folder, below, _ in os.walk(str(root)):
            yield from (Path(folder) / name for name in below if name.startswith(GROUP_PREFIX))


def _scratch_folders() -> Iterator[Path]:
    for home in {Path(tempfile.gettempdir()), Path("/dev/shm")}:
        if home.is_dir():
            yield from (path for path in home.glob(f"{GROUP_PREFIX}*") if path.is_dir())
