"""The tidy table: one row an attempt at a trial, one column a variable, units in the names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadzone.contents import written_whole
from deadzone.study.levels import format_level, is_number, read_level
from deadzone.study.scales import level_name

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

IDENTITY = {
    "run_id": "string",
    "trial": "Int64",
    "attempt": "Int64",
    "block": "Int64",
    "replicate": "Int64",
    "warmup": "boolean",
    "started_at": "string",
}
"""Columns of the identity of a trial, each with its kind."""

SHARED = {
    "wall_s": "float64",
    "user_s": "float64",
    "sys_s": "float64",
    "cpu_efficiency": "float64",
    "foreign_cpu": "float64",
    "steal": "float64",
    "memory_pressure": "float64",
    "io_pressure": "float64",
    "max_rss_bytes": "Int64",
    "nr_periods": "Int64",
    "nr_throttled": "Int64",
    "throttled_s": "float64",
    "exit_code": "Int64",
    "status": "string",
    "error": "string",
    "trusted": "boolean",
    "distrust_reason": "string",
    "counted": "boolean",
}
"""Columns of every workload."""

PLACED = {
    "node": "string",
    "pod": "string",
    "cpu_max": "string",
}
"""Where a trial ran in a cluster, and the limit its control group had."""

WORDS = {
    "foreign_processes": "string",
    "printed_units": "string",
    "printed_work": "string",
    "traceback": "string",
    "prepared_processes": "string",
    "other_workload": "string",
    "search_stage": "string",
}
"""Text that says who used the CPU meanwhile, what stood behind printed numbers, what the program
says it did, where a Python function failed, what its preparation left running, in what it ran
another workload than the run began with, and for which stage of a search it was made."""

TRACES = {
    "left_running": "Int64",
    "voluntary_switches": "Int64",
    "involuntary_switches": "Int64",
    "minor_faults": "Int64",
    "major_faults": "Int64",
    "io_read_bytes": "Int64",
    "io_written_bytes": "Int64",
    "stdout_bytes": "Int64",
    "stdout_lines": "Int64",
    "stderr_lines": "Int64",
    "error_lines": "Int64",
    "threads_most": "Int64",
    "migrations": "Int64",
    "cpu_instructions": "Int64",
    "cpu_cycles": "Int64",
    "cpu_cache_misses": "Int64",
}
"""What a trial left behind besides its figures, from which mistakes of the experiment are found;
the last four are of runs that 0.2.0 and earlier versions measured."""

ACCOUNT = {
    "threads_s": "float64",
    "running_s": "float64",
    "ready_s": "float64",
    "throttled_wait_s": "float64",
    "disk_wait_s": "float64",
    "memory_wait_s": "float64",
    "network_wait_s": "float64",
    "timer_wait_s": "float64",
    "asleep_s": "float64",
}
"""Where the time of a trial's threads went; the parts after the first add up to it."""

FOREIGN_PROCESSES, PRINTED_UNITS, PRINTED_WORK, _, PREPARED, OTHER_WORKLOAD, SEARCH_STAGE = WORDS
COLUMNS: dict[str, str] = {**IDENTITY, **SHARED, **PLACED, **WORDS, **TRACES, **ACCOUNT}
"""Every column that is no workload's own, with its kind."""

NOT_COLUMNS = ("levels", "responses", "final", "profiles", "recognised")
"""What a record of the journal holds besides."""


PIECE = 1000
"""Rows of a table that are made at once: the records behind them take some 10 MB, and pandas takes
its time a piece."""


def whole(pieces: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """One table of pieces."""
    import pandas as pd

    return pd.concat(pieces, ignore_index=True)


def tidy_pieces(
    read: Callable[[], Iterable[dict[str, Any]]], run_id: str, factors: Sequence[str]
) -> Iterator[pd.DataFrame]:
    """The journal's records as a table in pieces of PIECE rows, in the order the trials ended; at
    least one piece.

    read: gives the records, and is asked twice: first for what the columns are. Columns: those of a
    trial's identity, one a factor and one for a rate that is searched, those every workload shares,
    those of its place in a cluster, then the workload's own responses. A factor whose levels are
    not all numbers (none, auto) is a column of text.
    """
    kinds = _kinds(read(), factors)
    rows = (
        {"run_id": run_id, **record, "counted": _is_counted(record), **record["levels"]}
        | record["responses"]
        for record in read()
    )
    return (_tidy(piece, kinds) for piece in _in_pieces(rows))


def _is_counted(record: Mapping[str, Any]) -> bool:
    """Whether an attempt ended well, is trusted and is no warm-up; it is the last one then."""
    is_kept = record.get("trusted") is not False and not record.get("warmup")
    return record["status"] == "ok" and is_kept


def _in_pieces(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """PIECE rows at a time; at least one piece. None is held while the next one is read."""
    rows, is_first = iter(rows), True
    while (piece := [*islice(rows, PIECE)]) or is_first:
        yield piece
        is_first = False
        del piece


def _tidy(rows: list[dict[str, Any]], kinds: Mapping[str, str]) -> pd.DataFrame:
    """Rows as a table. kinds: of its columns."""
    import pandas as pd

    columns = {
        name: _column(pd.Series([row.get(name) for row in rows], dtype=object), kind)
        for name, kind in kinds.items()
    }
    rows.clear()  # whoever asked for the piece holds the list until the next one
    return pd.DataFrame(columns)


def _kinds(records: Iterable[dict[str, Any]], factors: Iterable[str]) -> dict[str, str]:
    """The columns of the table of records, in order, each with its kind."""
    levels = defaultdict(Counter[Any], {name: Counter[Any]() for name in factors})
    own: dict[str, None] = {}
    seen: set[str] = set()
    n = 0
    for n, record in enumerate(records, 1):  # noqa: B007 - their number
        seen |= record.keys()
        own |= dict.fromkeys(record["responses"])
        for name, level in record["levels"].items():
            levels[name][type(level), level] += 1
    kinds = {}
    for name, each in levels.items():
        are_whole = each.total() == n and all(isinstance(level, int) for _, level in each)
        are_numbers = all(is_number(level) for _, level in each)
        kinds[name] = ("int64" if are_whole else "float64") if are_numbers else "text"
    further = {
        name: kind
        for name, kind in (PLACED | WORDS | TRACES | ACCOUNT).items()
        if name in seen | own.keys()
    }
    return IDENTITY | kinds | SHARED | further | dict.fromkeys(own, "float64")


def _column(cells: pd.Series, kind: str) -> pd.Series:
    """The cells of a column, of a kind."""
    import pandas as pd

    if kind == "text":
        return cells.map(format_level, na_action="ignore").astype("string")
    return (pd.to_numeric(cells, errors="coerce") if kind == "float64" else cells).astype(kind)  # type: ignore[call-overload]


def is_at(table: pd.DataFrame, levels: Mapping[str, Any]) -> np.ndarray:
    """Which trials of a table were made at all of these levels, by the name of their factor; shape
    (trials,)."""
    kept: np.ndarray = table.index == table.index
    for name, level in levels.items():
        names, wanted = table[name].map(level_name), level_name(level)
        there = names.eq(wanted)
        there = there if there.any() else names.map(read_level).eq(read_level(wanted))
        kept &= there.to_numpy(bool)
    return kept


def rows_at(table: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    """The trials of a table at these levels."""
    return table[is_at(table, levels)]


def long_pieces(
    records: Iterable[dict[str, Any]], run_id: str, key: str, kind: type
) -> Iterator[pd.DataFrame]:
    """A table in long format, in pieces, at least one: run_id, trial, attempt, and the fields of a
    kind, a row for each that the records hold under a key."""
    import pandas as pd

    columns = ["run_id", "trial", "attempt", *(field.name for field in fields(kind))]
    rows = (
        (run_id, record["trial"], record["attempt"], *row)
        for record in records
        for row in record[key]
    )
    return (pd.DataFrame(piece, columns=columns) for piece in _in_pieces(rows))


GROUP = 5
"""Pieces of a table that stand together in a Parquet file, which compresses what repeats within
them."""


def write_pieces(pieces: Iterable[pd.DataFrame], path: Path) -> None:
    """Write a table of a run piece by piece as Parquet; nothing where pyarrow is not installed,
    since all of it is read from the journals.

    pieces: made as they are asked for, all of the same columns, at least one.
    """
    if find_spec("pyarrow") is None:
        path.unlink(missing_ok=True)
        return
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    pieces = iter(pieces)
    first = pa.Table.from_pandas(next(pieces), preserve_index=False)
    further = (
        pa.Table.from_pandas(piece, schema=first.schema, preserve_index=False) for piece in pieces
    )
    tables = chain([first], further)
    with written_whole(path) as draft, ParquetWriter(draft, first.schema) as writer:
        while group := [*islice(tables, GROUP)]:
            writer.write_table(pa.concat_tables(group))
