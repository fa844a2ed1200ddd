"""hyperfine: `--export-json` (every run) and `--export-csv` (statistics of each command)."""

from collections.abc import Iterator
from pathlib import Path

from deadzone.store.imports.columns import own_name
from deadzone.store.imports.document import Node, csv_table, number_in, text_of
from deadzone.store.imports.json_format import JsonFormat
from deadzone.store.imports.result import Results, Row

TOOL = "hyperfine"

STATISTICS = {
    "median": "wall_s",
    "min": "wall_min_s",
    "max": "wall_max_s",
    "stddev": "wall_stddev_s",
    "user": "user_s",
    "system": "sys_s",
}
"""Of a command, and our columns; wall_s is the mean where an old release has no median."""

KEYS = (*STATISTICS, "mean")

PARAMETER = "parameter_"
"""Begins the columns of parameters in the CSV."""

CSV_TRAP = (
    "hyperfine's CSV tells statistics of each command and not how many runs they rest on: wall_s "
    "is the median (of old releases the mean), user_s and sys_s are means. The JSON export has "
    "every run."
)


def _rows(document: Node) -> Iterator[Row]:
    for result in document.child("results").items():
        named = result.entries("parameters") | {
            key: node for key, node in result.entries().items() if key == "parameter"
        }
        levels = {own_name(name): str(node.value) for name, node in named.items()}
        treatment = {**levels, "command": result.text("command")}
        if "times" not in result:
            yield {**treatment, **_statistics({key: result.number(key) for key in KEYS})}
            continue
        codes, sizes = (_listed(result, key) for key in ("exit_codes", "memory_usage_byte"))
        for i, time in enumerate(result.child("times").items()):
            is_killed = i < len(codes) and codes[i] is None  # hyperfine writes null for a signal
            yield {
                "replicate": i + 1,
                **treatment,
                "wall_s": time.own_number(),
                "max_rss_bytes": _whole(sizes, i),
                "exit_code": _whole(codes, i),
                "status": "failed" if is_killed or _whole(codes, i) else "ok",
            }


def _statistics(figures: dict[str, float | None]) -> Row:
    row = {ours: figures[theirs] for theirs, ours in STATISTICS.items()}
    return row if row["wall_s"] is not None else {**row, "wall_s": figures["mean"]}


def _listed(result: Node, key: str) -> list[object]:
    value = result.child(key).value if key in result else []
    return value if isinstance(value, list) else []


def _whole(values: list[object], i: int) -> int | None:
    """A whole number of a list beside the times, or None where there is none."""
    value = values[i] if i < len(values) else None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return value
    return None


JSON = JsonFormat(
    tool=TOOL,
    version="1.18",
    write="--export-json FILE",
    rows=_rows,
    needs=("wall_s",),
    traps=(
        "hyperfine tells user and system time as means of all runs only; they are not in the rows "
        "of single runs.",
    ),
)


def read_hyperfine(path: Path) -> Results:
    """Trials of a hyperfine export: one a run from JSON, one a command from CSV, and from JSON
    without the times of the runs.

    The command and its parameters are factors. Raises FormatError if the file is none, or damaged.
    """
    text = text_of(path)
    if text.lstrip().startswith(("{", "[")):
        return JSON(path)
    rows, cut = list[Row](), list[int]()
    for line in csv_table(text, path, f"{TOOL}, written with {JSON.write}", ("command",), cut):
        figures = {key: number_in(line.get(key, ""), path, key) for key in KEYS}
        levels = {
            own_name(name.removeprefix(PARAMETER)): level
            for name, level in line.items()
            if name.startswith(PARAMETER)
        }
        rows.append({**levels, "command": line["command"], **_statistics(figures)})
    return Results.read(path.name, TOOL, rows, (CSV_TRAP,), cut_lines=cut)
