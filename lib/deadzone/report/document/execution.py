"""Executing the project's notebooks with papermill, and telling its errors as errors of Deadzone.

An executed notebook is made fit for publishing: no paths of the machine, nothing that differs from
time to time. papermill writes absolute paths, times and durations into the metadata, and a kernel
warns with the paths of its libraries. None of that belongs to what was measured, so it is taken
out; the trials keep their own times.

Secrets are kept out of reports, for papermill stores parameters in the notebook for everybody to
read.
"""

import asyncio
import logging
import os
import re
import resource
import signal
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, TextIO

from deadzone import errors, places
from deadzone.errors import DeadzoneError, ReportError, check_known
from deadzone.report.document.drawing import SVG, numbered
from deadzone.study.levels import texts_in
from deadzone.study.masking import AUTHORISATION, SECRET_QUERY, USER_AND_PASSWORD
from deadzone.style import RC_PARAMS, WIDTH_IN

QUIET = ["--log-level=CRITICAL"]
"""A kernel that is told to end may log the interrupt on the caller's stderr; what its cells print
still arrives."""

FIGURES = {name: value for name, value in RC_PARAMS.items() if name != "axes.grid"} | {
    "figure.figsize": (WIDTH_IN, 3.4)
}
"""Settings of figures that a cell leaves to the notebook: the project's style, without a grid,
which would cross heat maps."""

DRAWN = [
    "--InlineBackend.figure_formats=svg",
    f"--InlineBackend.rc={FIGURES!r}",
    "--InlineBackend.print_figure_kwargs={'bbox_inches': 'tight', 'metadata': {'Date': None, "
    "'Creator': None}}",
]
"""Options of a kernel whose figures are drawings, of the same bytes each time."""

FIRST = (
    "import os, numpy; open({noted!r}, 'w').write(str(os.getpid())); "
    "os.environ.update({environment!r}); numpy.random.seed(0); "
    "from deadzone.report.document.frames import show_as_tables; "
    "show_as_tables(get_ipython().display_formatter.mimebundle_formatter)"
)
"""What a kernel executes first: it notes its process; points that seaborn strews fall alike each
time, and data frames and summaries are written as tables of the report."""

LEAST_OPEN_FILES = 100
"""A kernel and its caller have up to eighty at once; with fewer they die without a word, or wait
for each other."""

LONGEST_SOCKET_NAME = 90
"""Systems take names of sockets of about 100 characters; jupyter adds a number."""

INTERRUPT_TIMEOUT_S = 30.0
"""How long an interrupted notebook that measures nothing gets to end [s]."""


def notebook_parameters(path: Path) -> list[str]:
    """Names of a notebook's parameters. Raises ReportError if it cannot be read."""
    import papermill

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(papermill.inspect_notebook(_plain(path)))
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: cannot be read as a notebook: {error}.") from error


def _plain(path: Path) -> str:
    """A path as papermill takes it, which fills in braces."""
    return str(path).replace("{", "{{").replace("}", "}}")


def execute(
    path: Path,
    output: Path,
    parameters: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    stderr: TextIO | None = None,
    interrupt: Callable[[], bool] | None = None,
) -> None:
    """Execute a notebook and write the result to output.

    environment: variables the kernel gets besides this process's own. stderr: shows what the cells
    write to theirs. interrupt: called once if this process is interrupted; it asks the notebook to
    stop, and says whether that can hear it and is waited for; by default its kernel is interrupted.

    Raises the DeadzoneError that a cell raised, or ReportError for any other failure in it, and
    where too few files may be open.
    """
    _refuse_unknown(path, parameters)
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= most < LEAST_OPEN_FILES:
        raise ReportError(
            f"{path.name} needs {LEAST_OPEN_FILES} open files and may have {most}: ulimit -n 1024."
        )
    # The kernel works in the notebook's folder, from where it would look for runs elsewhere than
    # its caller.
    environment = {places.HOME_VARIABLE: str(places.home()), **(environment or {})}
    ended: Future[None] = Future()

    def work() -> None:
        # A thread has no event loop of its own, and those that jupyter makes are never closed: what
        # is left of them at the end of the process is told as an error.
        try:
            with closing(asyncio.new_event_loop()) as loop:
                asyncio.set_event_loop(loop)
                try:
                    _papermill(path, output, parameters, environment, stderr)
                finally:
                    asyncio.get_event_loop().close()
            ended.set_result(None)
        except BaseException as error:
            ended.set_exception(error)

    Thread(target=work, name=f"papermill {path.name}", daemon=True).start()
    try:
        failure = ended.exception()  # Thread.join, interrupted, takes the thread for ended
    except KeyboardInterrupt:
        if (interrupt or partial(_interrupted, _noted(output)))():
            # A sweep gives back what it changed, as by a rollout; a second interrupt ends it.
            with suppress(TimeoutError):
                ended.exception(None if interrupt else INTERRUPT_TIMEOUT_S)
        raise
    if failure:
        raise _as_own_error(failure, path) from failure


def _refuse_unknown(path: Path, parameters: Mapping[str, Any]) -> None:
    """papermill only warns of these and goes on with the default."""
    refuse_secrets(parameters)
    known = notebook_parameters(path)
    for name in parameters:
        check_known(ReportError, f"{path.name} has no parameter {name!r}", name, known)


def _noted(output: Path) -> Path:
    """Where a kernel notes its process."""
    return output.with_name(f"{output.name}.pid")


def _interrupted(noted: Path) -> bool:
    """Interrupt a kernel; False where there is none yet."""
    with suppress(OSError, ValueError):
        os.kill(int(noted.read_text()), signal.SIGINT)
        return True
    return False


def _papermill(
    path: Path,
    output: Path,
    parameters: Mapping[str, Any],
    environment: Mapping[str, str],
    stderr: TextIO | None,
) -> None:
    import papermill
    from traitlets.config import Config

    logging.getLogger("papermill").setLevel(logging.ERROR)
    first = FIRST.format(environment=dict(environment), noted=str(_noted(output)))
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="dz-") as sockets:
        warnings.simplefilter("ignore")
        papermill.execute_notebook(
            _plain(path),
            _plain(output),
            parameters=dict(parameters),
            cwd=str(path.parent),
            progress_bar=False,
            stderr_file=stderr,
            config=Config(
                {
                    "KernelManager": _transport(Path(sockets)),
                    "NotebookClient": {
                        "extra_arguments": [
                            *QUIET,
                            *DRAWN,
                            f"--IPKernelApp.exec_lines={first}",
                        ]
                    },
                }
            ),
        )


def _transport(sockets: Path) -> dict[str, str]:
    """How to talk to the kernel: through sockets in a folder of its own, which no other kernel
    shares.

    Without a folder, two commands started in one place would take the same names and hear each
    other.
    """
    name = str(sockets / "kernel")
    return (
        {"transport": "ipc", "ip": name}
        if len(name) < LONGEST_SOCKET_NAME
        else {"transport": "tcp"}
    )


def _as_own_error(error: BaseException, path: Path) -> DeadzoneError:
    name, value = getattr(error, "ename", ""), str(getattr(error, "evalue", "") or error)
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, DeadzoneError):
        return kind(value)
    if name == "KeyboardInterrupt":
        return ReportError(f"{path.name} was interrupted.")
    return ReportError(f"{path.name} failed with {name or type(error).__name__}: {value}.")


SECRET_NAMES = (
    "token", "password", "passwd", "passphrase", "secret", "kubeconfig", "api_key", "apikey",
    "credential", "private_key", "access_key", "authorization", "bearer",
)  # fmt: skip
"""A parameter whose name holds one of these is refused, whatever its value."""

SECRET_VALUES = (
    USER_AND_PASSWORD,
    AUTHORISATION,
    SECRET_QUERY,
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    re.compile(r"client-(key|certificate)-data|^\s*current-context:", re.MULTILINE),  # a kubeconfig
    re.compile(
        r"\b(eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.|gh[pousr]_\w{20,}|glpat-[\w-]{15,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}\b)"
    ),  # tokens
)
"""What a secret value looks like."""


def refuse_secrets(parameters: Mapping[str, Any]) -> None:
    """Check the parameters of a notebook, nested ones included, by name and by value.

    Raises ReportError for the first that looks like a secret, without repeating its value.
    """
    for path, name, value in _walk(parameters, ""):
        text = value if isinstance(value, str) else ""
        lowered = name.lower().replace("-", "_")
        if not any(texts_in([value])):
            lowered = lowered.replace("tokens", "")  # of a model, counted
        is_named = any(word in lowered for word in SECRET_NAMES)
        if is_named or any(pattern.search(text) for pattern in SECRET_VALUES):
            raise ReportError(
                f"The parameter {path.lstrip('.')!r} looks like a secret, and parameters are "
                "stored in the executed notebook. Pass it in an environment variable."
            )


def _walk(value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    """Every entry within mappings and lists: its path, its own name, its value."""
    entries: list[tuple[str, str, Any]] = []
    if isinstance(value, Mapping):
        entries = [(f"{path}.{name}", str(name), part) for name, part in value.items()]
    elif isinstance(value, list | tuple):
        entries = [(f"{path}[{position}]", "", part) for position, part in enumerate(value)]
    for entry in entries:
        yield entry
        yield from _walk(entry[2], entry[0])


def scrubbed(notebook: Any) -> Any:
    """A copy of an executed notebook without machine paths, times and random ids, as plain data."""
    folders = machine_folders()
    cells = [_cell(cell, position, folders) for position, cell in enumerate(notebook["cells"])]
    given = notebook["metadata"].get("papermill", {}).get("parameters", {})
    metadata: dict[str, Any] = {
        "papermill": {"parameters": without_paths(given, folders)},
        "language_info": {"name": "python"},
    }
    if "kernelspec" in notebook["metadata"]:  # how to open it
        metadata["kernelspec"] = notebook["metadata"]["kernelspec"]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(cell: Any, position: int, folders: Mapping[str, str]) -> dict[str, Any]:
    source = without_paths(cell["source"], folders)
    for name, forms in cell.get("attachments", {}).items():  # pictures that were pasted
        kind, content = next(iter(forms.items()))
        source = source.replace(f"attachment:{name}", f"data:{kind};base64,{content}")
    kept: dict[str, Any] = {
        "cell_type": cell["cell_type"],
        "id": f"cell-{position:02d}",
        "metadata": {"tags": list(tags)} if (tags := cell["metadata"].get("tags")) else {},
        "source": source,
    }
    if cell["cell_type"] == "code":
        # what libraries print to stderr is noise; what a report must say of its own it displays
        outputs = [output for output in cell.get("outputs", ()) if output.get("name") != "stderr"]
        kept["outputs"] = [_steady(without_paths(output, folders)) for output in outputs]
        kept["execution_count"] = cell.get("execution_count")
    return kept


def _steady(output: dict[str, Any]) -> dict[str, Any]:
    """An output whose drawing has the same ids each time."""
    data = output.get("data", {})
    return {**output, "data": {**data, SVG: numbered(data[SVG])}} if SVG in data else output


def machine_folders() -> dict[str, str]:
    """Folders of this machine and what is written in their place, the longest first."""
    named = {
        str(places.home()): ".",
        str(places.home().resolve()): ".",
        sys.prefix: "$VIRTUAL_ENV",
        sysconfig.get_paths()["purelib"]: "$VIRTUAL_ENV",
        tempfile.gettempdir(): "$TMPDIR",
        str(Path.home()): "~",
    }
    sensible = {folder: short for folder, short in named.items() if folder not in ("", "/", ".")}
    return dict(sorted(sensible.items(), key=lambda item: -len(item[0])))


def without_paths(value: Any, folders: Mapping[str, str]) -> Any:
    """A value with the machine's folders replaced in every text within it."""
    if isinstance(value, str):
        for folder, short in folders.items():
            value = re.sub(
                rf"{re.escape(folder)}(?=[/\s\"'\\:;,)<]|$)", short.replace("\\", "\\\\"), value
            )
        return value
    if isinstance(value, Mapping):
        return {str(name): without_paths(part, folders) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(part, folders) for part in value]
    return value
