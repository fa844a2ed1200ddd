"""pyperf: its JSON (`-o FILE`), one row a benchmark."""

from collections.abc import Iterator

from deadzone.store.imports.document import Node
from deadzone.store.imports.json_format import JsonFormat
from deadzone.store.imports.plausible import Row
from deadzone.store.imports.runs import levels_of


def _rows(document: Node) -> Iterator[Row]:
    common = document.under("metadata")
    for benchmark in document.child("benchmarks").items():
        own = benchmark.under("metadata") or common  # one benchmark has its name beside the list
        name = own.text("name") if own else None
        runs = [run.under("values") for run in benchmark.child("runs").items()]
        values = [value.own_number() for run in runs if run for value in run.items()]
        yield {
            **levels_of(name),
            "benchmark": name,
            "calls": len(values),
            "time_per_call_s": sum(values) / len(values) if values else None,
            "time_per_call_min_s": min(values, default=None),
            "time_per_call_max_s": max(values, default=None),
        }


read_pyperf = JsonFormat(
    tool="pyperf",
    version="2",
    write="-o FILE",
    rows=_rows,
    needs=("time_per_call_s",),
    traps=(
        "The row is the mean of all values of all worker processes, warm-up left out as pyperf "
        "does.",
    ),
)
