"""Parameters on the command line: `-p NAME VALUE` and `-f FILE`, as in papermill; `-w` and `-r`, as
in hyperfine; and what a study from elsewhere would execute, said before it does."""

import hashlib
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from deadzone import places
from deadzone.cli.claims import claim_option, fail_on_option
from deadzone.cli.options import FILE, minus_one_option, places_asked, together, zero_option
from deadzone.errors import StudyError
from deadzone.language.messages import _
from deadzone.run.targets.undo_log import state_folder
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.coresident_specs import coresident_of
from deadzone.study.loading import SUFFIXES, find_study, load_study, read_yaml, yaml_in
from deadzone.study.masking import masked
from deadzone.visible import visible

EXECUTED = (
    "argv", "setup", "prepare", "cleanup", "hook", "restore", "script", "image", "notebook",
    "program",
)  # fmt: skip
"""Keys of a study whose text is executed, or names what is."""

measuring_options = together(
    click.option(
        "--belongs",
        multiple=True,
        metavar="KEY=VALUE",
        help="A running process that works for the trials, such as a server: port=5432, "
        "process=postgres, unit=, pid_file=, cgroup=, container= or pod=.",
    ),
    minus_one_option,
    zero_option,
    click.option(
        "--adaptive",
        is_flag=True,
        help="Choose the levels automatically, the most informative per second first.",
    ),
    click.option(
        "--resolution",
        type=float,
        metavar="SHARE",
        help="Adaptive, also between levels, until each phase's start is known to this share "
        "(0.05).",
    ),
    click.option(
        "--budget",
        metavar="TIME",
        help="Time that the trials may take, such as 30s, 5m or 1h; anew with --resume.",
    ),
    click.option(
        "--foreign-cpu",
        type=click.FloatRange(min=0, min_open=True),
        metavar="CORES",
        help="CPU that others may use in a trusted trial: more if a server on this machine "
        "answers.",
    ),
    click.option(
        "--resume", metavar="RUN", help="Go on with an interrupted run: its id, or latest."
    ),
    click.option("--dry-run", is_flag=True, help="Print the plan and run nothing."),
    click.option(
        "--rehearse",
        is_flag=True,
        help="Measure one trial at each end of the range, say what is wrong, keep nothing.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    claim_option,
    fail_on_option,
)
"""Of `try` too."""


@dataclass(frozen=True)
class Asked:
    """What a command line asks of a study. overrides: what it changes of the study, further claims
    among it."""

    study: str
    overrides: dict[str, Any]
    resume: str | None
    dry_run: bool
    rehearse: bool
    as_json: bool
    fail_on: str | None


def study_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that measures a study.

    The command is given what they ask, and its own options.
    """

    @wraps(function)
    def with_overrides(**given: Any) -> None:
        own = [places.home().resolve(), places.CARRIED]
        path = Path(given["study"])
        if is_file := path.suffix in SUFFIXES or os.path.isfile(path):  # noqa: PTH113 - long names
            places.use_home_of(path)
        changes = ("parameters", "parameter_file", "replicates", "warmup", "allow")
        overrides = overrides_of(*(given.pop(name) for name in changes))
        resolution = given.pop("resolution")
        is_adaptive = given.pop("adaptive") or resolution is not None
        overrides |= _known(
            {
                "belongs": [coresident_of(text) for text in given.pop("belongs")] or None,
                "design.until.resolution": resolution,
                "design.kind": "adaptive" if is_adaptive else None,
                "design.budget_s": given.pop("budget") or None,
                "trust.max_foreign_cpu": given.pop("foreign_cpu"),
            }
        )
        at, sentences = places_asked(given), given.pop("sentences")
        if at or sentences:
            file = find_study(given["study"], places.study_folders())
            study = load_study(file, overrides, only_own=True)
            overrides |= {
                f"factors.{study.knob_name}.at.{name}": place for name, place in at.items()
            }
            claims = (*study.claims, *map(parse_claim, sentences))
            overrides |= {"claims": [claim.stated() for claim in claims]} if sentences else {}
        asked = {name: given.pop(name) for name in Asked.__dataclass_fields__ if name in given}
        if is_file and not asked["dry_run"] and not any(map(path.resolve().is_relative_to, own)):
            agree_to_execute(path, overrides)
        function(Asked(**asked, overrides=overrides), **given)

    return together(
        click.argument("study"),
        click.option(
            "-p",
            "parameters",
            nargs=2,
            multiple=True,
            metavar="NAME VALUE",
            help="Set a value of the study.",
        ),
        click.option("-f", "parameter_file", type=FILE, help="YAML file with values to set."),
        click.option(
            "-r", "--runs", "replicates", type=int, help="Measured trials of each treatment."
        ),
        click.option("-w", "--warmup", type=int, help="Warm-up trials of each treatment."),
        click.option(
            "--allow",
            is_flag=True,
            help="Sweep a workload of a cluster that lacks the annotation deadzone.dev/sweep.",
        ),
        measuring_options,
    )(with_overrides)


def overrides_of(
    parameters: tuple[tuple[str, str], ...],
    parameter_file: Path | None,
    replicates: int | None,
    warmup: int | None,
    allow: bool = False,
) -> dict[str, Any]:
    """What the command line changes of a study: the file first, then -p, then -r, -w and --allow.

    A value is what YAML reads in its text; empty text stays empty text.

    Raises StudyError if the file is missing or no mapping.
    """
    values = yaml_in(parameter_file) if parameter_file else {}
    if not isinstance(values, dict):
        raise StudyError(f"{parameter_file}: a parameter file is a mapping of names to values.")
    values = {str(name): value for name, value in values.items()}
    values |= {name: read_yaml(text, f"-p {name}") if text else text for name, text in parameters}
    options = {"replicates": replicates, "warmup": warmup, "target.allow": allow or None}
    return values | _known(options)


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in values.items() if value is not None}


def agree_to_execute(path: Path, overrides: dict[str, Any]) -> None:
    """Show the commands of a study that lies outside the repository, with what is asked of it in
    place of its own; raise click.Abort where the user does not agree.

    On a terminal the user is asked, once for each text of the study. Raises StudyError if there is
    no such study.
    """
    study = load_study(path, overrides, only_own=True)
    commands = [*commands_in(study.model_dump(mode="json"))]
    key = hashlib.sha256("\n".join(commands).encode()).hexdigest()
    agreed = state_folder("agreed") / key
    if not commands or agreed.exists():
        return
    click.echo(
        "\n  ".join(
            [
                _("{path} is not part of Deadzone. It executes:", path=str(path)),
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
        if key in EXECUTED and value and (key, value) != ("program", "bundled"):
            yield masked(
                f"{name}: {value if isinstance(value, str) else shlex.join(map(str, value))}"
            )
        else:
            yield from commands_in(value, name)
