"""Google Benchmark: `--benchmark_format=json`, one row a repetition."""

from collections.abc import Iterator

from deadzone.errors import FormatError
from deadzone.store.imports.document import Node
from deadzone.store.imports.json_format import JsonFormat
from deadzone.store.imports.plausible import Row
from deadzone.store.imports.runs import levels_of
from deadzone.store.imports.units import in_own_unit

AGGREGATES = ("_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS")
"""What the names of rows end in that are no repetitions; releases before 1.5 say it there alone."""

OWN = {
    *("name", "run_name", "run_type", "time_unit", "error_occurred", "skipped", "family_index"),
    *("per_family_instance_index", "repetitions", "repetition_index", "threads"),
    *("iterations", "real_time", "cpu_time", "bytes_per_second", "items_per_second"),
}
"""Its own figures; every other is a counter of the benchmark's."""


def _rows(document: Node) -> Iterator[Row]:
    entries = document.child("benchmarks").items()
    if entries and not any(map(_is_repetition, entries)):
        raise FormatError(
            f"{document.where}: holds aggregates only; write it without "
            "--benchmark_report_aggregates_only."
        )
    for entry in filter(_is_repetition, entries):
        name = entry.text("run_name") or entry.text("name") or ""
        yield {
            **levels_of(name),
            "benchmark": name,
            **({"threads": entry.text("threads")} if "threads" in entry else {}),
            "calls": entry.count("iterations"),
            **_outcome(entry),
        }


def _is_repetition(entry: Node) -> bool:
    name = entry.text("name") or ""
    kind = entry.text("run_type") or ("aggregate" if name.endswith(AGGREGATES) else "iteration")
    return kind == "iteration"


def _outcome(entry: Node) -> Row:
    if entry.text("error_occurred") == "True":
        return {"status": "failed", "error": entry.text("error_message")}
    if entry.text("skipped") == "True":
        return {"status": "failed", "error": f"skipped: {entry.text('skip_message') or ''}"}
    unit = entry.text("time_unit") or "ns"
    times = {"time_per_call_s": "real_time", "cpu_per_call_s": "cpu_time"}
    return {
        **{
            ours: number if number is None else in_own_unit(ours, number, unit, entry.where)
            for ours, theirs in times.items()
            for number in [entry.number(theirs)]
        },
        "throughput_bytes_s": entry.number("bytes_per_second"),
        "achieved_rate": entry.number("items_per_second"),
        **entry.own_columns(besides=OWN),
    }


read_google_benchmark = JsonFormat(
    tool="google-benchmark",
    version="1.7.1",
    write="--benchmark_out=FILE --benchmark_out_format=json",
    rows=_rows,
    needs=("time_per_call_s",),
    traps=(
        "Aggregates (mean, median, stddev) are left out: the rows are the repetitions themselves.",
        "Google Benchmark before 1.9 divides the time of a call by the threads: a fall of it in "
        "proportion to threads is none.",
    ),
)
