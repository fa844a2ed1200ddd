"""What a study from elsewhere would execute, said before it does; on a terminal the user is asked,
once for each text of the study."""

import hashlib
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from deadzone.language.messages import _
from deadzone.run.targets.undo_log import state_folder
from deadzone.study.loading import load_study
from deadzone.study.masking import masked
from deadzone.visible import visible

EXECUTED = ("argv", "setup", "prepare", "cleanup", "hook", "restore", "script", "image")
"""Keys of a study whose text is executed, or names what is."""


def agree_to_execute(path: Path) -> None:
    """Show the commands of a study that lies outside the repository; raise click.Abort where
    the user does not agree.

    Who agreed is not asked again about the same text. Raises StudyError if there is no such study.
    """
    commands = list(commands_in(load_study(path).model_dump(mode="json")))
    key = hashlib.sha256("\n".join(commands).encode()).hexdigest()
    agreed = state_folder("agreed") / key
    if not commands or agreed.exists():
        return
    click.echo(
        "\n  ".join(
            [
                _("{path} is outside this repository. It executes:", path=str(path)),
                *map(visible, commands),
            ]
        ),
        err=True,
    )
    if sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm(
            _("Execute that? Deadzone asks once for these commands."), abort=True, err=True
        )
        with suppress(OSError):  # who keeps no state is asked again
            agreed.parent.mkdir(parents=True, exist_ok=True)
            agreed.touch()


def commands_in(document: Any, where: str = "") -> Iterator[str]:
    """Every list of words of a study that is executed, and every script, with the key that it
    stands under."""
    for key, value in document.items() if isinstance(document, dict) else ():
        name = f"{where}.{key}".removeprefix(".")
        if key in EXECUTED and value:
            yield masked(
                f"{name}: {value if isinstance(value, str) else shlex.join(map(str, value))}"
            )
        else:
            yield from commands_in(value, name)
