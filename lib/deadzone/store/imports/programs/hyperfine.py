"""hyperfine: `--export-json` (every run) and `--export-csv` (statistics of each command)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deadzone.store.imports.document import csv_table, reading, text_of
from deadzone.store.imports.formats import json_format
from deadzone.store.imports.result import Results

PARAMETER = "parameter_"
"""Begins the columns of parameters in the CSV."""

CSV_TRAP = (
    "hyperfine's CSV tells statistics of each command and not how many runs they rest on: wall_s "
    "is the median (of old releases the mean), user_s and sys_s are means. The JSON export has "
    "every run."
)


def _runs(document: Any) -> Iterator[dict[str, Any]]:
    """Each run of each command; a command whose runs are left out, as old releases did, itself."""
    for result in document["results"]:
        if result.get("times") is None:
            yield result
            continue
        treatment = {key: result.get(key) for key in ("command", "parameters", "parameter")}
        codes, sizes = (result.get(key) or [] for key in ("exit_codes", "memory_usage_byte"))
        for i, time in enumerate(result["times"]):
            code = codes[i] if i < len(codes) else 0
            yield {
                **treatment,
                "time": time,
                "memory": sizes[i] if i < len(sizes) else None,
                "run": {
                    "replicate": i + 1,
                    "exit_code": code if codes and isinstance(code, int) else None,
                    "status": "ok" if code == 0 else "failed",  # null stands for a signal
                },
            }


JSON = json_format("hyperfine", rows=_runs, more=lambda entry: entry.get("run") or {})


def read_hyperfine(path: Path) -> Results:
    """Trials of a hyperfine export: one a run from JSON, one a command from CSV, and from JSON
    without the times of the runs.

    The command and its parameters are factors. Raises FormatError if the file is none, or damaged.
    """
    text = text_of(path)
    if text.lstrip().startswith(("{", "[")):
        return JSON(path)
    rows, cut = [], list[int]()
    tool = f"{JSON.tool}, written with {JSON.write}"
    for line in csv_table(text, path, tool, ("command",), cut):
        cells = line.items()
        levels = {k.removeprefix(PARAMETER): v for k, v in cells if k.startswith(PARAMETER)}
        with reading(path, tool):
            rows.append(JSON.row({**line, "parameters": levels}, str(path)))
    return Results.read(path.name, JSON.tool, rows, (CSV_TRAP,), cut_lines=cut)
