"""Writing an imported table, whole or not at all, and adding to one that is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deadzone.errors import FormatError, SaidAs, TableError
from deadzone.store.whole import written_whole

if TYPE_CHECKING:
    import pandas as pd

WRITABLE = (".csv", ".parquet")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV or Parquet, by the ending of its name.

    Raises FormatError for another ending, TableError if the file cannot be written.
    """
    if path.suffix not in WRITABLE:
        raise FormatError(f"{path}: a table is written to a file ending in {' or '.join(WRITABLE)}.")
    with SaidAs(TableError, f"{path}: cannot be written"), written_whole(path) as draft:
        if path.suffix == ".csv":
            table.to_csv(draft, index=False)
        else:
            table.to_parquet(draft, index=False)


def appended(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """The table with the rows of the file before it; the table itself where there is no file yet.

    Raises FormatError for a file of another kind, TableError if it cannot be read.
    """
    import pandas as pd

    if path.suffix not in WRITABLE:
        raise FormatError(f"{path}: a table is written to a file ending in {' or '.join(WRITABLE)}.")
    if not path.exists():
        return table
    try:
        there = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: the rows cannot be added, since it cannot be read: {error}.") from error
    return pd.concat([there, table], ignore_index=True)
