"""Reading and writing tables of measurements: CSV and Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deadzone.errors import TableError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

READABLE = (".csv", ".parquet")


def read_table(path: Path) -> pd.DataFrame:
    """A table from a CSV or Parquet file.

    Raises TableError if the file is missing, of another kind, empty or damaged.
    """
    import pandas as pd

    if path.suffix not in READABLE:
        raise TableError(f"{path}: a table is a file ending in {' or '.join(READABLE)}.")
    if not path.is_file():
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise TableError(f"{path}: there is no such table.{did_you_mean(path.name, near)}")
    try:
        table = _read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise TableError(
            f"{path}: cannot be read as {path.suffix[1:]}: {str(error).splitlines()[0]}."
        ) from error
    if table.empty:
        raise TableError(f"{path}: the table has no rows.")
    return table


def _read_csv(path: Path) -> pd.DataFrame:
    """A CSV as it is, or as spreadsheets write it where the comma is for decimals: cells apart by semicolons."""
    import pandas as pd

    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline()
    if ";" in first and "," not in first:
        return pd.read_csv(path, sep=";", decimal=",")
    return pd.read_csv(path)
