"""k6's stream of points, `--out json=FILE` and `--out csv=FILE`, read line by line: such files are large.

A line is one reading of one metric. One row comes out for each scenario; of a request only its response time is kept,
eight bytes.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import numpy as np

from deadzone.errors import FormatError
from deadzone.store.imports.document import csv_rows, number_in, quoted
from deadzone.store.imports.k6_summary import TOOL
from deadzone.store.imports.latency import latency_columns
from deadzone.store.imports.result import Results, Row

NEEDED = ("metric_name", "timestamp", "metric_value")

SPAN = "wall_s and achieved_rate are of the time from the first point to the last."
WHOLE_SECONDS = "k6's CSV has times in whole seconds, so wall_s and achieved_rate are off by up to a second."


@dataclass
class _Scenario:
    """What was seen of one scenario so far."""

    latency: array[float] = field(default_factory=lambda: array("d"))
    sums: dict[str, float] = field(default_factory=dict)
    first: float = float("inf")
    last: float = float("-inf")

    def add(self, metric: str, at: float, value: float) -> None:
        self.first, self.last = min(self.first, at), max(self.last, at)
        if metric == "http_req_duration":
            self.latency.append(value)
        elif metric in SUMMED:
            self.sums[metric] = self.sums.get(metric, 0.0) + value


SUMMED = {
    "http_reqs": "requests",
    "iterations": "iterations",
    "http_req_failed": "errors",
    "dropped_iterations": "dropped",
    "data_received": "transferred_bytes",
    "data_sent": "sent_bytes",
}
"""Metrics whose points add up, and our columns."""


def read_points_json(file: TextIO, path: Path) -> Results:
    """Rows of a stream of JSON lines, one a scenario. Raises FormatError, with the line, where it is damaged."""
    return _results(_json_points(file, path), path, ())


def read_points_csv(file: TextIO, path: Path) -> Results:
    """Rows of a stream as CSV, one a scenario. Raises FormatError, with the line, where it is damaged."""
    return _results(_csv_points(file, path), path, (WHOLE_SECONDS,))


Point = tuple[str, str, float, float]
"""Scenario, metric, time in seconds since 1970, value."""


def _results(points: Iterator[Point], path: Path, doubts: tuple[str, ...]) -> Results:
    scenarios: dict[str, _Scenario] = {}
    for scenario, metric, at, value in points:
        scenarios.setdefault(scenario, _Scenario()).add(metric, at, value)
    if not scenarios:
        raise FormatError(f"{path}: this k6 run recorded no points.")
    rows = tuple(_row(name, seen, path) for name, seen in scenarios.items())
    lost = sum(row["dropped"] or 0 for row in rows)
    if lost:
        doubts += (
            f"k6 dropped {lost:,} iterations for want of virtual users: the load was not the one asked for.",
        )
    return Results(rows, (SPAN, *doubts))


def _row(name: str, seen: _Scenario, path: Path) -> Row:
    span = seen.last - seen.first
    sums = {ours: seen.sums.get(theirs) for theirs, ours in SUMMED.items()}
    row: Row = {name: None if value is None else round(value) for name, value in sums.items()}
    received = row["transferred_bytes"]
    return {
        "source": path.name,
        "tool": TOOL,
        "started_at": datetime.fromtimestamp(seen.first, UTC).isoformat(timespec="milliseconds"),
        "scenario": name or None,
        "wall_s": span,
        **row,
        "achieved_rate": row["requests"] / span if row["requests"] and span > 0 else None,
        "throughput_bytes_s": received / span if received and span > 0 else None,
        **latency_columns(np.frombuffer(seen.latency)),
    }


def _json_points(file: TextIO, path: Path) -> Iterator[Point]:
    for number, line in enumerate(file, start=1):
        try:
            entry = json.loads(line)
            if entry["type"] != "Point":
                continue
            data = entry["data"]
            tags = data["tags"] or {}
            at = datetime.fromisoformat(data["time"]).timestamp()
            value = float(data["value"])
            if not abs(value) < 1e300 or not isinstance(data["value"], int | float):
                raise ValueError
            yield str(tags.get("scenario", "")), str(entry["metric"]), at, value
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise FormatError(
                f"{path}: line {number} is no point of k6: {quoted(line.strip())}. Was the file cut off?"
            ) from error


def _csv_points(file: TextIO, path: Path) -> Iterator[Point]:
    for number, row in enumerate(csv_rows(file, path, TOOL, NEEDED), start=2):
        at = number_in(row["timestamp"], path, f"timestamp in line {number}")
        value = number_in(row["metric_value"], path, f"metric_value in line {number}")
        if at is None or value is None or not 0 <= at < 1e11:
            raise FormatError(f"{path}: line {number} is no point of k6: it has no time or no value.")
        yield row.get("scenario", ""), row["metric_name"], at, value
