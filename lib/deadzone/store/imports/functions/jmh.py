"""JMH: `-rf json`, one row a benchmark, mode and set of parameters."""

from collections.abc import Iterator

from deadzone.store.imports.document import Node
from deadzone.store.imports.json_format import JsonFormat
from deadzone.store.imports.plausible import Row
from deadzone.store.imports.runs import levels_of
from deadzone.store.imports.units import in_own_unit


def _rows(document: Node) -> Iterator[Row]:
    for result in document.items():
        name, mode = result.text("benchmark"), result.text("mode")
        params = {key: node.value for key, node in result.entries("params").items()}
        column = "achieved_rate" if mode == "thrpt" else "time_per_call_s"
        yield {
            **levels_of(name, params),
            "benchmark": name,
            "mode": mode,
            **({"threads": result.text("threads")} if "threads" in result else {}),
            column: _score(result, column),
        }


def _score(result: Node, column: str) -> float | None:
    """The score in the unit of its column; None where JMH writes "NaN" for it."""
    metric = result.under("primaryMetric")
    if metric is None or metric.text("score") in (None, "NaN"):
        return None
    score = metric.child("score").own_number()
    return in_own_unit(column, score, metric.text("scoreUnit") or "", f"{metric.where}: jmh")


read_jmh = JsonFormat(
    tool="jmh",
    version="1.37",
    write="-rf json -rff FILE",
    rows=_rows,
    needs=("benchmark", "mode"),
    traps=(
        "JMH's score is a mean over forks and iterations; its error is that of a 99.9 % interval.",
    ),
)
