"""vegeta: `vegeta report -type=json`, one row a test."""

from collections.abc import Iterator

from deadzone.store.imports.document import Node
from deadzone.store.imports.json_format import JsonFormat
from deadzone.store.imports.plausible import Row

LATENCIES = {
    "mean": "mean",
    "min": "min",
    **{f"p{percent}": f"{percent}th" for percent in (50, 90, 95, 99)},
    "max": "max",
}
"""Our names and vegeta's."""


def _rows(test: Node) -> Iterator[Row]:
    yield {
        "wall_s": test.number("duration", parts=1e9),
        "requests": test.count("requests"),
        "achieved_rate": test.number("throughput"),
        "sent_rate": test.number("rate"),
        **{
            f"latency_{ours}_ms": test.number("latencies", theirs, parts=1e6)
            for ours, theirs in LATENCIES.items()
        },
        "success_share": test.number("success"),
        "transferred_bytes": test.count("bytes_in", "total"),
    }


read_vegeta = JsonFormat(
    tool="vegeta",
    version="12.12.0",
    write="vegeta report -type=json",
    rows=_rows,
    needs=("achieved_rate", "latency_mean_ms"),
    traps=(
        "vegeta keeps its rate while a server stalls; where sent_rate is below the rate asked for, "
        "it could not.",
    ),
)
