"""How many runs a file of another tool holds, counted without its reader: rows that come out, and
lines that are said to be left out, must be as many."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Count:
    """Rows, or requests in all rows, that must come out; and lines that must be said to be cut."""

    rows: int | None = None
    requests: int | None = None
    cut: int = 0


HEADS = {
    "wrk": [r"Running \S+ test @ \S+"], "pgbench": [r"pgbench \(", "transaction type:"],
    "sysbench": [r"sysbench [\d.]+", "Running the test with", "CPU speed:", "General statistics:"],
    "redis-benchmark": ["====== .+ ======"], "go-bench": [r"Benchmark\S+\s+\d+\s+[\d.]+ ns/op"],
    "ycsb": [r"\[OVERALL\], RunTime"], "criterion": [r"\S.*\btime:\s+\[\d"],
    "gnu-time": ["Command being timed:"], "hey": ["Summary:"],
}  # fmt: skip
"""Of a text: lines of a run's head, which must be there run after run for a count to be sure."""

TRACES = {
    "wrk": " @ |Running|threads and", "pgbench": "pgbench|transaction type|scaling factor",
    "sysbench": "sysbench |Running the|CPU speed|General",
    "redis-benchmark": "======|requests completed", "go-bench": "Benchmark|ns/op",
    "ycsb": r"\[OVERALL\]", "criterion": r"time: |\[", "gnu-time": "Command being|User time",
    "hey": "Summary:|Requests/sec",
}  # fmt: skip
"""Of a text: what else tells that a run is there, as many times for each."""


def runs_in(tool: str, name: str, content: bytes, sample: bytes) -> Count | None:
    """What must come out of a file. sample: the content before it was damaged.

    None where damage lets no one say how many runs there were.
    """
    try:
        text = content.decode("utf-8-sig")
        whole = sample.decode("utf-8-sig")
        if tool in HEADS and not name.endswith(".csv"):
            return _printed(tool, text, whole)
        if name.endswith(".csv"):
            return _of_csv(tool, text, whole)
        if name.endswith(".ndjson"):
            return _of_lines(tool, text)
        rows = [DOCUMENTS[tool](document) for document in _documents(text)]
        return Count(rows=sum(rows))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, csv.Error):
        return None


def _printed(tool: str, text: str, whole: str) -> Count | None:
    if re.search(r"\r(?!\n)|\x1b", text):
        return None  # of a line that is written over only the end counts
    heads = HEADS[tool]
    flush = re.sub(r"(?m)^[ \t]+", "", text)
    seen = [
        next(i for i, head in enumerate(heads) if re.match(head, match[0]))
        for match in re.finditer(f"(?m)^(?:{'|'.join(heads)})", flush)
    ]
    n = len(seen) // len(heads)
    traces, before = (len(re.findall(TRACES[tool], each)) for each in (text, whole))
    runs = len(re.findall(rf"(?m)^[ \t]*(?:{heads[-1]})", whole))
    is_sure = seen == [*range(len(heads))] * n and n and traces * runs == before * n
    return Count(rows=n) if is_sure else None


def _of_csv(tool: str, text: str, whole: str) -> Count | None:
    header = whole.splitlines()[0]
    first, *records = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    if text.splitlines()[0] != header or first in records:
        return None
    width = len(first)
    rows = [dict(zip(first, row, strict=True)) for row in records if len(row) == width]
    cut = len(records) - len(rows)
    if tool in ("hey", "jmeter"):
        return Count(requests=len(rows), cut=cut)
    if tool == "k6":
        hits = [row["metric_value"] for row in rows if row["metric_name"] == "http_reqs"]
        return Count(requests=len(hits), cut=cut) if {*map(float, hits)} <= {1.0} else None
    if tool == "locust":
        rows = [row for row in rows if row["Name"] != "Aggregated"] or rows
    return Count(rows=len(rows), cut=cut)


def _of_lines(tool: str, text: str) -> Count | None:
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    entries = [entry for line in lines if (entry := _entry(line)) is not None]
    cut = len(lines) - len(entries)
    if tool == "k6":
        hits = [
            entry["data"]["value"]
            for entry in entries
            if entry["type"] == "Point" and entry["metric"] == "http_reqs"
        ]
        return Count(requests=len(hits), cut=cut) if {*hits} <= {1} else None
    events = [entry["event"].split(":")[0] for entry in entries]
    return Count(rows=1) if len({*events}) == len(events) and not cut else None


def _entry(line: str) -> dict[str, Any] | None:
    try:
        return json.loads(line)  # type: ignore[no-any-return]
    except ValueError:
        return None


def _documents(text: str) -> Iterator[Any]:
    at = 0
    while rest := text[at:].lstrip():
        at = len(text) - len(rest)
        document, at = json.JSONDecoder().raw_decode(text, at)
        yield document


def _repetitions(document: Any) -> int:
    kinds = [entry.get("run_type") for entry in document["benchmarks"]]
    return len(kinds) - kinds.count("aggregate")


def _moved(document: Any) -> int:
    sides = [job[side] for job in document["jobs"] for side in ("read", "write", "trim")]
    return sum(side["total_ios"] > 0 for side in sides)


DOCUMENTS: dict[str, Callable[[Any], int]] = {
    "hyperfine": lambda document: sum(len(result["times"]) for result in document["results"]),
    "oha": lambda document: len([document["summary"]]),
    "vegeta": lambda document: len([document["latencies"]]),
    "k6": lambda document: len([document["metrics"]]), "locust": len, "llama-bench": len,
    "iperf3": lambda document: len([document["end"]]),
    "gatling": lambda document: len([document["numberOfRequests"]]),
    "vllm-bench": lambda document: len([document["request_throughput"]]), "jmh": len,
    "pyperf": lambda document: len(document["benchmarks"]),
    "pytest-benchmark": lambda document: len(document["benchmarks"]),
    "google-benchmark": _repetitions, "fio": _moved,
}  # fmt: skip
"""Rows of one document."""

SAID = re.compile(r"([\d,]+) incomplete and left out")


def difference(count: Count, table: Any, err: str) -> str | None:
    """What of a file neither came out nor was said, as a sentence; None where nothing is missing.

    table: the rows, a DataFrame. err: what was said.
    """
    cut = sum(int(n.replace(",", "")) for n in SAID.findall(err))
    if count.rows is not None and len(table) != count.rows:
        return f"runs: {count.rows} in, {len(table)} rows out"
    if count.requests is not None:
        requests = int(table["requests"].fillna(0).sum()) if "requests" in table else 0
        if requests != count.requests:
            return f"requests: {count.requests} in, {requests} out"
    return None if cut == count.cut else f"lines cut: {count.cut} in, {cut} said"
