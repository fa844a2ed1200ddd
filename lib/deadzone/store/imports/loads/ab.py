"""ab, the benchmark of the Apache server: the text that it prints, one row a test."""

from deadzone.store.imports.result import CLOSED_LOOP
from deadzone.store.imports.text_format import TextFormat

read_ab = TextFormat(
    tool="ab",
    version="2.3",
    write="ab -q ... > FILE",
    begins=(r"^This is ApacheBench", r"^Server Software:", r"^Concurrency Level:"),
    needs=("requests", "achieved_rate"),
    labels={
        "path": r"^Document Path:\s+(\S+)",
        "client_connections": r"^Concurrency Level:\s+(\d+)",
    },
    figures={
        "wall_s": r"^Time taken for tests:\s+([\d.]+) (seconds)",
        "requests": r"^Complete requests:\s+(\d+)",
        "achieved_rate": r"^Requests per second:\s+([\d.]+)",
        "latency_mean_ms": r"^Time per request:\s+([\d.]+) \[(ms)\] \(mean\)",
        "latency_min_ms": r"^Total:\s+(\d+)\s",
        "latency_stddev_ms": r"^Total:\s+\d+\s+\d+\s+([\d.]+)\s",
        "latency_max_ms": r"^Total:\s+\d+\s+\d+\s+[\d.]+\s+\d+\s+(\d+)",
        "latency_p{}_ms": r"^(\d\d)%\s+(\d+)\s*$",
        "errors": r"^Failed requests:\s+(\d+)",
        "refused": r"^Non-2xx responses:\s+(\d+)",
        "transferred_bytes": r"^Total transferred:\s+(\d+) (bytes)",
        "throughput_bytes_s": r"^Transfer rate:\s+([\d.]+) \[(Kbytes)/sec\]",
    },
    sizes={"bytes": 1, "Kbytes": 2**10},
    traps=(
        "ab counts an answer of another length than the first as failed, unless told -l, and one "
        "with an error status not at all: those are in refused.",
        "ab prints percentiles in whole milliseconds, and runs in one thread.",
        CLOSED_LOOP.format(tool="ab"),
    ),
)
