"""What is typed for a run: its name, what measures it again, and by what it goes on."""

import shlex
from contextlib import suppress

from deadzone import places
from deadzone.contents import text_of
from deadzone.errors import DeadzoneError, is_in_command, resume_option
from deadzone.store.run import RunFolder
from deadzone.study.masking import MASK

STUDY_NAME_FILE = "study-name.txt"
"""What the study is called by on the command line: its name, or the path of its file."""

TRY = "deadzone try "

TRY_LINE_FILE = "try-line.txt"
"""The whole line of a `deadzone try`, with secrets masked."""

TRY_FOLDER_FILE = "try-folder.txt"
"""Where it was typed: its command may be a path from there."""


def name_of(run: RunFolder) -> str:
    """The run as it is asked for: its study and id, which hold on every machine, STUDY/reference of
    one that the package holds; its folder where it lies elsewhere."""
    for name in (f"{run.folder.parent.name}/{run.run_id}", f"{run.run_id}/reference"):
        with suppress(DeadzoneError):
            if RunFolder.find(places.runs_folder(), name).folder.resolve() == run.folder.resolve():
                return name
    return str(run.folder.resolve())


def command_line(run: RunFolder) -> str:
    """The line that measures the run again; empty where none does, for Python wrote its study."""
    with suppress(OSError, UnicodeDecodeError):
        return text_of(run.folder / TRY_LINE_FILE).strip()
    with suppress(OSError, UnicodeDecodeError):
        name = text_of(run.folder / STUDY_NAME_FILE).strip()
        changed = (word for key, value in run.overrides().items() for word in ("-p", key, value))
        return shlex.join(("deadzone", "run", name, *map(str, changed)))
    return ""


def try_folder(run: RunFolder) -> str:
    """Where the line of a `deadzone try` was typed; empty where that is not known."""
    with suppress(OSError, UnicodeDecodeError):
        return text_of(run.folder / TRY_FOLDER_FILE)
    return ""


def way_on(run: RunFolder) -> str:
    """What makes the run go on, to be typed, of a `deadzone try` without its line; empty where
    nothing does."""
    line = command_line(run) if is_in_command() else "dz.sweep"
    is_try = line.startswith(TRY) and MASK not in line
    return resume_option(run.run_id, command=TRY if is_try else "") if line else ""
