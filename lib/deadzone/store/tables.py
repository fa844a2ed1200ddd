"""Reading and writing tables of measurements, CSV and Parquet: whole or not at all, and added to.

A wide table has one response in several columns, a column a repeat (`run 1`,
`run 2`) or a level (`zstd`, `lz4`).
"""

import json
import os
import re
import shlex
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from deadzone.contents import written_whole
from deadzone.errors import FormatError, SaidAs, TableError, did_you_mean, option
from deadzone.store.entering import as_numbers, entered, texts_of
from deadzone.store.text_form import (
    ROWS_LOOKED_AT,
    TEXTS,
    form_of,
    is_drawn,
    is_in_columns,
    line_of,
    other_than,
)
from deadzone.study.quantity import level_amount
from deadzone.study.response_cells import UNITS_OF, by_distinct
from deadzone.study.scales import FEWEST_LEVELS, NO_LIMIT

WRITABLE = (".csv", ".parquet")
AS_TEXT = (".csv", ".csv.gz", ".tsv", ".md")
READABLE = (*WRITABLE, ".xlsx", *AS_TEXT[1:], ".json", ".jsonl", ".feather")

DRAWN_BY_PEOPLE = (*AS_TEXT, *TEXTS, ".xlsx")
"""Whose cells may be merged; a record of any other kind says itself where it has no value."""

STANDARD_INPUT = Path("-")

BEGINNINGS = {b"PAR1": ".parquet", b"ARROW1": ".feather", b"[": ".json", b"{": ".jsonl"}
"""How the files begin that are no text with a header."""

EMPHASIS = re.compile(r"(?<![\w*`])(\*{1,3}|__|`)(?!\s)([^*`]*[^\s*`])\1(?![\w*`.])")
"""Markdown's marks around the text of a cell, or around a part of it."""

HASH = re.compile(r"^#\s*(?=[\w*`])")
"""Before the first name, where the head line is a remark: `# threads tps`."""

BLANKS = re.compile(r"\A\s+|\s+\Z")
"""Around the text of a cell."""

NUMERIC = re.compile(r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?:\.\d+)?")
"""A name of a column that is a number; pandas writes .1 behind one that stands twice."""


REPEAT = "replicate"
"""The column that tells repeats apart, where no other is named."""

NUMBERED = re.compile(r"(.*?\D)(\d+)(\D*)")
"""A column that is one of several: `run 1`, `t2 (ms)`."""

MOST_COLUMNS = 5000
"""A first line with more cells has lost its line ends; pandas would compare the name of each with
all others."""


def is_table(path: str | Path) -> bool:
    """Whether a file is a table, by the ending of its name, or because a program writes it."""
    return str(path).endswith(READABLE) or _is_stream(Path(path))


def _is_stream(path: Path) -> bool:
    """Whether a path is what a program writes: `-`, or a pipe such as `<(...)` of a shell."""
    return path == STANDARD_INPUT or (os.path.exists(path) and path.is_fifo())  # noqa: PTH110


def is_file_of_table(source: str | Path) -> bool:
    """Whether a name is that of a file, whose content says whether it is a table, and of no run."""
    return is_table(source) or os.path.isfile(source)  # noqa: PTH113 - a long name is none


def _ending(path: Path) -> str:
    return max((end for end in READABLE if path.name.endswith(end)), key=len, default=path.suffix)


def read_table(path: Path) -> pd.DataFrame:
    """A table from a file: text with its cells apart by commas, semicolons, tabs, bars or blanks
    (also .csv.gz), Markdown, records in JSON, Parquet, Feather, or the first sheet of Excel; from
    standard input where the path is `-`, or a pipe.

    Raises TableError if the file is missing, of another kind, empty or damaged.
    """
    if _is_stream(path):
        return _read_stream(path)
    is_missing = path.suffix and not os.path.exists(path)  # noqa: PTH110
    if not (is_table(path) or is_missing or is_drawn(path)):
        hint = _recognised(path) if path.suffix else f" If it is a run: `deadzone report {path}`."
        if hint or not is_in_columns(path):
            if not hint and is_in_columns(path, above=1):
                raise TableError(f"{path}: its first line is a title. {_leave_out(path)}")
            kinds = f"{' or '.join(READABLE)}, or a text in columns"
            raise TableError(f"{path}: a table is a file ending in {kinds}.{hint}")
    if not os.path.isfile(path):  # noqa: PTH113
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise TableError(f"{path}: there is no such table.{did_you_mean(path.name, near)}")
    try:
        table = _read(path)
    except (OSError, ValueError, KeyError, EOFError, zlib.error, BadZipFile) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        if isinstance(error, UnicodeDecodeError):
            way = f"iconv -f CP1252 -t UTF-8 {shlex.quote(str(path))} > utf8-{path.name}"
            reason = f"it is no UTF-8; if Windows wrote it: `{way}`"
        raise TableError(
            f"{path}: cannot be read as {_ending(path)[1:]}: {reason}.{_recognised(path)}"
        ) from error
    if table.empty:
        raise TableError(f"{path}: the table has no rows.")
    if any(name is not None for name in table.index.names):
        table = table.reset_index()  # Parquet and Feather keep an index
    _check_head_line(table, path)
    table.columns = table.columns.map(str)
    table = entered(
        table.apply(lambda column: column.map(_held) if column.dtype == object else column),
        may_be_merged=_ending(path) in DRAWN_BY_PEOPLE,
    )
    if not len(table.columns):
        raise TableError(f"{path}: its columns hold no values, but lists.{_recognised(path)}")
    return table


def _recognised(path: Path) -> str:
    """What to type for a file that is no table; its readers are loaded for such a file alone."""
    from deadzone.store.imports.registry import recognised

    return recognised(path)


def _check_head_line(table: pd.DataFrame, path: Path) -> None:
    """Raise TableError where the first line is a title, or a line of numbers such as those below
    it."""
    head = [*map(str, table.columns)]
    named = [name for name in head if not name.startswith("Unnamed: ")]
    is_index = head[-1:] == named  # one without a name stands before the others
    if len(head) > 1 and len(named) < 2 and not is_index:
        title = (named or head)[0]
        raise TableError(f"{path}: its first line is a title, {title!r}. {_leave_out(path)}")
    numbers = {
        name: float(number[1]) for name in table.columns if (number := NUMERIC.fullmatch(str(name)))
    }
    texts = table.columns.drop([*numbers])
    rise = all(low < high for low, high in pairwise(numbers.values()))
    is_a_row = not rise or any(table[name].eq(name).any() for name in texts)
    is_written = _ending(path) in DRAWN_BY_PEOPLE
    if numbers and is_written and (is_a_row or (len(numbers) < FEWEST_LEVELS and texts.empty)):
        few = ascii_lowercase if table.shape[1] <= len(ascii_lowercase) else ()
        names = ",".join(few[: table.shape[1]] or map("column{}".format, range(table.shape[1])))
        raise TableError(
            f"{path}: its first line has numbers, so it is no head line. Put names before it: "
            f"`(echo {names}; {_from(path, 0)}) > {other_than(path)}`."
        )


def _from(path: Path, place: int) -> str:
    """What prints a file from a line on, by its place among those that are read."""
    name, first = shlex.quote(str(path)), f"tail -n +{line_of(path, place)}"
    return f"zcat {name} | {first}" if path.suffix == ".gz" else f"{first} {name}"


def _leave_out(path: Path, lines: int = 1) -> str:
    """What to type so that a table is there without its first lines."""
    kept = f"`{_from(path, lines)} > {other_than(path)}`"
    return f"Leave it out: {kept}, in a sheet by deleting its rows."


def check_no_title(table: pd.DataFrame, path: Path, columns: Collection[str]) -> None:
    """Raise TableError where one row names all of the columns that were asked for: what was read as
    the head line is a title."""
    for i, cells in enumerate(table[texts_of(table)].head(ROWS_LOOKED_AT).to_numpy(), 1):
        if {*columns} <= {*map(str, cells)}:
            raise TableError(
                f"{path}: data row {i} is the head line, so what is above it is a title. "
                f"{_leave_out(path, i)}"
            )


def levels_in(columns: Collection[object]) -> list[str]:
    """Names of columns that are levels: amounts in rising order, all or all but the first, as `4`
    and `8` or `32 sockets` and `64 sockets`, or of one name, `rps n=4` and `rps n=8`; empty where
    they are none."""
    amounts: dict[str, dict[str, float]] = defaultdict(dict)
    for name in map(str, columns):
        if one := level_amount(name):
            amounts[name.rpartition("=")[0]][name] = one.value
    for before, own in amounts.items():
        least = max(0 if before else len(columns) - 1, FEWEST_LEVELS)
        if len(own) >= least and all(low < high for low, high in pairwise(own.values())):
            return [*own]
    return []


def _read_stream(path: Path) -> pd.DataFrame:
    """The table that another program writes, of which the first bytes say what it is."""
    content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    ending = next((end for begin, end in BEGINNINGS.items() if content.startswith(begin)), ".csv")
    with tempfile.NamedTemporaryFile(suffix=ending) as file:
        file.write(content)
        file.flush()
        try:
            return read_table(Path(file.name))
        except TableError as error:
            names = ("standard input", "/dev/stdin") if path == STANDARD_INPUT else (path, path)
            said = str(error).replace(f"{file.name}:", f"{names[0]}:", 1)
            raise TableError(said.replace(file.name, str(names[1]))) from error


def _read(path: Path) -> pd.DataFrame:
    """The table of a file, by the ending of its name. Raises ModuleNotFoundError where what reads
    it is not installed."""
    kind = _ending(path)
    if kind in (*AS_TEXT, *TEXTS):
        return _read_csv(path)
    if kind in (".json", ".jsonl"):
        if kind == ".json":
            _check_rows(json.loads(path.read_bytes()))
        try:
            return pd.read_json(path, lines=kind == ".jsonl", dtype=False)
        except ValueError as error:
            if kind == ".json" or isinstance(error, UnicodeDecodeError):
                raise
            raise ValueError("a line holds no whole record; `jq -c` writes one a line") from error
    if kind == ".xlsx":
        import openpyxl  # noqa: F401

        return pd.read_excel(path, engine="openpyxl")
    import pyarrow  # noqa: F401

    return pd.read_feather(path) if kind == ".feather" else pd.read_parquet(path)


def _check_rows(document: Any) -> None:
    """Raise ValueError for a JSON object whose values are no columns of one length."""
    if isinstance(document, dict):
        lengths = {isinstance(one, dict | list) and len(one) for one in document.values()}
        if len(lengths) != 1 or False in lengths:
            raise ValueError("it is one object and no list of rows")


def _held(cell: object) -> object:
    """A cell as it is; a whole number that no float holds is a word."""
    return str(cell) if isinstance(cell, int) and abs(cell) > sys.float_info.max else cell


def _read_csv(path: Path) -> pd.DataFrame:
    """A table as text, in the form that its first lines show. Blanks around names are taken off,
    and so is a last column that trailing marks make."""
    how, columns = form_of(path)
    if columns > MOST_COLUMNS:
        raise ValueError(f"its first line has {columns:,} cells, more than any table has columns")
    table = pd.read_csv(path, **how)
    if not table.index.equals(pd.RangeIndex(len(table))):
        how["index_col"] = False  # each row ends in a mark that the first line does not have
        if table.iloc[:, -1].notna().any():
            raise ValueError(
                "its rows have more cells than its first line, which may be a title. "
                f"{_leave_out(path)[:-1]}"
            )
        table = pd.read_csv(path, **how)
    table = _with_words(table, path, how)
    if table.columns[0] == "#" and table.iloc[:, -1].isna().all():  # `# threads rps`
        table = table.iloc[:, :-1].set_axis(table.columns[1:], axis=1)
    unnamed = [
        name
        for name, values in table.items()
        if (not str(name).strip() or str(name).startswith("Unnamed: ")) and values.isna().all()
    ]
    table = table.drop(columns=unnamed)
    texts = texts_of(table)
    plain = table[texts].apply(by_distinct, answer=_plain, missing=np.nan)
    if len(texts) == len(table.columns):  # a head line that stands again, as of files laid together
        plain = plain[plain.ne(plain.columns.str.strip()).any(axis=1)].reset_index(drop=True)
    if not plain.equals(table[texts]):
        table = table.loc[plain.index].assign(**plain.apply(as_numbers))
    first, *others = map(str.strip, map(str, table.columns))
    names = [
        marked[2] if (marked := EMPHASIS.fullmatch(name)) else name
        for name in (HASH.sub("", first), *others)
    ]
    return table.set_axis([first, *names[1:]] if names[0] in names[1:] else names, axis=1)


def _plain(cell: object) -> object:
    """A cell without marks of Markdown and blanks around its text."""
    return BLANKS.sub("", EMPHASIS.sub(r"\2", cell)) if isinstance(cell, str) else cell


def _with_words(table: pd.DataFrame, path: Path, how: Mapping[str, Any]) -> pd.DataFrame:
    """The table with `inf`, `none` and their like as the words that they are in the file; pandas
    makes numbers and empty cells of them, which 1e400 and an empty cell are too."""
    unclear = {
        name: np.flatnonzero(is_unclear)
        for name, values in table.items()
        if values.dtype.kind in "fO"
        and (is_unclear := values.isna() | values.isin([np.inf, -np.inf])).any()
    }
    if not unclear or not isinstance(table.index, pd.RangeIndex):
        return table
    text = pd.read_csv(path, **how, dtype=str, keep_default_na=False, usecols=[*unclear])
    for name, rows in unclear.items():
        words = text[name].iloc[rows].str.strip()
        is_word = words.str.lower().isin(NO_LIMIT).to_numpy()
        if is_word.any():
            cells = table[name].to_numpy(dtype=object)
            cells[rows[is_word]] = words[is_word]
            table[name] = cells
    return table


def _check_writable(path: Path) -> None:
    if path.suffix not in WRITABLE:
        raise FormatError(
            f"{path}: a table is written to a file ending in {' or '.join(WRITABLE)}."
        )
    if path.suffix == ".parquet":
        import pyarrow  # noqa: F401


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV or Parquet, by the ending of its name.

    Raises FormatError for another ending, TableError if the file cannot be written.
    """
    _check_writable(path)
    with SaidAs(TableError, f"{path}: cannot be written"), written_whole(path) as draft:
        write = table.to_csv if path.suffix == ".csv" else table.to_parquet
        write(draft, index=False)


def appended(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """The table with the rows of the file before it; the table itself where there is no file yet.

    Raises FormatError for a file of another kind, TableError if it cannot be read.
    """
    _check_writable(path)
    if not path.exists():
        return table
    try:
        there = _read(path)
    except (OSError, ValueError) as error:
        raise TableError(
            f"{path}: the rows cannot be added, since it cannot be read: {error}."
        ) from error
    both = pd.concat([there, table], ignore_index=True)
    for name in both.select_dtypes("object"):  # 4 and auto are one column of text
        if both[name].map(type, na_action="ignore").nunique() > 1:
            both[name] = both[name].map(str, na_action="ignore")
    if "status" in both and not ("status" in there and "status" in table):
        both["status"] = both["status"].fillna("ok")  # a table without one holds no failure
    return both


def with_numpy_types(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose whole numbers and truth values have NumPy's types, which seaborn and scipy ask
    for: whole numbers with missing ones are floats; truth values with missing ones stay as they
    are."""
    types = {}
    for name, column in table.items():
        missing = bool(column.isna().any())
        if pd.api.types.is_extension_array_dtype(column) and pd.api.types.is_numeric_dtype(column):
            if not pd.api.types.is_bool_dtype(column):
                whole = pd.api.types.is_integer_dtype(column) and not missing
                types[name] = "int64" if whole else "float64"
            elif not missing:
                types[name] = "bool"
    return table.astype(types).copy()  # in few blocks: pandas warns of a hundred


def turned(table: pd.DataFrame, response: str) -> pd.DataFrame:
    """A table whose rows are responses and whose columns are levels, with a row a trial of one
    response. The name of the first column is that of the knob."""
    knob, *levels = map(str, table.columns)
    levels = _as_headed(levels)
    rows = table[table[knob].eq(response)].drop(columns=knob)
    cells = {knob: np.tile(levels, len(rows)), response: rows.to_numpy().ravel()}
    return pd.DataFrame(cells, dtype=object).apply(as_numbers)


def _as_headed(names: list[str]) -> list[str]:
    """Names of columns as the head line has them: 1, 1.1, 2, 2.1 is read so of 1, 1, 2, 2."""
    own = [name.rpartition(".")[0] for name in names]
    repeated = {name for name in names if f"{name}.1" in names}
    if 2 * sum(name in repeated for name in own) < len(names):
        return names
    return [base if base in repeated else name for base, name in zip(own, names, strict=True)]


def long_table(table: pd.DataFrame, wide: str, response: str, name: str = "") -> pd.DataFrame:
    """A wide table with one row a trial.

    wide: the columns of the response, a pattern (`run *`) or names apart by commas (`zstd,lz4`).
    response: the column that their values become. name: the column that their names become, a
    factor; by default they are repeats.

    Raises TableError for a column that is not there, or whose new name is another's.
    """
    columns = _wide_columns(table, wide)
    others = [column for column in table if column not in columns]
    name = name or REPEAT
    for new in (response, name):
        if new in table or response == name:
            raise TableError(
                f"A wide table becomes columns {response!r} and {name!r}, and there is a column "
                f"{new!r}: name the response or {option('name')} otherwise."
            )
    long = table.melt(others, columns, name, response, ignore_index=True)
    shown = range(1, len(columns) + 1) if name == REPEAT else _as_headed(columns)
    long[name] = long[name].map(dict(zip(columns, shown, strict=True)))
    units = {table.attrs.get(UNITS_OF, {}).get(column, "") for column in columns}
    if len(units) == 1:
        long.attrs = {**table.attrs, UNITS_OF: {response: units.pop()}}
    return long


def _wide_columns(table: pd.DataFrame, wide: str) -> list[str]:
    """The columns that a pattern or a list names."""
    columns: list[str] = []
    for part in map(str.strip, wide.split(",")):
        matches = [c for c in map(str, table) if c == part or fnmatchcase(c, part)]
        if not matches:
            known = [str(column) for column in table]
            raise TableError(
                f"No column is {part!r}.{did_you_mean(part, [*repeats_in(table), *known])} The "
                f"columns are {', '.join(known)}."
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
