"""The published tables under `data/reference/`: found, and loaded with the types they declare.

Each study is a folder with one CSV a table and a `datapackage.json` (Frictionless Data Package)
that gives title, source and, for every column, type, unit and meaning.
"""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone import places
from deadzone.errors import TableError, check_known

DATA_VARIABLE = "DEADZONE_DATA"
"""Environment variable that names the `data` folder when it does not lie next to the code."""

DTYPES: dict[str, tuple[Any, Any]] = {
    "integer": ("Int64", "int64"),
    "number": ("float64", "float64"),
    "boolean": ("boolean", "bool"),
}
"""pandas type for each schema type but text: of a column with, and of one without, missing
values."""


def load_reference(study: str, table: str) -> pd.DataFrame:
    """One published table, one observation a row, with the types of its schema.

    study: name of a folder under `data/reference`, e.g. "ffmpeg-threads".
    table: name of a table of that study, without ".csv", e.g. "limit-equals-threads".
    Returns a frame of shape (rows, declared columns). Units stand in `frame.attrs["units"]` (column
    name to unit), beside "study", "table", "title" and "notes".

    Raises TableError if the study or the table does not exist, or the file does not obey its
    schema.
    """
    resources = {one["name"]: one for one in reference_package(study)["resources"]}
    check_known(TableError, f"No table {table!r} in {study!r}", table, resources, "There are:")
    resource = resources[table]
    path = reference_folder() / study / resource["path"]
    fields = {field["name"]: field for field in resource["schema"]["fields"]}
    try:
        text = pd.read_csv(path, dtype=str, keep_default_na=False, usecols=[*fields])
        frame = pd.DataFrame({name: _typed(text[name], fields[name]) for name in fields})
    except (OSError, TypeError, ValueError) as error:
        raise TableError(
            f"{path} cannot be read as its datapackage.json declares it: {error}. Restore it from "
            "the repository of Deadzone."
        ) from error
    frame.attrs = {
        "study": study,
        "table": table,
        "title": resource["title"],
        "notes": resource.get("notes") or "",
        "units": {name: field["unit"] for name, field in fields.items()},
    }
    return frame


def reference_run(study: str) -> Path | None:
    """The folder of the run of a bundled study that `data/reference/runs` holds; None without
    one."""
    with contextlib.suppress(TableError):  # nothing published is at hand
        folder = reference_folder() / "runs" / study
        return folder if study and folder.is_dir() else None
    return None


def has_reference(study: str) -> bool:
    """Whether there is a published study of this name."""
    with contextlib.suppress(TableError):  # nothing published is at hand
        return study in _studies()
    return False


def reference_folder() -> Path:
    """The folder `data/reference`.

    Looks in the folder that DEADZONE_DATA names; without it, in what the package carries and then
    upward from the current directory.

    Raises TableError if there is none.
    """
    here, named = Path.cwd(), os.environ.get(DATA_VARIABLE)
    around = (parent / "data" for parent in (places.CARRIED, here, *here.parents))
    for folder in [Path(named)] if named else around:
        if (folder / "reference").is_dir():
            return folder / "reference"
    if named:
        raise TableError(
            f"{DATA_VARIABLE} is {named!r}, which has no folder 'reference'; name the data folder."
        )
    raise TableError(
        "data/reference is not found next to the code or above the current directory; work inside "
        f"the repository or set {DATA_VARIABLE} to its data folder."
    )


def _studies() -> list[str]:
    return sorted(path.parent.name for path in reference_folder().glob("*/datapackage.json"))


def reference_package(study: str) -> dict[str, Any]:
    """What `datapackage.json` says of a study: title, sources, notes, what is missing, and its
    tables.

    Raises TableError if the study does not exist or its file cannot be read.
    """
    check_known(TableError, f"No reference study {study!r}", study, _studies(), "There are:")
    path = reference_folder() / study / "datapackage.json"
    try:
        package: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TableError(
            f"{path} is not valid JSON: {error}. Restore it from the repository of Deadzone."
        ) from error
    return package


def _typed(column: pd.Series, field: dict[str, Any]) -> pd.Series:
    """A column of text with the type that its field declares; words for missing values stay."""
    words = column.isin([word for word in field.get("missingValues", []) if word])
    typed = column.mask(words | (column == ""))
    if field["type"] != "string":
        optional, required = DTYPES[field["type"]]
        typed = typed.map(json.loads, na_action="ignore").astype(optional)
        if field.get("constraints", {}).get("required", False):
            typed = typed.astype(required)
    return typed.astype(object).where(~words, column) if words.any() else typed
