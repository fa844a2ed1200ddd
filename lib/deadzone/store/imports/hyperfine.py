"""hyperfine: `--export-json` (every run) and `--export-csv` (statistics of each command)."""

from pathlib import Path

from deadzone.store.imports.document import Node, csv_table, number_in, parse_json, text_of
from deadzone.store.imports.result import READERS, Results, Row, own_name

TOOL = "hyperfine"

TOLD = READERS[TOOL]

PARAMETER = "parameter_"
"""Begins the columns of parameters in the CSV."""


def read_hyperfine(path: Path) -> Results:
    """Trials of a hyperfine export: one a run from JSON, one a command from CSV.

    The command and its parameters are factors. Raises FormatError if the file is none, or damaged.
    """
    text = text_of(path)
    return _from_json(text, path) if text.lstrip().startswith(("{", "[")) else _from_csv(text, path)


def _from_json(text: str, path: Path) -> Results:
    results = parse_json(text, path, TOOL).child("results").items()
    rows = [row for result in results for row in _runs(result)]
    return Results.read(path.name, TOOL, rows, TOLD["json"])


def _runs(result: Node) -> list[Row]:
    named = result.entries("parameters")
    treatment: Row = {own_name(name): str(node.value) for name, node in named.items()}
    treatment["command"] = result.text("command")
    times = [node.own_number() for node in result.child("times").items()]
    codes = result.child("exit_codes").value if "exit_codes" in result else []
    sizes = result.child("memory_usage_byte").value if "memory_usage_byte" in result else []
    return [
        {
            "replicate": i + 1,
            **treatment,
            "wall_s": time,
            "max_rss_bytes": _at(sizes, i),
            "exit_code": _at(codes, i),
            "status": "failed" if _at(codes, i) or _was_killed(codes, i) else "ok",
        }
        for i, time in enumerate(times)
    ]


def _at(values: object, i: int) -> int | None:
    """A whole number of a list beside the times, or None where there is none."""
    value = values[i] if isinstance(values, list) and i < len(values) else None
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
        else None
    )


def _was_killed(codes: object, i: int) -> bool:
    """hyperfine writes null for a program that a signal ended."""
    return isinstance(codes, list) and i < len(codes) and codes[i] is None


def _from_csv(text: str, path: Path) -> Results:
    columns: dict[str, str] = TOLD["columns"]
    rows = []
    for line in csv_table(text, path, TOOL, ("command", *columns)):
        measured = {ours: number_in(line[theirs], path, theirs) for theirs, ours in columns.items()}
        levels = {
            own_name(name.removeprefix(PARAMETER)): level
            for name, level in line.items()
            if name.startswith(PARAMETER)
        }
        rows.append({**levels, "command": line["command"], **measured})
    return Results.read(path.name, TOOL, rows, TOLD["csv"])
