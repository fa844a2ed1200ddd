"""k6's stream of points (`--out json=FILE`, `--out csv=FILE`), read line by line because such files
are large: a line is one reading of one metric, and of a request only its response time is kept,
eight bytes."""

from __future__ import annotations

import json
import math
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from deadzone.plugins import FormatError, csv_rows
from deadzone.store.imports.document import DAMAGE, opened, quoted
from deadzone.store.imports.result import latency_columns

TOOL = "k6"

SPAN = "wall_s and achieved_rate are of the time from the first point to the last."
WHOLE_SECONDS = (
    "k6's CSV has times in whole seconds, so wall_s and achieved_rate are off by up to a second."
)

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

SUMMED = dict(path.split(".") for path in FIGURES.values() if path.endswith((".count", ".passes")))
"""Metrics whose points add up, and what the sum is in a summary."""

NEEDED = ("metric_name", "timestamp", "metric_value")

LATEST_S = 1e11
"""Seconds since 1970 beyond which a number is no time of day."""

Point = tuple[str, str, float, float]
"""Scenario, metric, time in seconds since 1970, value."""


@dataclass
class Scenario:
    """What was seen of one scenario so far."""

    latency: array[float] = field(default_factory=lambda: array("d"))
    sums: dict[str, float] = field(default_factory=dict)
    first: float = float("inf")
    last: float = float("-inf")

    def add(self, metric: str, at: float, value: float) -> None:
        """One point: a number of `metric` at a time."""
        self.first, self.last = min(self.first, at), max(self.last, at)
        if metric == "http_req_duration":
            self.latency.append(value)
        elif metric in SUMMED:
            self.sums[metric] = self.sums.get(metric, 0.0) + value

    def summary(self, name: str) -> dict[str, Any]:
        """The same as a summary of k6, and columns that no summary has."""
        span = self.last - self.first
        began = datetime.fromtimestamp(self.first, UTC).isoformat(timespec="milliseconds")
        own = {"started_at": began, "scenario": name or None, "wall_s": span}
        metrics = {}
        for metric, total in self.sums.items():
            rate = round(total) / span if total and span > 0 else None
            metrics[metric] = {SUMMED[metric]: round(total), "rate": rate}
        return {"row": {**own, **latency_columns(np.frombuffer(self.latency))}, "metrics": metrics}


def scenarios_in(path: Path, cut: list[int]) -> tuple[list[dict[str, Any]], tuple[str, ...]] | None:
    """A summary of each scenario, and sentences on how far they can be believed; None where the
    file holds no points. cut: gets the lines that were cut off.

    Raises FormatError if there is no point, or a line is damaged.
    """
    with opened(path) as file:
        first = file.readline(100_000)
        file.seek(0)
        is_csv = first.startswith("metric_name,")
        if not is_csv and '"type":"Metric"' not in first and '"type":"Point"' not in first:
            return None
        rows = enumerate(csv_rows(file, path, TOOL, NEEDED, cut), start=2)
        lines = rows if is_csv else _entries(file, cut)
        scenarios: dict[str, Scenario] = defaultdict(Scenario)
        for number, line in lines:
            try:
                scenario, metric, at, value = _of_row(line) if is_csv else _of_entry(line)
                if not 0 <= at < LATEST_S or not math.isfinite(value):
                    raise ValueError
            except DAMAGE as error:
                raise FormatError(
                    f"{path}: line {number} is no point of k6: {quoted(line)}."
                ) from error
            scenarios[scenario].add(metric, at, value)
    if not scenarios:
        raise FormatError(f"{path}: this k6 run recorded no points.")
    found = [seen.summary(name) for name, seen in scenarios.items()]
    return found, (SPAN, WHOLE_SECONDS) if is_csv else (SPAN,)


def _of_row(row: Mapping[str, str]) -> Point:
    scenario, metric = row.get("scenario", ""), row["metric_name"]
    return scenario, metric, float(row["timestamp"]), float(row["metric_value"])


def _of_entry(entry: Mapping[str, Any]) -> Point:
    data = entry["data"]
    at = datetime.fromisoformat(data["time"]).timestamp()
    return (data["tags"] or {}).get("scenario", ""), entry["metric"], at, float(data["value"])


def _entries(file: TextIO, cut: list[int]) -> Iterator[tuple[int, Any]]:
    """The points in lines of JSON, with the number of each line."""
    for number, line in enumerate(file, start=1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            cut += [number] if line.strip() else []
        else:
            if entry["type"] == "Point":
                yield number, entry
