"""k6's end-of-test summary as JSON (`--summary-export`, or what `handleSummary` is given).

The two summaries say a threshold in opposite ways: in `--summary-export`, `"avg<40": true` means
that it was crossed; for `handleSummary`, `{"ok": true}` means that it was kept. In
`http_req_failed`, `passes` are the requests that failed.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadzone.plugins import (
    FormatError,
    Results,
    Row,
    figures_of,
    own_name,
    parse_json,
    reading,
    text_of,
)
from deadzone.store.imports.document import number_in

TOOL, WRITE = "k6", "--summary-export=FILE"

POINT = re.compile(r'\{"(?:type|metric)":"')
"""How a stream of points in JSON begins."""

FIGURES = {
    "requests": "http_reqs.count",
    "achieved_rate": "http_reqs.rate",
    "iterations": "iterations.count",
    "errors": "http_req_failed.passes",
    "dropped": "dropped_iterations.count",
    "checks_failed": "checks.fails",
    "vus_max": "vus_max.max",
    "transferred_bytes": "data_received.count",
    "sent_bytes": "data_sent.count",
    "throughput_bytes_s": "data_received.rate",
}
"""Our columns, and metric and statistic of k6's summary."""

STATISTICS = {"avg": "mean", "min": "min", "med": "p50", "max": "max"}
PERCENTILE = re.compile(r"p\((\d+(?:\.\d+)?)\)")

NO_P99 = "k6 tells no 99th percentile unless asked with --summary-trend-stats."

OWN = {"iterations", "iteration_duration", "http_reqs", "vus_max", "data_sent"}
"""Metrics of which every summary has one."""

TIMES = (
    *("http_req_", "iteration_duration", "group_duration", "ws_connecting", "ws_session_duration"),
    *("ws_ping", "grpc_"),
)
"""Beginnings of k6's own metrics that are times in milliseconds."""

OWN_COLUMNS = {"http_req_duration", "vus", *(path.split(".")[0] for path in FIGURES.values())}
"""Metrics that have columns of their own; the others keep k6's names."""


def read_k6(path: Path) -> Results:
    """The trial of a summary. Raises FormatError if the file is none, or damaged."""
    with reading(path, f"{TOOL}, written with {WRITE}"):
        document = _summary(path)
        row, crossed = _row(document, str(path)), _crossed(document["metrics"])
        row["thresholds_crossed"] = None if crossed is None else len(crossed)
    return Results.read(path.name, TOOL, [row], _doubts(row, crossed or ()))


def _summary(path: Path) -> dict[str, Any]:
    text = text_of(path)
    if not text.lstrip().startswith("{") or POINT.match(text):
        raise FormatError(
            f"{path}: is no summary of k6, but what it prints or a stream of points; run k6 with "
            f"{WRITE} and import that file."
        )
    document: dict[str, Any] = parse_json(text, path, TOOL)
    if OWN.isdisjoint(document["metrics"]):
        raise FormatError(f"{path}: is no summary of k6: none of k6's own metrics is in it.")
    return document


def _row(document: Mapping[str, Any], where: str) -> Row:
    listed = {name: metric for name, metric in document["metrics"].items() if metric is not None}
    metrics = {name: metric.get("values") or metric for name, metric in listed.items()}
    trend = _trend(metrics.get("http_req_duration", {}), "latency", "_ms", where)
    row = {"wall_s": _duration_s(document, metrics, where), **figures_of(metrics, FIGURES, where)}
    row |= trend
    for name, values in metrics.items():
        if name in OWN_COLUMNS or "{" in name:
            continue
        own = own_name(name)
        if values.get("avg") is not None:
            is_time = name.startswith(TIMES) or listed[name].get("contains") == "time"
            row |= _trend(values, own, "_ms" if is_time else "", where)
        elif values.get("count") is not None:
            row[own] = number_in(values["count"], where, name)
            row[f"{own}_per_s"] = number_in(values.get("rate"), where, name)
    return row


def _trend(values: Mapping[str, Any], name: str, unit: str, where: str) -> Row:
    """A trend's statistics as columns: latency_p99_ms."""
    row: Row = {}
    for key, value in values.items():
        percentile = PERCENTILE.fullmatch(key)
        statistic = f"p{percentile[1].replace('.', '_')}" if percentile else STATISTICS.get(key)
        if statistic and value is not None:
            row[f"{name}_{statistic}{unit}"] = number_in(value, where, f"{key} of {name}")
    return row


def _duration_s(document: Mapping[str, Any], metrics: Mapping[str, Any], where: str) -> Any:
    """k6's own duration, or that of its counters: count / rate."""
    length_ms = (document.get("state") or {}).get("testRunDurationMs")
    if length_ms is not None:
        return number_in(length_ms / 1e3, where, "testRunDurationMs")
    for name in ("iterations", "http_reqs", "data_sent"):
        values = metrics.get(name, {})
        if values.get("count") and values.get("rate"):
            return number_in(values["count"] / values["rate"], where, f"length by {name}")
    return None


def _crossed(metrics: Mapping[str, Any]) -> list[str] | None:
    """The thresholds that were not kept, or None where none was set: true in --summary-export, or
    not ok for handleSummary."""
    rules = {
        f"{name} {rule}": said if isinstance(said, bool) else not said["ok"]
        for name, metric in metrics.items()
        for rule, said in ((metric or {}).get("thresholds") or {}).items()
    }
    return [rule for rule, is_crossed in rules.items() if is_crossed] if rules else None


def _doubts(row: Row, crossed: Sequence[str]) -> list[str]:
    doubts = []
    if dropped := row["dropped"]:
        due = dropped + (row["iterations"] or 0)
        doubts.append(
            f"k6 dropped {dropped:,} of {due:,} iterations because it ran out of virtual users: "
            "the load was lower than asked for, and their waiting is not in the latencies."
        )
    if crossed:
        doubts.append(f"Thresholds crossed: {', '.join(crossed)}.")
    if "latency_mean_ms" in row and "latency_p99_ms" not in row:
        doubts.append(NO_P99)
    return doubts
