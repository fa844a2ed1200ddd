"""pgbench: the text that it prints, one row a run."""

from deadzone.store.imports.result import CLOSED_LOOP
from deadzone.store.imports.text_format import TextFormat

read_pgbench = TextFormat(
    tool="pgbench",
    version="15.18",
    write="pgbench ... > FILE and LC_ALL=C",
    begins=(r"^pgbench \(", r"^transaction type:"),
    needs=("achieved_rate",),
    labels={
        "client_connections": r"^number of clients: (\d+)",
        "client_threads": r"^number of threads: (\d+)",
    },
    figures={
        "wall_s": r"^duration: ([\d.,]+) (s)",
        "requests": r"^number of transactions actually processed: (\d+)",
        "errors": r"^number of failed transactions: (\d+)",
        "latency_mean_ms": r"^latency average(?: =|:) ([\d.,]+) (ms)",
        "latency_stddev_ms": r"^latency stddev(?: =|:) ([\d.,]+) (ms)",
        "achieved_rate": r"^tps = ([\d.,]+)",
    },
    traps=(
        "pgbench tells a mean and no percentiles; -l logs every transaction.",
        f"Without --rate, {CLOSED_LOOP.format(tool='pgbench')}",
    ),
)
