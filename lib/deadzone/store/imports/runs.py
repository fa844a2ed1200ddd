"""The runs in a file of one tool: which are complete, and which levels stand in their names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deadzone.errors import FormatError
from deadzone.store.imports.columns import own_name
from deadzone.store.imports.plausible import Row
from deadzone.store.imports.result import Results

LEVEL = re.compile(r"[/ ,(\[]([A-Za-z_]\w*)[=:]([^/:,\s)\]]+)")


def levels_of(name: str | None, more: Mapping[str, Any] | None = None) -> Row:
    """Levels that stand in the name of a benchmark, and more of them: `Sort/n=100/threads:4` has n
    and threads."""
    levels = {**dict(LEVEL.findall(name or "")), **(more or {})}
    return {own_name(key): str(value) for key, value in levels.items() if value is not None}


def is_complete(row: Row, needs: Sequence[str]) -> bool:
    """Whether a run has what it needs, or the tool itself says that it failed."""
    return row.get("status") == "failed" or all(row.get(name) is not None for name in needs)


def results_of(
    runs: Sequence[tuple[str, Row]],
    path: Path,
    tool: str,
    needs: Sequence[str],
    warnings: Iterable[str],
    *,
    write: str,
) -> Results:
    """The results of the runs in a file, those that were cut off failed. runs: where each stands,
    and its row. needs: columns without which a row is no result. write: how the tool is asked
    for it.

    Raises FormatError where none is complete.
    """
    cut = {i: where for i, (where, row) in enumerate(runs) if not is_complete(row, needs)}
    if len(cut) == len(runs):
        raise FormatError(
            f"{path}: is no complete result of {tool}: it has no {needs[0]}. It was cut off, or is "
            f"another format; write it with `{write}`."
        )
    rows = [row for _, row in runs]
    return Results.read(path.name, tool, rows, warnings, (), cut)
