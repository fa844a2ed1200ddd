"""The line that measures a run again, and the one by which it goes on."""

import shlex
from contextlib import suppress

from deadzone.contents import text_of
from deadzone.errors import is_in_command, resume_option
from deadzone.store.run import RunFolder
from deadzone.study.masking import MASK

STUDY_NAME_FILE = "study-name.txt"
"""What the study is called by on the command line: its name, or the path of its file."""

TRY = "deadzone try "

TRY_LINE_FILE = "try-line.txt"
"""The whole line of a `deadzone try`, with secrets masked."""

TRY_FOLDER_FILE = "try-folder.txt"
"""Where it was typed: its command may be a path from there."""


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
