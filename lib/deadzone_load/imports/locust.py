"""Locust: `--csv` (the file PREFIX_stats.csv) and `--json`, one row an endpoint."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from deadzone.plugins import FormatError, Node, Results, Row, parse_json, text_of
from deadzone.store.imports.document import count_in, csv_table, number_in
from deadzone.store.imports.result import CLOSED_LOOP, counted_percentiles

TOOL = "Locust"

COLUMNS = {
    "Average Response Time": "latency_mean_ms",
    "Min Response Time": "latency_min_ms",
    "50%": "latency_p50_ms",
    "75%": "latency_p75_ms",
    "90%": "latency_p90_ms",
    "95%": "latency_p95_ms",
    "99%": "latency_p99_ms",
    "99.9%": "latency_p99_9_ms",
    "Max Response Time": "latency_max_ms",
    "Requests/s": "achieved_rate",
}
"""Locust's columns and ours; its 100% is a rounded maximum and is left alone."""

TRAPS = (
    "Locust rounds response times before it counts them (above 100 ms to two digits), so its "
    "percentiles are rounded and may pass the true maximum; mean, shortest and longest are not.",
    CLOSED_LOOP.format(tool=TOOL),
)
TOTAL_LEFT_OUT = "The row Aggregated repeats the endpoints and is left out."

LATEST_S = 1e11
"""Seconds since 1970 beyond which a number is no time of day."""


def read_locust(path: Path) -> Results:
    """Rows of a Locust result: one an endpoint (method and name). Raises FormatError if the file is
    none."""
    text = text_of(path)
    return _from_json(text, path) if text.lstrip().startswith(("[", "{")) else _from_csv(text, path)


def _from_csv(text: str, path: Path) -> Results:
    header = text.lstrip().splitlines()[0]
    if "# requests" in header:
        raise FormatError(
            f"{path}: Locust before 1.0 wrote this; the CSV of Locust 1.0 and later can be read: "
            "run it again with a newer Locust and --csv."
        )
    if header.startswith(("Timestamp,", "Method,")):
        raise FormatError(
            f"{path}: is Locust's history or list of failures; import the file that ends in "
            "_stats.csv."
        )
    needed = ("Type", "Name", "Request Count", "Failure Count", "Requests/s")
    cut: list[int] = []
    lines = csv_table(text, path, f"{TOOL}, written with --csv PREFIX", needed, cut)
    endpoints = [line for line in lines if line["Name"] != "Aggregated"]
    rows = [
        {
            "method": line["Type"] or None,
            "endpoint": line["Name"],
            "requests": count_in(line["Request Count"], path, "Request Count"),
            "errors": count_in(line["Failure Count"], path, "Failure Count"),
            **{
                ours: number_in(line.get(theirs, ""), path, theirs)
                for theirs, ours in COLUMNS.items()
            },
        }
        for line in endpoints or lines
    ]
    left_out = (TOTAL_LEFT_OUT,) if len(lines) > len(endpoints) > 0 else ()
    return Results.read(path.name, TOOL, rows, (*TRAPS, *left_out), cut_lines=cut)


def _from_json(text: str, path: Path) -> Results:
    entries = parse_json(text, path, TOOL).items()
    if not entries:
        raise FormatError(
            f"{path}: the list is empty. Locust's --json prints to standard output: redirect that "
            "into the file."
        )
    return Results.read(path.name, TOOL, [_json_row(entry, path) for entry in entries], TRAPS)


def _json_row(entry: Node, path: Path) -> Row:
    named = {"method": entry.text("method"), "endpoint": entry.text("name")}
    return {**named, **requests_of([entry], path)}


def requests_of(entries: Sequence[Node], path: Path) -> Row:
    """What became of the requests of endpoints, all of them together. entries: of a JSON result,
    one or more.

    Raises FormatError where one is no endpoint of Locust.
    """
    counts: Counter[float] = Counter()
    for entry in entries:
        if "num_requests" not in entry:
            raise FormatError(f"{entry.where}: is no result of Locust: 'num_requests' is missing.")
        for key, node in entry.child("response_times").entries().items():
            if (time_ms := number_in(key, path, "a response time")) is not None:
                counts[time_ms] += node.count_itself()

    def numbers(name: str) -> list[float]:
        return [number for entry in entries if (number := entry.number(name)) is not None]

    def counted(name: str) -> int | None:
        each = [count for entry in entries if (count := entry.count(name)) is not None]
        return sum(each) if each else None

    start, end = (
        min(numbers("start_time"), default=None),
        max(numbers("last_request_timestamp"), default=None),
    )
    wall = end - start if start is not None and end is not None and end > start else None
    requests, total = counted("num_requests"), numbers("total_response_time")
    return {
        "started_at": _moment(start),
        "wall_s": wall,
        "requests": requests,
        "errors": counted("num_failures"),
        "achieved_rate": requests / wall if requests is not None and wall else None,
        "latency_mean_ms": sum(total) / requests if total and requests else None,
        "latency_min_ms": min(numbers("min_response_time"), default=None),
        **counted_percentiles(counts),
        "latency_max_ms": max(numbers("max_response_time"), default=None),
        "transferred_bytes": counted("total_content_length"),
    }


def _moment(seconds: float | None) -> str | None:
    if seconds is None or not 0 < seconds < LATEST_S:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
