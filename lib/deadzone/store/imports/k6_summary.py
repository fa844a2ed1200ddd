"""k6's end-of-test summary as JSON: `--summary-export`, or what `handleSummary` is given.

The two say a threshold in opposite ways: in `--summary-export`, `"avg<40": true` means that it was crossed; for
`handleSummary`, `{"ok": true}` means that it was kept. In `http_req_failed`, `passes` are the requests that failed.
"""

from __future__ import annotations

import re

from deadzone.errors import FormatError
from deadzone.store.imports.document import Node
from deadzone.store.imports.result import Results, Row, own_name

TOOL = "k6"

STATISTICS = {"avg": "mean", "min": "min", "med": "p50", "max": "max"}
PERCENTILE = re.compile(r"p\((\d+(?:\.\d+)?)\)")

TIMES = (
    "http_req_",
    "iteration_duration",
    "group_duration",
    "ws_connecting",
    "ws_session_duration",
    "ws_ping",
    "grpc_",
)
"""Beginnings of k6's own metrics that are times in milliseconds."""

OWN_COLUMNS = (
    "http_req_duration",
    "http_reqs",
    "http_req_failed",
    "dropped_iterations",
    "iterations",
    "checks",
    "data_received",
    "data_sent",
    "vus",
    "vus_max",
)
"""Metrics that have columns of their own; the others keep k6's names."""

NO_P99 = "k6 tells no 99th percentile unless asked with --summary-trend-stats."


def read_summary(document: Node, source: str) -> Results:
    """One row: the whole test. Raises FormatError if the document is no summary of k6."""
    metrics = {
        name: node.child("values") if "values" in node else node
        for name, node in document.child("metrics").entries().items()
    }
    if not any(
        name in metrics for name in ("iterations", "iteration_duration", "http_reqs", "vus_max", "data_sent")
    ):
        raise FormatError(f"{document.where}: is no summary of k6: none of k6's own metrics is in it.")
    row: Row = {"source": source, "tool": TOOL, "wall_s": _duration(document, metrics)}
    row |= _main_columns(metrics)
    for name, values in metrics.items():
        if name not in OWN_COLUMNS and "{" not in name:
            row |= _further(name, values, document.child("metrics").child(name))
    crossed = _crossed(document.child("metrics"))
    row["thresholds_crossed"] = None if crossed is None else len(crossed)
    return Results((row,), tuple(_doubts(row, crossed or [])))


def _main_columns(metrics: dict[str, Node]) -> Row:
    def number(metric: str, key: str) -> float | None:
        return metrics[metric].number(key) if metric in metrics else None

    def count(metric: str, key: str) -> int | None:
        return metrics[metric].count(key) if metric in metrics else None

    latency = _trend(metrics["http_req_duration"], "latency", "_ms") if "http_req_duration" in metrics else {}
    return {
        "requests": count("http_reqs", "count"),
        "achieved_rate": number("http_reqs", "rate"),
        "iterations": count("iterations", "count"),
        **latency,
        "errors": count("http_req_failed", "passes"),
        "dropped": count("dropped_iterations", "count"),
        "checks_failed": count("checks", "fails"),
        "vus_max": count("vus_max", "max"),
        "transferred_bytes": count("data_received", "count"),
        "sent_bytes": count("data_sent", "count"),
        "throughput_bytes_s": number("data_received", "rate"),
    }


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
    """Metrics of the script, and k6's others: trends by statistic, counters as a count and a rate."""
    if "avg" in values:
        is_time = name.startswith(TIMES) or metric.text("contains") == "time"
        return _trend(values, own_name(name), "_ms" if is_time else "")
    if "count" in values:
        return {own_name(name): values.number("count"), f"{own_name(name)}_per_s": values.number("rate")}
    return {}


def _duration(document: Node, metrics: dict[str, Node]) -> float | None:
    """k6's own duration, or that of its counters: count / rate."""
    if "state" in document:
        told = document.child("state").number("testRunDurationMs")
        if told is not None:
            return told / 1e3
    for name in ("iterations", "http_reqs", "data_sent"):
        if name in metrics:
            count, rate = metrics[name].number("count"), metrics[name].number("rate")
            if count and rate:
                return count / rate
    return None


def _crossed(metrics: Node) -> list[str] | None:
    """The thresholds that were not kept, or None where none was set."""
    crossed, some = [], False
    for name, metric in metrics.entries().items():
        if "thresholds" not in metric:
            continue
        for rule, told in metric.child("thresholds").entries().items():
            some = True
            if _is_crossed(told):
                crossed.append(f"{name} {rule}")
    return crossed if some else None


def _is_crossed(told: Node) -> bool:
    """True in --summary-export, or not ok for handleSummary."""
    if isinstance(told.value, bool):
        return told.value
    kept = told.child("ok").value
    if not isinstance(kept, bool):
        raise FormatError(f"{told.where}: says neither true nor false.")
    return not kept


def _doubts(row: Row, crossed: list[str]) -> list[str]:
    doubts = []
    if row["dropped"]:
        due = row["dropped"] + (row["iterations"] or 0)
        doubts.append(
            f"k6 dropped {row['dropped']:,} of {due:,} iterations for want of virtual users: the load was not the one asked "
            "for, and what those requests would have waited is not in the latencies."
        )
    if crossed:
        doubts.append(f"Thresholds crossed: {', '.join(crossed)}.")
    if "latency_mean_ms" in row and "latency_p99_ms" not in row:
        doubts.append(NO_P99)
    return doubts
