"""An executed notebook made fit for publishing: no paths of the machine, nothing that differs from time to time.

papermill writes absolute paths, times and durations into the metadata, and a kernel warns with the paths of its
libraries. None of that belongs to what was measured, so it is taken out; the trials keep their own times.

Keeping secrets out of reports: papermill stores parameters in the notebook for everybody to read.
"""

import re
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deadzone import places
from deadzone.errors import ReportError
from deadzone.study.masking import AUTHORISATION, SECRET_QUERY, USER_AND_PASSWORD

SECRET_NAMES = (
    "token", "password", "passwd", "passphrase", "secret", "kubeconfig", "api_key", "apikey", "credential",
    "private_key", "access_key", "authorization", "bearer",
)  # fmt: skip
"""A parameter whose name holds one of these is refused, whatever its value."""

SECRET_VALUES = {
    "an address with a password in it": USER_AND_PASSWORD,
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "the contents of a kubeconfig": re.compile(r"client-(key|certificate)-data|^\s*current-context:", re.MULTILINE),
    "an authorisation header": AUTHORISATION,
    "a token": re.compile(r"\b(eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.|gh[pousr]_\w{20,}|glpat-[\w-]{15,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}\b)"),
    "a password in a query": SECRET_QUERY,
}  # fmt: skip
"""What a value looks like that nobody should read, and how the message names it."""


def refuse_secrets(parameters: Mapping[str, Any]) -> None:
    """Check the parameters of a notebook, nested ones included, by name and by value.

    Raises ReportError for the first that looks like a secret, without repeating its value.
    """
    for path, name, value in _walk(parameters, ""):
        lowered, text = name.lower().replace("-", "_"), value if isinstance(value, str) else ""
        found = ["looks like a secret"] if any(word in lowered for word in SECRET_NAMES) else []
        found += [f"holds {what}" for what, pattern in SECRET_VALUES.items() if pattern.search(text)]
        if found:
            raise ReportError(
                f"The parameter {path!r} {found[0]}, and parameters are stored in the executed notebook. "
                "Pass it in an environment variable."
            )


def _walk(value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    """Every entry within mappings and lists: its path, its own name, its value."""
    entries: list[tuple[str, str, Any]] = []
    if isinstance(value, Mapping):
        entries = [(f"{path}.{name}" if path else str(name), str(name), part) for name, part in value.items()]
    elif isinstance(value, list | tuple):
        entries = [(f"{path}[{position}]", "", part) for position, part in enumerate(value)]
    for entry in entries:
        yield entry
        yield from _walk(entry[2], entry[0])


def scrubbed(notebook: Any) -> Any:
    """A copy of an executed notebook without machine paths, times and random ids, as plain data."""
    folders = machine_folders()
    cells = [_cell(cell, position, folders) for position, cell in enumerate(notebook["cells"])]
    parameters = dict(notebook["metadata"].get("papermill", {}).get("parameters", {}))
    metadata: dict[str, Any] = {"papermill": {"parameters": without_paths(parameters, folders)}}
    metadata["language_info"] = {"name": "python"}
    if "kernelspec" in notebook["metadata"]:  # how to open it
        metadata["kernelspec"] = notebook["metadata"]["kernelspec"]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(cell: Any, position: int, folders: Mapping[str, str]) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "cell_type": cell["cell_type"],
        "id": f"cell-{position:02d}",
        "metadata": {"tags": list(tags)} if (tags := cell["metadata"].get("tags")) else {},
        "source": without_paths(cell["source"], folders),
    }
    if cell["cell_type"] == "code":
        outputs = [dict(output) for output in cell.get("outputs", ()) if not _is_noise(output)]
        kept["outputs"] = [without_paths(output, folders) for output in outputs]
        kept["execution_count"] = cell.get("execution_count")
    return kept


def _is_noise(output: Mapping[str, Any]) -> bool:
    """What libraries print to stderr; what a report must say of its own it displays."""
    return output.get("output_type") == "stream" and output.get("name") == "stderr"


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
            value = re.sub(rf"{re.escape(folder)}(?=[/\s\"'\\:;,)<]|$)", short.replace("\\", "\\\\"), value)
        return value
    if isinstance(value, Mapping):
        return {str(name): without_paths(part, folders) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(part, folders) for part in value]
    return value
