"""k6: finds out which of its result files it is given, and has it read."""

from __future__ import annotations

from pathlib import Path

from deadzone.errors import FormatError
from deadzone.store.imports.document import opened, parse_json, text_of
from deadzone.store.imports.k6_points import read_points_csv, read_points_json
from deadzone.store.imports.k6_summary import TOOL, read_summary
from deadzone.store.imports.result import Results


def read_k6(path: Path) -> Results:
    """Trials of k6: one from a summary (JSON), one a scenario from a stream of points (JSON lines or CSV, also .gz).

    Raises FormatError if the file is none of these, or damaged.
    """
    with opened(path) as file:
        first = file.readline(100_000)
        file.seek(0)
        if first.startswith("metric_name,"):
            return read_points_csv(file, path)
        if first.startswith("{") and ('"type":"Metric"' in first or '"type":"Point"' in first):
            return read_points_json(file, path)
    text = text_of(path)
    if not text.lstrip().startswith("{"):
        raise FormatError(
            f"{path}: is no result file of k6; what it prints on the screen cannot be read. Write one with "
            "--summary-export=FILE, --out json=FILE or --out csv=FILE."
        )
    return read_summary(parse_json(text, path, TOOL), path.name)
