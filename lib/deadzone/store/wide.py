"""Wide tables: one response in several columns, a column a repeat (`run 1`, `run 2`) or a level
(`zstd`, `lz4`), as one row a trial."""

import re
from fnmatch import fnmatchcase

import pandas as pd

from deadzone.errors import TableError, did_you_mean

REPEAT = "replicate"
"""The column that tells repeats apart, where no other is named."""

NUMBERED = re.compile(r"(.*?\D)(\d+)(\D*)")
"""A column that is one of several: `run 1`, `t2 (ms)`."""


def long_table(table: pd.DataFrame, wide: str, response: str, name: str = "") -> pd.DataFrame:
    """A wide table with one row a trial.

    wide: the columns of the response, a pattern (`run *`) or names apart by commas (`zstd,lz4`).
    response: the column that their values become. name: the column that their names become, a
    factor; by default they are repeats.

    Raises TableError for a column that is not there, or whose new name is another's.
    """
    columns = _columns(table, wide)
    others = [column for column in table if column not in columns]
    name = name or REPEAT
    for new in (response, name):
        if new in others or response == name:
            raise TableError(
                f"A wide table becomes columns {response!r} and {name!r}, and there is a column "
                f"{new!r}: name the response or `--name` otherwise."
            )
    long = table.melt(others, columns, name, response, ignore_index=True)
    if name == REPEAT:
        long[name] = long[name].map({column: i for i, column in enumerate(columns, 1)})
    return long


def _columns(table: pd.DataFrame, wide: str) -> list[str]:
    """The columns that a pattern or a list names."""
    columns: list[str] = []
    for part in map(str.strip, wide.split(",")):
        matches = [c for c in map(str, table) if c == part or fnmatchcase(c, part)]
        if not matches:
            known = [str(column) for column in table]
            raise TableError(
                f"No column is {part!r}.{did_you_mean(part, known)} The columns are "
                f"{', '.join(known)}."
            )
        columns += [column for column in matches if column not in columns]
    if len(columns) < 2:
        raise TableError(f"Only the column {columns[0]!r} is {wide!r}; a wide table has several.")
    return columns


def repeats_in(table: pd.DataFrame) -> dict[str, list[str]]:
    """The columns that look like repeats of one response, by the pattern that names them: all of
    them numbers, counted from 0 or 1. Percentiles (`p50`, `p99`) are not counted so."""
    groups: dict[str, dict[str, int]] = {}
    for column in map(str, table.select_dtypes("number")):
        if parts := NUMBERED.fullmatch(column):
            groups.setdefault(f"{parts[1]}*{parts[3]}", {})[column] = int(parts[2])
    return {
        pattern: [*columns]
        for pattern, columns in groups.items()
        if len(columns) > 1
        and min(columns.values()) in (0, 1)
        and sorted(columns.values()) == [*range(min(columns.values()), max(columns.values()) + 1)]
    }
