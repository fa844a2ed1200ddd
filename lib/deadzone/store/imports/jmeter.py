"""JMeter: a JTL as CSV, a line a sample, summed up in one row a label."""

from array import array
from collections import defaultdict
from pathlib import Path

import numpy as np

from deadzone.errors import FormatError
from deadzone.store.imports.document import csv_rows, number_in, opened
from deadzone.store.imports.latency import CLOSED_LOOP, requests_row
from deadzone.store.imports.readers import READERS
from deadzone.store.imports.result import Results

TOOL = "jmeter"

NUMBERS = ("timeStamp", "elapsed", "bytes")
"""When a sample began [ms since 1970], how long it took [ms], and the bytes received."""

READ = "JMeter, which writes it unless jmeter.save.saveservice.output_format is xml"


def read_jmeter(path: Path) -> Results:
    """One row a label; the file is read line by line. Raises FormatError if it is no JTL in CSV, or damaged."""
    labels: dict[str, array[float]] = defaultdict(lambda: array("d"))
    with opened(path) as file:
        for number, line in enumerate(csv_rows(file, path, READ, (*NUMBERS, "label", "success")), start=1):
            numbers = [number_in(line[name], path, f"{name} of sample {number}") for name in NUMBERS]
            if None in numbers:
                raise FormatError(f"{path}: sample {number} lacks a value; was the file cut off?")
            labels[line["label"]].extend([*map(float, numbers), line["success"] != "true"])  # type: ignore[arg-type]
    if not labels:
        raise FormatError(f"{path}: JMeter wrote a header and no sample.")
    rows = []
    for label, flat in labels.items():
        began, took, received, failed = np.frombuffer(flat).reshape(-1, 4).T
        wall_s = float((began + took).max() - began.min()) / 1e3
        measured = requests_row(took, wall_s, int(failed.sum()))
        rows.append({"benchmark": label, **measured, "transferred_bytes": int(received.sum())})
    traps = (*READERS[TOOL]["traps"], CLOSED_LOOP.format(tool="JMeter"))
    return Results.read(path.name, TOOL, rows, traps)
