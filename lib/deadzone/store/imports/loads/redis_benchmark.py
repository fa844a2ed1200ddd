"""redis-benchmark: the text that it prints, also with `-q`, or `--csv`, one row a test."""

from pathlib import Path

from deadzone.store.imports.document import csv_table, text_of
from deadzone.store.imports.formats import text_format
from deadzone.store.imports.result import Results
from deadzone.store.imports.runs import results_of
from deadzone.store.imports.units import figure

TEXT = text_format("redis-benchmark")

CSV = {
    "achieved_rate": "rps",
    "latency_mean_ms": "avg_latency_ms",
    "latency_min_ms": "min_latency_ms",
    "latency_p50_ms": "p50_latency_ms",
    "latency_p95_ms": "p95_latency_ms",
    "latency_p99_ms": "p99_latency_ms",
    "latency_max_ms": "max_latency_ms",
}
"""Our columns, and those of the CSV."""


def read_redis_benchmark(path: Path) -> Results:
    """Results of redis-benchmark, one a test. Raises FormatError if the file is neither its text
    nor its CSV, or no test is complete."""
    text = text_of(path)
    if not text.startswith('"test"'):
        return TEXT(path)
    cut: list[int] = []
    runs = []
    for position, line in enumerate(csv_table(text, path, TEXT.tool, ("test", "rps"), cut), 1):
        figures = {ours: figure(line.get(name), ours, str(path)) for ours, name in CSV.items()}
        runs.append((f"test {position}", {"test": line["test"], **figures}))
    return results_of(
        runs, path, TEXT.tool, TEXT.needs, TEXT.traps, cut_lines=cut, write=TEXT.write
    )
