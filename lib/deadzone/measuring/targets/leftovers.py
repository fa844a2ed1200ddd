"""What a killed run left behind on this machine: control groups, their processes, scratch folders, and folders that
were made elsewhere, such as those on the disk to be measured.

Everything Deadzone makes carries the process that made it in its name; once that process is gone, whatever bears its name
is left over. Folders elsewhere are noted before they are made, in the user's state folder (XDG_STATE_HOME), which outlives
a restart of the machine as the folders do: so a kill at any instant leaves nothing for good.
"""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from deadzone.measuring.targets.limits.base import (
    EMPTYING_TIMEOUT_S,
    GROUP_PREFIX,
    is_left_over,
    kill_all,
    remove_group,
)
from deadzone.measuring.targets.limits.cgroup_v1 import v1_mounts
from deadzone.measuring.targets.limits.cgroup_v2 import hand_back, v2_mount

STATE_VARIABLE = "XDG_STATE_HOME"


def find_leftovers() -> list[Path]:
    """Control groups and scratch folders whose maker no longer lives."""
    homes = {Path(tempfile.gettempdir()), Path("/dev/shm")}
    made = (*_groups(), *(path for home in homes for path in _folders_in(home)))
    return sorted([*(path for path in made if is_left_over(path.name)), *left_elsewhere()])


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


def note(folder: Path) -> None:
    """Note a folder before it is made. Raises OSError where nothing can be noted."""
    notes = _notes()
    notes.mkdir(parents=True, exist_ok=True)
    (notes / folder.name).write_text(str(folder.absolute()), encoding="utf-8")


def forget(folder: Path) -> None:
    """Remove the note of a folder that is gone."""
    with contextlib.suppress(OSError):
        (_notes() / folder.name).unlink(missing_ok=True)


def left_elsewhere() -> list[Path]:
    """Noted folders whose maker no longer lives, and that are still there; notes of those that are gone are removed."""
    found = []
    for path in sorted(_notes().glob(f"{GROUP_PREFIX}*")):
        try:
            folder = Path(path.read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError):
            continue
        if folder.name != path.name or not is_left_over(path.name):
            continue  # no note of ours, or of one who lives
        if folder.is_dir() and not folder.is_symlink():
            found.append(folder)
        else:
            path.unlink(missing_ok=True)
    return sorted(found)


def remove_left_in(home: Path) -> list[Path]:
    """Remove folders that killed runs left in a folder, noted or not; returns those."""
    return [path for path in _folders_in(home) if is_left_over(path.name) and remove_elsewhere(path)]


def _folders_in(home: Path) -> list[Path]:
    return [path for path in home.glob(f"{GROUP_PREFIX}*") if path.is_dir() and not path.is_symlink()]


def remove_elsewhere(folder: Path) -> bool:
    """Remove a left-over folder with its note; whether it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    gone = not folder.exists()
    if gone:
        forget(folder)
    return gone


def _notes() -> Path:
    return state_folder("made")


def state_folder(name: str) -> Path:
    """A folder of the user's state that outlives a restart of the machine."""
    state = os.environ.get(STATE_VARIABLE)
    return (Path(state) if state else Path.home() / ".local" / "state") / "deadzone" / name
