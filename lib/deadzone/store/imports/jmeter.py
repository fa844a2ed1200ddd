"""JMeter's JTL as CSV: a line a sample, summed up in one row a label."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from deadzone.store.imports.document import csv_rows, number_in, opened
from deadzone.store.imports.latency import CLOSED_LOOP, latency_columns
from deadzone.store.imports.result import Results

TOOL = "JMeter"

NEEDED = ("timeStamp", "elapsed", "label", "success")

WHOLE_MS = "JMeter counts whole milliseconds: faster answers are 0 or 1 ms."


def read_jmeter(path: Path) -> Results:
    """Rows of a JTL, one a label; the file is read line by line. Raises FormatError if it is none, or damaged."""
    samples: dict[str, list[tuple[float, float, bool]]] = defaultdict(list)
    with opened(path) as file:
        for line in csv_rows(file, path, TOOL, NEEDED):
            start, elapsed = (number_in(line[name], path, name) or 0.0 for name in NEEDED[:2])
            samples[line["label"]].append((start, elapsed, line["success"].lower() == "true"))
    rows = []
    for label, told in samples.items():
        began, took, success = (np.array(part, dtype=float) for part in zip(*told, strict=True))
        wall_s = float((began + took).max() - began.min()) / 1e3
        rows.append(
            {
                "source": path.name,
                "tool": TOOL,
                "label": label,
                "wall_s": wall_s,
                "requests": len(took),
                "achieved_rate": len(took) / wall_s if wall_s else None,
                **latency_columns(took),
                "errors": int((success == 0).sum()),
            }
        )
    return Results(tuple(rows), (WHOLE_MS, CLOSED_LOOP.format(tool=TOOL)))
