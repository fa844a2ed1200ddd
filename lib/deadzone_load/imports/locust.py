"""Locust: `--csv` (the file PREFIX_stats.csv) and `--json`, one row an endpoint."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

from deadzone.plugins import FormatError, Results, Row, figures_of, parse_json, reading, text_of
from deadzone.store.imports.document import csv_rows, figure, whole
from deadzone.store.imports.result import CLOSED_LOOP, counted_percentiles

TOOL = "Locust"

COLUMNS = {
    "requests": "Request Count",
    "errors": "Failure Count",
    "latency_mean_ms": "Average Response Time",
    "latency_min_ms": "Min Response Time",
    "latency_p50_ms": "50%",
    "latency_p75_ms": "75%",
    "latency_p90_ms": "90%",
    "latency_p95_ms": "95%",
    "latency_p99_ms": "99%",
    "latency_p99_9_ms": "99.9%",
    "latency_max_ms": "Max Response Time",
    "achieved_rate": "Requests/s",
}
"""Our columns and those of Locust's CSV; its 100% is a rounded maximum and is left alone."""

FIGURES = {
    "requests": "sum(map(&num_requests, @))",
    "errors": "sum(map(&num_failures, @))",
    "latency_min_ms": "min([].min_response_time)",
    "latency_max_ms": "max([].max_response_time)",
    "transferred_bytes": "sum([].total_content_length)",
}
"""Our columns, and where they are in the JSON, of all endpoints together."""

TRAPS = (
    "Locust rounds response times before it counts them (above 100 ms to two digits), so its "
    "percentiles are rounded and may pass the true maximum; mean, shortest and longest are not.",
    CLOSED_LOOP.format(tool=TOOL),
)
TOTAL_LEFT_OUT = "The row Aggregated repeats the endpoints and is left out."


def read_locust(path: Path) -> Results:
    """Rows of a Locust result: one an endpoint (method and name). Raises FormatError if the file is
    none."""
    text = text_of(path)
    if not text.lstrip().startswith(("[", "{")):
        return _from_csv(text, path)
    entries = parse_json(text, path, TOOL)
    if not entries:
        raise FormatError(
            f"{path}: the list is empty. Redirect what `locust --json` prints into the file."
        )
    with reading(path, f"{TOOL}, written with --json"):
        rows = [
            {"method": one.get("method"), "endpoint": one.get("name"), **requests_of([one], path)}
            for one in entries
        ]
    return Results.read(path.name, TOOL, rows, TRAPS)


def _from_csv(text: str, path: Path) -> Results:
    needed = ("Type", "Name", "Request Count", "Failure Count", "Requests/s")
    cut: list[int] = []
    writer = f"{TOOL} 1.0 or later, written with --csv PREFIX to PREFIX_stats.csv"
    lines = [*csv_rows(StringIO(text), path, writer, needed, cut)]
    if not lines:
        raise FormatError(f"{path}: {writer} wrote a header and no result.")
    endpoints = [line for line in lines if line["Name"] != "Aggregated"]
    rows = []
    for line in endpoints or lines:
        row = {ours: figure(line.get(name), ours, str(path)) for ours, name in COLUMNS.items()}
        rows.append({"method": line["Type"] or None, "endpoint": line["Name"], **row})
    left_out = (TOTAL_LEFT_OUT,) if len(lines) > len(endpoints) > 0 else ()
    return Results.read(path.name, TOOL, rows, (*TRAPS, *left_out), cut_lines=cut)


def requests_of(entries: Sequence[Mapping[str, Any]], path: Path) -> Row:
    """What became of the requests of endpoints, all of them together. entries: of a JSON result,
    one or more.

    Raises FormatError where one is no endpoint of Locust.
    """
    counts: Counter[float] = Counter()
    with reading(path, f"{TOOL}, written with --json"):
        row = figures_of(entries, FIGURES, str(path))
        for entry in entries:
            for time_ms, n in entry["response_times"].items():
                counts[float(time_ms)] += whole(n, str(path), "response_times")
        began, ended, total_ms = (
            [entry[key] for entry in entries if entry[key] is not None]
            for key in ("start_time", "last_request_timestamp", "total_response_time")
        )
        start, end = min(began, default=0.0), max(ended, default=0.0)
        wall_s = end - start if start and end > start else None
        requests = row["requests"]
        moment = datetime.fromtimestamp(start, UTC).isoformat(timespec="milliseconds")
        return {
            "started_at": moment if start else None,
            "wall_s": wall_s,
            **row,
            "achieved_rate": requests / wall_s if wall_s else None,
            "latency_mean_ms": sum(total_ms) / requests if requests else None,
            **counted_percentiles(counts),
        }
