"""Folders that are made outside the scratch folder, such as those on the disk to be measured: noted where a later run
finds them, so that a kill at any instant leaves nothing for good.

Such a folder bears the name of the process that made it, like everything Deadzone makes. The notes lie in the user's
state folder (XDG_STATE_HOME), which outlives a restart of the machine as the folders do.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from deadzone.measuring.targets.limits.base import GROUP_PREFIX, is_left_over

STATE_VARIABLE = "XDG_STATE_HOME"


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
    for note_file, folder in _noted():
        if not is_left_over(folder.name):
            continue
        if folder.is_dir() and not folder.is_symlink():
            found.append(folder)
        else:
            note_file.unlink(missing_ok=True)
    return sorted(found)


def remove_left_in(home: Path) -> list[Path]:
    """Remove folders that killed runs left in a folder, noted or not; returns those."""
    left = [path for path in home.glob(f"{GROUP_PREFIX}*") if path.is_dir() and not path.is_symlink()]
    return [path for path in left if is_left_over(path.name) and remove_elsewhere(path)]


def remove_elsewhere(folder: Path) -> bool:
    """Remove a left-over folder with its note; whether it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    gone = not folder.exists()
    if gone:
        forget(folder)
    return gone


def _noted() -> Iterator[tuple[Path, Path]]:
    """Notes with the folders they tell of; what is no note of ours is passed over."""
    for path in sorted(_notes().glob(f"{GROUP_PREFIX}*")):
        try:
            folder = Path(path.read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError):
            continue
        if folder.name == path.name:
            yield path, folder


def _notes() -> Path:
    state = os.environ.get(STATE_VARIABLE)
    return (Path(state) if state else Path.home() / ".local" / "state") / "deadzone" / "made"
