"""What a killed run left behind on this machine: control groups, their processes and scratch folders.

Everything Deadzone makes carries the process that made it in its name; once that process is gone, whatever
bears its name is left over.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from deadzone.targets.limits.base import GROUP_PREFIX, kill_all, owner_is_alive, remove_group
from deadzone.targets.limits.cgroup_v1 import v1_homes
from deadzone.targets.limits.cgroup_v2 import own_v2_group, v2_mount


MADE_NAME = re.compile(rf"{GROUP_PREFIX}\d+-\d+(-\w+|\.scope)?$")
"""Process and start time, and what a scratch folder or a scope has after them; nothing else is touched."""


def find_leftovers() -> list[Path]:
    """Control groups and scratch folders whose maker no longer lives."""
    return [path for path in _made_by_deadzone() if not owner_is_alive(path.name)]


def remove_leftovers() -> list[Path]:
    """Kill what still runs in left-over groups and remove them; returns what was removed."""
    removed = []
    for path in find_leftovers():
        if (path / "cgroup.procs").exists():
            kill_all([path / "cgroup.procs"])
            gone = remove_group(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
            gone = not path.exists()
        if gone:
            removed.append(path)
    return removed


def _made_by_deadzone() -> Iterator[Path]:
    for home in _homes():
        yield from (
            path
            for path in sorted(home.glob(f"{GROUP_PREFIX}*"))
            if MADE_NAME.match(path.name) and path.is_dir()
        )


def _homes() -> list[Path]:
    """Folders in which groups and scratch folders are made."""
    homes = [Path(tempfile.gettempdir()), Path("/dev/shm"), *v1_homes().values()]
    mount, own = v2_mount(), own_v2_group()
    if mount and own:
        homes += [parent for parent in (own, *own.parents) if parent.is_relative_to(mount)]
    if mount:
        homes += [path.parent for path in mount.glob(f"**/{GROUP_PREFIX}*.scope")]
    return [home for home in dict.fromkeys(homes) if home.is_dir()]
