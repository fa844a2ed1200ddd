"""Executing the project's notebooks with papermill, and telling its errors as Deadzone's own."""

import asyncio
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

from deadzone import errors, places
from deadzone.errors import DeadzoneError, ReportError, did_you_mean
from deadzone.reports.document.scrubbing import refuse_secrets

WATCH_PERIOD_S = 0.25
"""How often a caller looks at the run's journal while a notebook measures [s]."""

QUIET = ["--log-level=CRITICAL"]
"""A kernel that is told to end may log the interrupt on the caller's stderr; what its cells print still arrives."""

LONGEST_SOCKET_NAME = 90
"""Systems take names of sockets of about 100 characters; jupyter adds a number."""

INTERRUPT_TIMEOUT_S = 30.0
"""How long an interrupted notebook gets to clean up behind itself [s]."""

TYPES: dict[str, tuple[Any, str]] = {
    "str": (str, "a text, in quotes where it reads as a number"),
    "float": (int | float, "a number"),
    "list": (list, "a list"),
    "dict": (Mapping, "a mapping"),
}
"""What a parameter of a declared type may be, and what messages call it."""


def notebook_parameters(path: Path) -> dict[str, str]:
    """Names of a notebook's parameters, and the type that each is declared with. Raises ReportError if it cannot be read."""
    import papermill

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = papermill.inspect_notebook(str(path))
            return {name: one["inferred_type_name"] for name, one in told.items()}
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: cannot be read as a notebook: {error}.") from error


def execute(
    path: Path,
    output: Path,
    parameters: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    watch: Callable[[], None] | None = None,
    interrupt: Callable[[], None] | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> None:
    """Execute a notebook and write the result to output.

    environment: variables the kernel gets besides this process's own. watch: called a few times a second
    meanwhile. meanwhile: called once, while the kernel starts and works. interrupt: called once if this process is interrupted; it asks the notebook to stop.

    Raises the DeadzoneError that a cell raised, or ReportError for any other failure in it.
    """
    _refuse_unknown(path, parameters)
    failure: list[BaseException] = []

    def work() -> None:
        # A thread has no event loop of its own, and the one nbclient would make is never closed.
        try:
            with closing(asyncio.new_event_loop()) as loop:
                asyncio.set_event_loop(loop)
                _papermill(path, output, parameters)
        except BaseException as error:
            failure.append(error)

    # The kernel works in the notebook's folder, from where it would look for runs elsewhere than its caller.
    environment = {places.HOME_VARIABLE: str(places.home()), **(environment or {})}
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        thread = Thread(target=work, name=f"papermill {path.name}", daemon=True)
        thread.start()
        if meanwhile:
            meanwhile()
        _wait(thread, watch, interrupt)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    if failure:
        raise _as_own_error(failure[0], path) from failure[0]


def _refuse_unknown(path: Path, parameters: Mapping[str, Any]) -> None:
    """papermill only warns of these and goes on with the default, or has a cell fail on a value of another type."""
    refuse_secrets(parameters)
    known = notebook_parameters(path)
    for name, value in parameters.items():
        if name not in known:
            raise ReportError(f"{path.name} has no parameter {name!r}.{did_you_mean(name, known)}")
        python_type, words = TYPES.get(known[name], (object, ""))
        is_finite = not isinstance(value, int | float) or abs(value) <= sys.float_info.max
        if not isinstance(value, python_type) or not is_finite:
            raise ReportError(f"{path.name}: the parameter {name} is {value!r:.60}; it must be {words}.")


def _papermill(path: Path, output: Path, parameters: Mapping[str, Any]) -> None:
    import papermill
    from traitlets.config import Config

    logging.getLogger("papermill").setLevel(logging.ERROR)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="dz-") as sockets:
        warnings.simplefilter("ignore")
        papermill.execute_notebook(
            str(path),
            str(output),
            parameters=dict(parameters),
            cwd=str(path.parent),
            progress_bar=False,
            config=Config(
                {"KernelManager": _transport(Path(sockets)), "NotebookClient": {"extra_arguments": QUIET}}
            ),
        )


def _transport(sockets: Path) -> dict[str, str]:
    """How to talk to the kernel: through sockets in a folder of its own, which no other kernel shares.

    Without a folder, two commands started in one place would take the same names and hear each other.
    """
    name = str(sockets / "kernel")
    return {"transport": "ipc", "ip": name} if len(name) < LONGEST_SOCKET_NAME else {"transport": "tcp"}


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
