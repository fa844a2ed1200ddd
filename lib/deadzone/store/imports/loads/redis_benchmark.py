"""redis-benchmark: the text that it prints, also with `-q`, or `--csv`, one row a test."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from deadzone.store.imports.document import csv_table, number_in, text_of
from deadzone.store.imports.result import CLOSED_LOOP, Results, Row
from deadzone.store.imports.runs import results_of
from deadzone.store.imports.text_format import TextFormat

TOOL = "redis-benchmark"

TRAPS = (
    "redis-benchmark's clients and the server share this machine's cores, unless told otherwise "
    "(-h).",
    CLOSED_LOOP.format(tool=TOOL),
)

STATISTICS = ("mean", "min", "p50", "p95", "p99", "max")
SUMMARY = r"avg\s+min\s+p50\s+p95\s+p99\s+max\s*\n\s*(?:[\d.]+\s+){%d}"

HEADING = r"^====== (.+) ======"
QUIET = r"^(?!throughput summary)(\S.*): [\d.]+ requests per second"
LINE = r'^"([^"]+)","[\d.]+"\s*$'
"""Of the CSV before 6.2, which has no header."""

WHOLE_MS = re.compile(r"^[\d.]+% <= \d+ milliseconds$", re.MULTILINE)


def _doubts(text: str, columns: Collection[str]) -> Iterator[str]:
    if WHOLE_MS.search(text):
        yield (
            "redis-benchmark before 6.2 tells no percentile: only how many answers took up to so "
            "many whole ms, which is not read."
        )


TEXT = TextFormat(
    tool=TOOL,
    version="7.0.15",
    write="redis-benchmark --csv > FILE",
    begins=(f"{HEADING}|{QUIET}|{LINE}",),
    needs=("achieved_rate",),
    labels={
        "test": f"{HEADING}|{QUIET}|{LINE}",
        "client_connections": r"^(\d+) parallel clients",
    },
    figures={
        "requests": r"^(\d+) requests completed in",
        "wall_s": r"requests completed in ([\d.,]+) (seconds)",
        "achieved_rate": r'([\d.]+)(?: requests per second|"\s*$)',
        **{f"latency_{name}_ms": SUMMARY % i + r"([\d.]+)" for i, name in enumerate(STATISTICS)},
        "latency_p50_ms": rf"(?:{SUMMARY % 2}|requests per second, p50=)([\d.]+)",
    },
    traps=TRAPS,
    doubts=_doubts,
)

CSV = {
    "achieved_rate": "rps",
    **{f"latency_{name}_ms": f"{name}_latency_ms" for name in STATISTICS},
    "latency_mean_ms": "avg_latency_ms",
}
"""Our columns, and those of the CSV."""


def read_redis_benchmark(path: Path) -> Results:
    """Results of redis-benchmark, one a test. Raises FormatError if the file is neither its text
    nor its CSV, or no test is complete."""
    text = text_of(path)
    if not text.startswith('"test"'):
        return TEXT(path)
    cut: list[int] = []
    runs: list[tuple[str, Row]] = []
    for position, line in enumerate(csv_table(text, path, TOOL, ("test", "rps"), cut), 1):
        figures = {ours: number_in(line.get(name, ""), path, name) for ours, name in CSV.items()}
        runs.append((f"test {position}", {"test": line["test"], **figures}))
    return results_of(runs, path, TOOL, TEXT.needs, TRAPS, cut_lines=cut, write=TEXT.write)
