"""The tidy table: one row an attempt at a trial, one column a variable, units in the names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from deadzone.measurement import HistogramSlice, Sample
from deadzone.study.levels import format_level, is_number
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
}
"""Text that says who used the CPU meanwhile, what stood behind printed numbers, what the program says it did, and where a
Python function failed."""

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
"""What a trial left behind besides its figures, from which mistakes of the experiment are found."""

ACCOUNT = {
    "threads_s": "float64",
    "running_s": "float64",
    "ready_s": "float64",
    "throttled_wait_s": "float64",
    "disk_wait_s": "float64",
    "memory_wait_s": "float64",
    "network_wait_s": "float64",
    "asleep_s": "float64",
}
"""Where the time of a trial's threads went; the parts after the first add up to it."""

FOREIGN_PROCESSES, PRINTED_UNITS, PRINTED_WORK, _ = WORDS
COLUMNS: dict[str, str] = {**IDENTITY, **SHARED, **PLACED, **WORDS, **TRACES, **ACCOUNT}
"""Every column that is no workload's own, with its kind."""

NOT_COLUMNS = ("levels", "responses", "final", "profiles", "recognised")
"""What a record of the journal holds besides."""


def tidy_table(records: Iterable[dict[str, Any]], run_id: str, factors: Sequence[str]) -> pd.DataFrame:
    """The journal's records as a table, in the order the trials ended.

    Columns: those of a trial's identity, one a factor and one for a rate that is searched, those every workload shares, those
    of its place in a cluster, then the workload's own responses. A factor whose levels are not all numbers (none, auto) is a column of text.
    """
    import pandas as pd

    records = [*records]
    factors = [*dict.fromkeys([*factors, *(name for record in records for name in record["levels"])])]
    rows = [{"run_id": run_id, **record, **record["levels"], **record["responses"]} for record in records]
    own = dict.fromkeys(name for row in rows for name in row["responses"])
    seen = {name for row in rows for name in row}
    further = [name for name in (*PLACED, *WORDS, *TRACES, *ACCOUNT) if name in seen]
    table = pd.DataFrame(rows, columns=[*dict.fromkeys((*IDENTITY, *factors, *SHARED, *further, *own))])
    for name in factors:
        table[name] = _factor_column(table[name])
    kinds: dict[str, Any] = COLUMNS | dict.fromkeys(own, "float64")
    for name in table.columns.intersection([*kinds]):
        column = pd.to_numeric(table[name], errors="coerce") if kinds[name] == "float64" else table[name]
        table[name] = column.astype(kinds[name])
    return table


def is_at(table: pd.DataFrame, levels: Mapping[str, Any]) -> np.ndarray:
    """Which trials of a table were made at all of these levels, by the name of their factor; shape (trials,)."""
    kept: np.ndarray = table.index == table.index
    for name, level in levels.items():
        kept &= (table[name].map(level_name) == level_name(level)).to_numpy(bool)
    return kept


def rows_at(table: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    """The trials of a table at these levels."""
    return table[is_at(table, levels)]


def _factor_column(levels: pd.Series) -> pd.Series:
    import pandas as pd

    if all(is_number(level) for level in levels.dropna()):
        return pd.to_numeric(levels)
    return levels.map(format_level, na_action="ignore").astype("string")


def telemetry_table(records: Iterable[dict[str, Any]], run_id: str) -> pd.DataFrame:
    """Time series in long format, one row a reading: run_id, trial, attempt, t_s, metric, value."""
    return _long_table(records, run_id, "samples", Sample)


def histogram_table(records: Iterable[dict[str, Any]], run_id: str) -> pd.DataFrame:
    """Slices in long format, one row a slice: run_id, trial, attempt, metric, t_s, duration_s, count, histogram."""
    return _long_table(records, run_id, "histograms", HistogramSlice)


def _long_table(records: Iterable[dict[str, Any]], run_id: str, key: str, kind: type) -> pd.DataFrame:
    """One row for each that the records hold under a key, as the values of the fields of its kind."""
    import pandas as pd

    rows = [(run_id, record["trial"], record["attempt"], *one) for record in records for one in record[key]]
    return pd.DataFrame(rows, columns=["run_id", "trial", "attempt", *(one.name for one in fields(kind))])
