"""Locust: `--csv` (the file PREFIX_stats.csv) and `--json`, one row an endpoint."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from deadzone.plugins import READERS, FormatError, Node, Results, Row, parse_json, text_of
from deadzone.store.imports.document import count_in, csv_table, number_in
from deadzone.store.imports.result import CLOSED_LOOP, counted_percentiles

TOOL = "Locust"

TOLD = READERS["locust"]
COLUMNS: dict[str, str] = TOLD["columns"]
"""Locust's columns and ours."""

TRAPS = (*TOLD["traps"], CLOSED_LOOP.format(tool=TOOL))

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
    lines = csv_table(
        text, path, TOOL, ("Type", "Name", "Request Count", "Failure Count", *COLUMNS)
    )
    endpoints = [line for line in lines if line["Name"] != "Aggregated"]
    rows = [
        {
            "method": line["Type"] or None,
            "endpoint": line["Name"],
            "requests": count_in(line["Request Count"], path, "Request Count"),
            "errors": count_in(line["Failure Count"], path, "Failure Count"),
            **{ours: number_in(line[theirs], path, theirs) for theirs, ours in COLUMNS.items()},
        }
        for line in endpoints or lines
    ]
    left_out = (TOLD["total_left_out"],) if len(lines) > len(endpoints) > 0 else ()
    return Results.read(path.name, TOOL, rows, (*TRAPS, *left_out))


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

    def told(name: str) -> list[float]:
        return [number for entry in entries if (number := entry.number(name)) is not None]

    def counted(name: str) -> int | None:
        found = [count for entry in entries if (count := entry.count(name)) is not None]
        return sum(found) if found else None

    start, end = (
        min(told("start_time"), default=None),
        max(told("last_request_timestamp"), default=None),
    )
    wall = end - start if start is not None and end is not None and end > start else None
    requests, total = counted("num_requests"), told("total_response_time")
    return {
        "started_at": _moment(start),
        "wall_s": wall,
        "requests": requests,
        "errors": counted("num_failures"),
        "achieved_rate": requests / wall if requests is not None and wall else None,
        "latency_mean_ms": sum(total) / requests if total and requests else None,
        "latency_min_ms": min(told("min_response_time"), default=None),
        **counted_percentiles(counts),
        "latency_max_ms": max(told("max_response_time"), default=None),
        "transferred_bytes": counted("total_content_length"),
    }


def _moment(seconds: float | None) -> str | None:
    if seconds is None or not 0 < seconds < LATEST_S:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
