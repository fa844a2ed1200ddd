"""Parameters on the command line: `-p NAME VALUE` and `-f FILE`, as in papermill; `-w` and `-r`, as in hyperfine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from deadzone.errors import StudyError

Function = TypeVar("Function", bound=Callable[..., Any])


def study_options(function: Function) -> Function:
    """The options of every command that measures a study."""
    options = (
        click.argument("study"),
        click.option(
            "-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="Set a value of the study."
        ),
        click.option(
            "-f", "parameter_file", type=click.Path(path_type=Path), help="YAML file with values to set."
        ),
        click.option("-r", "--runs", "replicates", type=int, help="Measured trials of each treatment."),
        click.option("-w", "--warmup", type=int, help="Warm-up trials of each treatment."),
        click.option("--resume", metavar="RUN", help="Go on with an interrupted run: its id, or latest."),
        click.option("--dry-run", is_flag=True, help="Print the plan and run nothing."),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def overrides_of(
    parameters: tuple[tuple[str, str], ...],
    parameter_file: Path | None,
    replicates: int | None,
    warmup: int | None,
) -> dict[str, Any]:
    """What the command line changes of a study: the file first, then -p, then -r and -w.

    Raises StudyError if the file is missing or no mapping.
    """
    values = _from_file(parameter_file) if parameter_file else {}
    values |= {name: yaml.safe_load(text) if text else text for name, text in parameters}
    values |= {} if replicates is None else {"replicates": replicates}
    values |= {} if warmup is None else {"warmup": warmup}
    return values


def _from_file(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"{path}: cannot read the parameter file: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: this is not YAML.") from error
    if not isinstance(document, dict):
        raise StudyError(f"{path}: a parameter file is a mapping of names to values.")
    return {str(name): value for name, value in document.items()}
