"""An executed notebook made fit for publishing: no paths of the machine, nothing that differs from time to time.

papermill writes absolute paths, times and durations into the metadata, and a kernel warns with the paths of its
libraries. None of that belongs to what was measured, so it is taken out; the trials keep their own times.
"""

import re
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadzone import places

KEPT_METADATA = ("kernelspec", "language_info")
"""Metadata of a notebook that say how to open it; papermill's is cut down to the parameters."""


def scrubbed(notebook: Any) -> Any:
    """A copy of an executed notebook without machine paths, times and random ids, as plain data."""
    folders = machine_folders()
    cells = [_cell(cell, position, folders) for position, cell in enumerate(notebook["cells"])]
    metadata = {name: notebook["metadata"][name] for name in KEPT_METADATA if name in notebook["metadata"]}
    parameters = dict(notebook["metadata"].get("papermill", {}).get("parameters", {}))
    metadata["papermill"] = {"parameters": without_paths(parameters, folders)}
    metadata["language_info"] = {"name": "python"}
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
            if folder in value:
                value = re.sub(
                    rf"{re.escape(folder)}(?=[/\s\"'\\:;,)<]|$)", short.replace("\\", "\\\\"), value
                )
        return value
    if isinstance(value, Mapping):
        return {str(name): without_paths(part, folders) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(part, folders) for part in value]
    return value
