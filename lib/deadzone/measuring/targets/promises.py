"""What has to be given back: noted on disk before it is changed, so that a kill at any instant leaves nothing changed for good.

A note bears the name of the process that made it, like everything Deadzone makes; once that process is gone, the next run or
`deadzone restore` keeps the promise.
"""

import itertools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from deadzone.errors import TargetError, system_reason
from deadzone.measuring.targets.leftovers import state_folder
from deadzone.measuring.targets.limits.base import group_name, is_left_over, remove_group
from deadzone.measuring.targets.processes import listed
from deadzone.store.programs import answer_of, last_words
from deadzone.study.masking import masked

ENDING = ".json"

KEEPING_TIMEOUT_S = 120.0
"""A command that gives something back and takes longer than this is taken for hung [s]."""

_COUNT = itertools.count(1)


@dataclass(frozen=True)
class Promise:
    """What to give back. what: said to people. files: text by path, written in this order. moves: groups whose processes go
    back to another one, and are removed. argv: run in cwd as user."""

    what: str
    files: dict[str, str] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    cwd: str | None = None


def promise(made: Promise) -> Path:
    """Note what has to be given back, before it is changed. Raises OSError where nothing can be noted."""
    folder = state_folder("promised")
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / f"{group_name()}-{next(_COUNT)}{ENDING}"
    with note.open("w", encoding="utf-8") as out:
        json.dump(asdict(made), out)
        out.flush()
        os.fsync(out.fileno())
    return note


def keep(note: Path) -> str | None:
    """Give back what a note promises, and remove it; what could not be given back, None where all was."""
    made = Promise(**json.loads(note.read_text(encoding="utf-8")))
    problems = [*_moved_back(made), *_written(made), *_run(made)]
    if problems:
        return f"{made.what} was not given back: {'; '.join(problems)} (remove {note} where nothing is to be given back)"
    note.unlink(missing_ok=True)
    return None


def tell(problem: str | None, error: BaseException | None, note: Callable[[str], None]) -> None:
    """Say that something was not given back: beside the error that ends a sweep, or as one. Raises TargetError."""
    if problem:
        said = f"{masked(problem)}. `deadzone restore` tries again."
        if error is None:
            raise TargetError(said)
        note(said)


def keep_left_over() -> tuple[list[str], list[str]]:
    """Keep what killed runs promised; what was given back, and what could not be."""
    done: list[str] = []
    problems: list[str] = []
    for note in sorted(state_folder("promised").glob(f"*{ENDING}")):
        if not is_left_over(note.name.removesuffix(ENDING)):
            continue
        try:
            what = json.loads(note.read_text(encoding="utf-8"))["what"]
        except (OSError, ValueError, KeyError):  # cut off before anything was changed
            note.unlink(missing_ok=True)
            continue
        problem = keep(note)
        (problems if problem else done).append(problem or what)
    return done, problems


def _moved_back(made: Promise) -> Iterator[str]:
    for ours, home in made.moves.items():
        for pid in listed([Path(ours, "cgroup.procs")]):
            try:
                Path(home, "cgroup.procs").write_text(str(pid))
            except ProcessLookupError:
                continue
            except OSError as error:
                yield system_reason(error)
        if not remove_group(Path(ours)):
            yield f"{ours} is not empty"


def _written(made: Promise) -> Iterator[str]:
    """What is gone needs nothing back."""
    for name, text in made.files.items():
        try:
            Path(name).write_text(text)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield f"{name}: {error.strerror}"


def _run(made: Promise) -> Iterator[str]:
    if not made.argv:
        return
    folder = made.cwd if made.cwd and Path(made.cwd).is_dir() else None
    answer = answer_of(made.argv, KEEPING_TIMEOUT_S, folder)
    if answer.returncode:
        yield f"{' '.join(made.argv)}: {last_words(answer)}"
