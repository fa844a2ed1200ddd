"""wrk and wrk2: the text that they print, one row a test."""

from collections.abc import Collection, Iterator

from deadzone.store.imports.result import CLOSED_LOOP
from deadzone.store.imports.text_format import TextFormat

THIRD = r"Stdev\s+%s\s.*\n\s*Latency\s+\S+\s+\S+\s+([\d.]+)([A-Za-z]+)"
"""The third of the statistics of latency, which is the largest, or in a fork of wrk2 the 99th
percentile."""


OF_WRK2 = ("Thread calibration", "HdrHistogram")
"""It sends at a rate, and counts from when a request was due."""


def _doubts(text: str, columns: Collection[str]) -> Iterator[str]:
    if "latency_p50_ms" not in columns:
        yield (
            "wrk tells no percentiles unless asked with --latency; only mean and maximum are there."
        )
    if not any(words in text for words in OF_WRK2):
        yield CLOSED_LOOP.format(tool="wrk")


read_wrk = TextFormat(
    tool="wrk",
    version="4.1.0",
    write="wrk --latency URL > FILE, from the line 'Running 30s test @ URL' on",
    begins=(r"^Running \S+ test @ \S+",),
    needs=("requests", "achieved_rate"),
    labels={
        "url": r"^Running \S+ test @ (\S+)",
        "client_threads": r"^\s*(\d+) threads and",
        "client_connections": r"threads and (\d+) connections",
    },
    figures={
        "wall_s": r"\d requests in ([\d.]+)([A-Za-z]+),",
        "requests": r"^\s*(\d+) requests in",
        "achieved_rate": r"^Requests/sec:\s*([\d.]+)",
        "latency_mean_ms": r"^\s*Latency\s+([\d.]+)([A-Za-z]+)",
        "latency_p{}_ms": r"^\s*([1-9]\d(?:\.\d+)?)%\s+([\d.]+)([A-Za-z]+)\s*$",
        "latency_max_ms": THIRD % "Max",
        "latency_p99_ms": THIRD % "99%",
        "transferred_bytes": r"requests in \S+, ([\d.]+)([A-Za-z]+) read",
        "throughput_bytes_s": r"^Transfer/sec:\s*([\d.]+)([A-Za-z]+)",
    },
    totals={
        "errors": r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)"
        r"|Non-2xx or 3xx responses: (\d+)",
    },
    sizes={f"{letter}B": 2 ** (10 * power) for power, letter in enumerate(("", *"KMGTP"))},
    traps=(
        "wrk prints two to three digits, so every figure but the number of requests is rounded.",
    ),
    doubts=_doubts,
)
