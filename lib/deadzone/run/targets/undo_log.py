"""What has to be given back: noted on disk before it is changed, so that a kill at any instant
leaves nothing changed for good.

A note bears the name of the process that made it, like everything Deadzone makes; once that process
is gone, the next run or `deadzone restore` keeps the promise.

Control groups, their processes and scratch folders of a killed run are found by their names:
whatever bears the name of a process that is gone is left over. Folders elsewhere, such as on the
disk to be measured, are noted before they are made. Notes lie in the user's state folder
(XDG_STATE_HOME), which outlives a restart of the machine.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from deadzone.errors import NotGivenBackError, system_reason
from deadzone.run.targets.limits.base import (
    EMPTYING_TIMEOUT_S,
    GROUP_PREFIX,
    MADE_NAME,
    group_name,
    is_left_over,
    kill_all,
    remove_group,
)
from deadzone.run.targets.limits.cgroup_v1 import v1_mounts
from deadzone.run.targets.limits.cgroup_v2 import hand_back, v2_mount
from deadzone.run.targets.processes import listed
from deadzone.store.programs import answer_of, last_words
from deadzone.store.provenance import first_line
from deadzone.study.masking import masked

ENDING = ".json"

BOOT = Path("/proc/sys/kernel/random/boot_id")

RESTORE = "`deadzone restore` tries again."

KEEPING_TIMEOUT_S = 120.0
"""A command that gives something back and takes longer than this is taken for hung [s]."""


def _boot() -> str:
    return first_line(BOOT) or ""


@dataclass(frozen=True)
class UndoEntry:
    """What to give back. what: said to people. files: text by path, written in this order. moves:
    groups whose processes go back to another one, and are removed. argv: run in cwd. folders: made
    by Deadzone, removed with what lies in them. boot: the start of the machine it was noted in."""

    what: str
    files: dict[str, str] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    folders: tuple[str, ...] = ()
    boot: str = field(default_factory=_boot)


def record_change(made: UndoEntry) -> Path:
    """Note what has to be given back, before it is changed. Raises OSError where nothing can be
    noted."""
    folder = state_folder("promised")
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / f"{group_name(counted=True)}{ENDING}"
    with note.open("w", encoding="utf-8") as out:
        json.dump(asdict(made), out)
        out.flush()
        os.fsync(out.fileno())
    return note


def undo(note: Path) -> str | None:
    """Give back what a note promises, and remove it; what could not be given back, None where all
    was."""
    made = UndoEntry(**json.loads(note.read_text(encoding="utf-8")))
    # groups end with the machine
    groups = [*_moved_back(made), *_written(made)] if made.boot == _boot() else []
    problems = [*groups, *_run(made), *_removed(made)]
    if problems:
        return (
            f"{made.what} was not given back: {'; '.join(problems)} (remove {note} where nothing "
            "is to be given back)"
        )
    note.unlink(missing_ok=True)
    return None


def tell(problem: str | None, error: BaseException | None, note: Callable[[str], None]) -> None:
    """Say that something was not given back: beside the error that ends a sweep, or as one. Raises
    NotGivenBackError."""
    if problem:
        sentence = f"{masked(problem)}. {RESTORE}"
        if error is None:
            raise NotGivenBackError(sentence)
        note(sentence)


def give_back_left_over(note: Callable[[str], None]) -> None:
    """Give back what killed runs left; note: is told what could not be."""
    remove_leftovers()
    for problem in undo_left_over()[1]:
        note(f"{masked(problem)}. {RESTORE}")


def undo_left_over() -> tuple[list[str], list[str]]:
    """Keep what killed runs promised; what was given back, and what could not be."""
    done: list[str] = []
    problems: list[str] = []
    for note in sorted(state_folder("promised").glob(f"*{ENDING}")):
        if not is_left_over(note.name.removesuffix(ENDING)):
            continue
        try:
            what = json.loads(note.read_text(encoding="utf-8"))["what"]
        except OSError:  # kept by another process meanwhile, or another user's to keep
            continue
        except (ValueError, KeyError):  # cut off before anything was changed
            note.unlink(missing_ok=True)
            continue
        problem = undo(note)
        (problems if problem else done).append(problem or what)
    return done, problems


def _moved_back(made: UndoEntry) -> Iterator[str]:
    for ours, home in made.moves.items():
        for pid in listed([Path(ours, "cgroup.procs")]):
            try:
                Path(home, "cgroup.procs").write_text(str(pid))
            except ProcessLookupError:
                continue
            except OSError as error:
                yield system_reason(error)
        if remove_group(Path(ours)):
            hand_back(Path(ours))
        else:
            yield f"{ours} is not empty"


def _written(made: UndoEntry) -> Iterator[str]:
    """What is gone needs nothing back."""
    for name, text in made.files.items():
        try:
            Path(name).write_text(text)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield f"{name}: {error.strerror}"


def _run(made: UndoEntry) -> Iterator[str]:
    if not made.argv:
        return
    folder = made.cwd if made.cwd and Path(made.cwd).is_dir() else None
    answer = answer_of(made.argv, KEEPING_TIMEOUT_S, folder)
    if answer.returncode:
        yield f"{' '.join(made.argv)}: {last_words(answer)}"


def _removed(made: UndoEntry) -> Iterator[str]:
    for folder in map(Path, made.folders):
        if MADE_NAME.match(folder.name):
            shutil.rmtree(folder, ignore_errors=True)  # never where a link leads
            if folder.is_dir() and not folder.is_symlink():
                yield f"{folder} cannot be removed"


STATE_VARIABLE = "XDG_STATE_HOME"


def find_leftovers() -> list[Path]:
    """Control groups and scratch folders whose maker no longer lives."""
    homes = {Path(tempfile.gettempdir()), Path("/dev/shm")}
    scratch = (path for home in homes for path in home.glob(f"{GROUP_PREFIX}*"))
    folders = (path for path in scratch if path.is_dir() and not path.is_symlink())
    return sorted(path for path in (*_groups(), *folders) if is_left_over(path.name))


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
            shutil.rmtree(path, ignore_errors=True)
            gone = not path.exists()
        if gone:
            removed.append(path)
    for path in removed:
        hand_back(path)
    return removed


def _await_systemd(scope: Path) -> None:
    """Let systemd remove an empty scope: it would take one whose group is gone for still
    running."""
    deadline = time.monotonic() + EMPTYING_TIMEOUT_S
    while scope.is_dir() and time.monotonic() < deadline:
        time.sleep(0.01)


def _groups() -> Iterator[Path]:
    """Groups anywhere in the hierarchies, for the killed run may have been in another session than
    this one."""
    for root in {*v1_mounts().values(), v2_mount()} - {None}:
        for folder, below, _ in os.walk(str(root)):
            yield from (Path(folder) / name for name in below if name.startswith(GROUP_PREFIX))


def state_folder(name: str) -> Path:
    """A folder of the user's state that outlives a restart of the machine."""
    state = os.environ.get(STATE_VARIABLE) or Path.home() / ".local" / "state"
    return Path(state, "deadzone", name)
