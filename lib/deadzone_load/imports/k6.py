"""k6's result files: the end-of-test summary as JSON (`--summary-export`, or what `handleSummary`
is given), and its stream of points (`--out json=FILE`, `--out csv=FILE`), read line by line because
such files are large.

The two summaries say a threshold in opposite ways: in `--summary-export`, `"avg<40": true` means
that it was crossed; for `handleSummary`, `{"ok": true}` means that it was kept. In
`http_req_failed`, `passes` are the requests that failed. A line of the stream is one reading of one
metric; one row comes out for each scenario, and of a request only its response time is kept, eight
bytes.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import numpy as np

from deadzone.plugins import (
    FormatError,
    Node,
    Results,
    Row,
    csv_rows,
    own_name,
    parse_json,
    text_of,
)
from deadzone.store.imports.document import number_in, opened, quoted
from deadzone.store.imports.result import latency_columns

TOOL = "k6"

STATISTICS = {"avg": "mean", "min": "min", "med": "p50", "max": "max"}
PERCENTILE = re.compile(r"p\((\d+(?:\.\d+)?)\)")

SPAN = "wall_s and achieved_rate are of the time from the first point to the last."
WHOLE_SECONDS = (
    "k6's CSV has times in whole seconds, so wall_s and achieved_rate are off by up to a second."
)
NO_P99 = "k6 tells no 99th percentile unless asked with --summary-trend-stats."

OWN = {"iterations", "iteration_duration", "http_reqs", "vus_max", "data_sent"}
"""Metrics of which every summary has one."""

TIMES = (
    *("http_req_", "iteration_duration", "group_duration", "ws_connecting", "ws_session_duration"),
    *("ws_ping", "grpc_"),
)
"""Beginnings of k6's own metrics that are times in milliseconds."""

MAIN = {
    "requests": ("http_reqs", "count"),
    "achieved_rate": ("http_reqs", "rate"),
    "iterations": ("iterations", "count"),
    "errors": ("http_req_failed", "passes"),
    "dropped": ("dropped_iterations", "count"),
    "checks_failed": ("checks", "fails"),
    "vus_max": ("vus_max", "max"),
    "transferred_bytes": ("data_received", "count"),
    "sent_bytes": ("data_sent", "count"),
    "throughput_bytes_s": ("data_received", "rate"),
}
"""Our columns, with metric and statistic of k6's summary."""

OWN_COLUMNS = {"http_req_duration", "vus", *(metric for metric, _ in MAIN.values())}
"""Metrics that have columns of their own; the others keep k6's names."""

SUMMED = {
    metric: column
    for column, (metric, statistic) in MAIN.items()
    if statistic in ("count", "passes")
}
"""Metrics whose points add up, and our columns."""

NEEDED = ("metric_name", "timestamp", "metric_value")

Point = tuple[str, str, float, float]
"""Scenario, metric, time in seconds since 1970, value."""


def read_summary(document: Node, source: str) -> Results:
    """One row: the whole test. Raises FormatError if the document is no summary of k6."""
    listed = document.child("metrics")
    metrics = {name: node.under("values") or node for name, node in listed.entries().items()}
    if metrics.keys().isdisjoint(OWN):
        raise FormatError(
            f"{document.where}: is no summary of k6: none of k6's own metrics is in it."
        )
    row: Row = {"wall_s": _duration(document, metrics), **_main_columns(metrics)}
    for name, values in metrics.items():
        if name not in OWN_COLUMNS and "{" not in name:
            row |= _further(name, values, listed.child(name))
    crossed = _crossed(listed)
    row["thresholds_crossed"] = None if crossed is None else len(crossed)
    return Results.read(source, TOOL, [row], _doubts(row, crossed or []))


def _main_columns(metrics: dict[str, Node]) -> Row:
    latency = (
        _trend(metrics["http_req_duration"], "latency", "_ms")
        if "http_req_duration" in metrics
        else {}
    )
    row: Row = dict.fromkeys(MAIN)
    for column, (metric, statistic) in MAIN.items():
        if values := metrics.get(metric):
            row[column] = (
                values.number(statistic) if statistic == "rate" else values.count(statistic)
            )
    return row | latency


def _trend(values: Node, name: str, unit: str) -> Row:
    """A trend's statistics as columns: latency_p99_ms."""
    row: Row = {}
    for key, node in values.entries().items():
        percentile = PERCENTILE.fullmatch(key)
        statistic = f"p{percentile[1].replace('.', '_')}" if percentile else STATISTICS.get(key)
        if statistic:
            row[f"{name}_{statistic}{unit}"] = node.own_number()
    return row


def _further(name: str, values: Node, metric: Node) -> Row:
    """Metrics of the script, and k6's others: trends by statistic, counters as a count and a
    rate."""
    if "avg" in values:
        is_time = name.startswith(TIMES) or metric.text("contains") == "time"
        return _trend(values, own_name(name), "_ms" if is_time else "")
    if "count" in values:
        return {
            own_name(name): values.number("count"),
            f"{own_name(name)}_per_s": values.number("rate"),
        }
    return {}


def _duration(document: Node, metrics: dict[str, Node]) -> float | None:
    """k6's own duration, or that of its counters: count / rate."""
    length_s = document.number("state", "testRunDurationMs", parts=1e3)
    if length_s is not None:
        return length_s
    for name in ("iterations", "http_reqs", "data_sent"):
        if name in metrics:
            count, rate = metrics[name].number("count"), metrics[name].number("rate")
            if count and rate:
                return count / rate
    return None


def _crossed(metrics: Node) -> list[str] | None:
    """The thresholds that were not kept, or None where none was set."""
    rules = [
        (f"{name} {rule}", _is_crossed(threshold))
        for name, metric in metrics.entries().items()
        for rule, threshold in metric.entries("thresholds").items()
    ]
    return [rule for rule, is_crossed in rules if is_crossed] if rules else None


def _is_crossed(threshold: Node) -> bool:
    """True in --summary-export, or not ok for handleSummary."""
    if isinstance(threshold.value, bool):
        return threshold.value
    kept = threshold.child("ok").value
    if not isinstance(kept, bool):
        raise FormatError(f"{threshold.where}: says neither true nor false.")
    return not kept


def _doubts(row: Row, crossed: list[str]) -> list[str]:
    doubts = []
    if row["dropped"]:
        due = row["dropped"] + (row["iterations"] or 0)
        doubts.append(
            f"k6 dropped {row['dropped']:,} of {due:,} iterations for want of virtual users: the "
            "load was not the one asked for, and what those requests would have waited is not in "
            "the latencies."
        )
    if crossed:
        doubts.append(f"Thresholds crossed: {', '.join(crossed)}.")
    if "latency_mean_ms" in row and "latency_p99_ms" not in row:
        doubts.append(NO_P99)
    return doubts


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


def _results(
    points: Iterator[Point], path: Path, doubts: tuple[str, ...], cut: list[int]
) -> Results:
    """Rows of a stream, one a scenario."""
    scenarios: dict[str, _Scenario] = {}
    for scenario, metric, at, value in points:
        scenarios.setdefault(scenario, _Scenario()).add(metric, at, value)
    if not scenarios:
        raise FormatError(f"{path}: this k6 run recorded no points.")
    rows = [_row(name, seen) for name, seen in scenarios.items()]
    lost = sum(row["dropped"] or 0 for row in rows)
    if lost:
        doubts += (
            f"k6 dropped {lost:,} iterations for want of virtual users: the load was not the one "
            "asked for.",
        )
    return Results.read(path.name, TOOL, rows, (SPAN, *doubts), cut_lines=cut)


def _row(name: str, seen: _Scenario) -> Row:
    span = seen.last - seen.first
    sums = {ours: seen.sums.get(theirs) for theirs, ours in SUMMED.items()}
    row: Row = {name: None if value is None else round(value) for name, value in sums.items()}
    received = row["transferred_bytes"]
    return {
        "started_at": datetime.fromtimestamp(seen.first, UTC).isoformat(timespec="milliseconds"),
        "scenario": name or None,
        "wall_s": span,
        **row,
        "achieved_rate": row["requests"] / span if row["requests"] and span > 0 else None,
        "throughput_bytes_s": received / span if received and span > 0 else None,
        **latency_columns(np.frombuffer(seen.latency)),
    }


def _json_points(file: TextIO, path: Path, cut: list[int]) -> Iterator[Point]:
    for number, line in enumerate(file, start=1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            cut += [number] if line.strip() else []
            continue
        try:
            if entry["type"] != "Point":
                continue
            data = entry["data"]
            tags = data["tags"] or {}
            at = datetime.fromisoformat(data["time"]).timestamp()
            value = float(data["value"])
            if not abs(value) < 1e300 or not isinstance(data["value"], int | float):
                raise ValueError
            yield str(tags.get("scenario", "")), str(entry["metric"]), at, value
        except (
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise FormatError(
                f"{path}: line {number} is no point of k6: {quoted(line.strip())}."
            ) from error


def _csv_points(file: TextIO, path: Path, cut: list[int]) -> Iterator[Point]:
    for number, row in enumerate(csv_rows(file, path, TOOL, NEEDED, cut), start=2):
        at = number_in(row["timestamp"], path, f"timestamp in line {number}")
        value = number_in(row["metric_value"], path, f"metric_value in line {number}")
        if at is None or value is None or not 0 <= at < 1e11:
            raise FormatError(
                f"{path}: line {number} is no point of k6: it has no time or no value."
            )
        yield row.get("scenario", ""), row["metric_name"], at, value


def read_k6(path: Path) -> Results:
    """Trials of k6: one from a summary (JSON), one a scenario from a stream of points (JSON lines
    or CSV, also .gz).

    Raises FormatError if the file is none of these, or damaged.
    """
    cut: list[int] = []
    with opened(path) as file:
        first = file.readline(100_000)
        file.seek(0)
        if first.startswith("metric_name,"):
            return _results(_csv_points(file, path, cut), path, (WHOLE_SECONDS,), cut)
        if first.startswith("{") and ('"type":"Metric"' in first or '"type":"Point"' in first):
            return _results(_json_points(file, path, cut), path, (), cut)
    text = text_of(path)
    if not text.lstrip().startswith("{"):
        raise FormatError(
            f"{path}: is no result file of k6; what it prints on the screen cannot be read. Write "
            "one with --summary-export=FILE, --out json=FILE or --out csv=FILE."
        )
    return read_summary(parse_json(text, path, TOOL), path.name)
