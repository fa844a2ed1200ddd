"""The tidy table: one row an attempt at a trial, one column a variable, units in the names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from deadzone.study.levels import format_level, is_number

if TYPE_CHECKING:
    import pandas as pd

IDENTITY = ("run_id", "trial", "attempt", "block", "replicate", "warmup", "started_at")

SHARED = (
    "wall_s",
    "user_s",
    "sys_s",
    "cpu_efficiency",
    "foreign_cpu",
    "steal",
    "memory_pressure",
    "io_pressure",
    "max_rss_bytes",
    "nr_periods",
    "nr_throttled",
    "throttled_s",
    "exit_code",
    "status",
    "error",
    "trusted",
    "distrust_reason",
)

PLACED = ("node", "pod", "cpu_max")
"""Where a trial ran in a cluster, and the limit its control group had; columns of runs that have them."""

TRACES = (
    "left_running",
    "voluntary_switches",
    "involuntary_switches",
    "minor_faults",
    "io_read_bytes",
    "io_written_bytes",
    "stdout_bytes",
    "stdout_lines",
    "stderr_lines",
    "error_lines",
)
"""What a trial left behind besides its figures, from which mistakes of the experiment are found; columns of runs that
have them."""

ACCOUNT = (
    "threads_s",
    "running_s",
    "ready_s",
    "throttled_wait_s",
    "disk_wait_s",
    "memory_wait_s",
    "network_wait_s",
    "asleep_s",
)
"""Where the time of a trial's threads went; the parts after the first add up to it. Columns of runs that have them."""

FOREIGN_PROCESSES = "foreign_processes"
"""Which other processes used the CPU meanwhile, largest first, with their cores; a column of runs where some did."""

PRINTED_UNITS = "printed_units"
"""The words that stood behind the numbers that became responses, `name=word` each."""

NOT_COLUMNS = ("levels", "responses", "final", "profiles", "recognised")

COUNTS = (
    "trial",
    "attempt",
    "block",
    "replicate",
    "max_rss_bytes",
    "nr_periods",
    "nr_throttled",
    "exit_code",
)


def tidy_table(records: Iterable[dict[str, Any]], run_id: str, factors: Sequence[str]) -> pd.DataFrame:
    """The journal's records as a table, in the order the trials ended.

    Columns: those of a trial's identity, one a factor, those every workload shares, those of its place in a cluster,
    then the workload's own responses. A factor whose levels are not all numbers (none, auto) is a column of text.
    """
    import pandas as pd

    rows = [{"run_id": run_id, **record, **record["levels"], **record["responses"]} for record in records]
    own = dict.fromkeys(name for row in rows for name in row["responses"])
    seen = {name for row in rows for name in row}
    words = [name for name in (*PLACED, FOREIGN_PROCESSES, PRINTED_UNITS) if name in seen]
    traces = [name for name in TRACES if name in seen]
    account = [name for name in ACCOUNT if name in seen]
    columns = list(dict.fromkeys((*IDENTITY, *factors, *SHARED, *words, *traces, *account, *own)))
    table = pd.DataFrame(rows, columns=[*columns])
    for name in factors:
        table[name] = _factor_column(table[name])
    for name in (*COUNTS, *traces):
        table[name] = table[name].astype("Int64")
    for name in ("warmup", "trusted"):
        table[name] = table[name].astype("boolean")
    for name in ("error", "distrust_reason", "status", "started_at", "run_id", *words):
        table[name] = table[name].astype("string")
    for name in (
        *own,
        *account,
        *(n for n in SHARED if n.endswith(("_s", "_pressure", "_efficiency", "_cpu")) or n == "steal"),
    ):
        table[name] = pd.to_numeric(table[name], errors="coerce").astype("float64")
    return table


def _factor_column(levels: pd.Series) -> pd.Series:
    import pandas as pd

    if all(is_number(level) for level in levels):
        return pd.to_numeric(levels)
    return levels.map(format_level).astype("string")


def telemetry_table(records: Iterable[dict[str, Any]], run_id: str) -> pd.DataFrame:
    """Time series in long format, one row a reading: run_id, trial, attempt, t_s, metric, value."""
    import pandas as pd

    rows = [
        (run_id, record["trial"], record["attempt"], *sample)
        for record in records
        for sample in record["samples"]
    ]
    return pd.DataFrame(rows, columns=["run_id", "trial", "attempt", "t_s", "metric", "value"])
