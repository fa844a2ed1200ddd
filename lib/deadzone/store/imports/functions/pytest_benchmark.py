"""pytest-benchmark: `--benchmark-json`, since 2.5 of 2015, one row a benchmark."""

import re
from collections.abc import Iterator

from deadzone.store.imports.document import Node
from deadzone.store.imports.json_format import JsonFormat
from deadzone.store.imports.plausible import Row
from deadzone.store.imports.runs import levels_of

PARAMETER = re.compile(r"\[(.+)\]$")
"""What the name of a parametrised test ends in; releases before 3.0 have it there alone."""


def _rows(document: Node) -> Iterator[Row]:
    for test in document.child("benchmarks").items():
        name = test.text("fullname")
        params = {key: str(node.value) for key, node in test.entries("params").items()}
        if "params" not in test and (parameter := PARAMETER.search(name or "")):
            params = {"param": parameter[1]}
        yield {
            **test.own_columns("extra_info"),
            **levels_of(name, params),
            "benchmark": name,
            "calls": test.count("stats", "rounds"),
            "time_per_call_s": test.number("stats", "mean"),
            **{
                f"time_per_call_{key}_s": test.number("stats", key)
                for key in ("median", "min", "max", "stddev")
            },
        }


read_pytest_benchmark = JsonFormat(
    tool="pytest-benchmark",
    version="5",
    write="--benchmark-json=FILE",
    rows=_rows,
    needs=("time_per_call_s",),
    traps=("A mean of pytest-benchmark follows its slowest rounds; the median stands beside it.",),
)
