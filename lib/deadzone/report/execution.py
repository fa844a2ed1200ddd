"""Executing the project's notebooks with papermill, and telling its errors as Deadzone's own."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import Any

from deadzone import errors
from deadzone.errors import DeadzoneError, ReportError, did_you_mean

WATCH_PERIOD_S = 0.25
"""How often a caller looks at the run's journal while a notebook measures [s]."""

INTERRUPT_TIMEOUT_S = 30.0
"""How long an interrupted notebook gets to clean up behind itself [s]."""

SECRET_NAMES = ("token", "password", "passwd", "secret", "kubeconfig", "api_key", "apikey", "credential")
"""A parameter whose name holds one of these would end up in the executed notebook for everybody to read."""


def notebook_parameters(path: Path) -> tuple[str, ...]:
    """Names of a notebook's parameters. Raises ReportError if it cannot be read."""
    import papermill

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tuple(papermill.inspect_notebook(str(path)))
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: cannot be read as a notebook: {error}.") from error


def execute(
    path: Path,
    output: Path,
    parameters: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    watch: Callable[[], None] | None = None,
    interrupt: Callable[[], None] | None = None,
) -> None:
    """Execute a notebook and write the result to output.

    environment: variables the kernel gets besides this process's own. watch: called a few times a second
    meanwhile. interrupt: called once if this process is interrupted; it asks the notebook to stop.

    Raises the DeadzoneError that a cell raised, or ReportError for any other failure in it.
    """
    _refuse_unknown(path, parameters)
    failure: list[BaseException] = []

    def work() -> None:
        try:
            _papermill(path, output, parameters)
        except BaseException as error:
            failure.append(error)

    before = {name: os.environ.get(name) for name in environment or {}}
    os.environ.update(environment or {})
    try:
        thread = Thread(target=work, name=f"papermill {path.name}", daemon=True)
        thread.start()
        _wait(thread, watch, interrupt)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    if failure:
        raise _as_own_error(failure[0], path) from failure[0]


def refuse_secrets(names: Mapping[str, Any]) -> None:
    """Raise ReportError for a parameter that looks like a secret: it would be stored in the notebook."""
    for name in names:
        if any(word in name.lower() for word in SECRET_NAMES):
            raise ReportError(
                f"The parameter {name!r} looks like a secret, and parameters are stored in the executed notebook. "
                "Pass it in an environment variable."
            )


def _refuse_unknown(path: Path, parameters: Mapping[str, Any]) -> None:
    """papermill only warns of these and goes on with the default."""
    refuse_secrets(parameters)
    known = notebook_parameters(path)
    for name in parameters:
        if name not in known:
            raise ReportError(f"{path.name} has no parameter {name!r}.{did_you_mean(name, known)}")


def _papermill(path: Path, output: Path, parameters: Mapping[str, Any]) -> None:
    import papermill
    from traitlets.config import Config

    logging.getLogger("papermill").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        papermill.execute_notebook(
            str(path),
            str(output),
            parameters=dict(parameters),
            cwd=str(path.parent),
            progress_bar=False,
            config=Config({"KernelManager": {"transport": "ipc"}}),
        )


def _wait(thread: Thread, watch: Callable[[], None] | None, interrupt: Callable[[], None] | None) -> None:
    try:
        while thread.is_alive():
            thread.join(WATCH_PERIOD_S)
            if watch:
                watch()
    except KeyboardInterrupt:
        if interrupt:
            interrupt()
        thread.join(INTERRUPT_TIMEOUT_S)
        raise


def _as_own_error(error: BaseException, path: Path) -> DeadzoneError:
    name, value = getattr(error, "ename", ""), str(getattr(error, "evalue", "") or error)
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, DeadzoneError):
        return kind(value)
    if name == "KeyboardInterrupt":
        return ReportError(f"{path.name} was interrupted.")
    return ReportError(f"{path.name} failed with {name or type(error).__name__}: {value}")
