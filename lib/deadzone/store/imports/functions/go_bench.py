"""go test: the lines that `-bench` prints, also with `-json`, one row a benchmark and repeat."""

import json
import re

from deadzone.store.imports.text_format import TextFormat

PRINTED = re.compile(r'"Action":"output","Package":"([^"]*)".*?"Output":("(?:[^"\\]|\\.)*")')
"""An event of `go test -json`: packages that are tested at once take turns."""


def _unwrapped(text: str) -> str:
    """What `go test -json` says that was printed, package by package; any other text itself."""
    if not text.lstrip().startswith('{"Time":'):
        return text
    events = PRINTED.findall(text)
    return "".join(
        json.loads(printed, strict=False)
        for package in dict.fromkeys(package for package, _ in events)
        for owner, printed in events
        if owner == package
    )


read_go_bench = TextFormat(
    tool="go-bench",
    version="go 1.26",
    write="go test -bench . > FILE",
    begins=(r"^(?:--- FAIL: )?Benchmark\S+(?:\s+\d|-\d+\s*$|\s*\Z)|^--- FAIL: Benchmark\S+",),
    needs=("time_per_call_s",),
    labels={
        "benchmark": r"^(?:--- FAIL: )?Benchmark(\S+?)(?:-\d+)?(?:\s|$)",
        "gomaxprocs": r"^(?:--- FAIL: )?Benchmark\S+-(\d+)\s",
    },
    levels={"gomaxprocs": "1"},  # Go leaves out only this
    figures={
        "calls": r"^Benchmark\S+\s+(\d+)\s",
        "time_per_call_s": r"\s([\d.,]+) (ns)/op",
        "throughput_bytes_s": r"\s([\d.,]+) (MB)/s",
        "allocated_bytes": r"\s([\d.,]+) (B)/op",
        "allocations": r"\s([\d.,]+) allocs/op",
    },
    further=r"\s([\d.]+) (?!(?:ns|B|allocs)/op|MB/s)([A-Za-z%][^\s:=]*)(?=\s+[\d.]+ \S|\s*$)",
    unwrapped=_unwrapped,
    traps=(
        "Go tells the mean of as many calls as fitted; -count repeats it, and only repeats show "
        "the scatter.",
    ),
)
