"""JMeter: a JTL as CSV, a line a sample, summed up in one row a label."""

from array import array
from collections import defaultdict
from math import isfinite, nan
from pathlib import Path

import numpy as np

from deadzone.errors import FormatError
from deadzone.store.imports.document import number_in
from deadzone.store.imports.result import CLOSED_LOOP, Results, Row, requests_row
from deadzone.store.imports.streams import requests_in

COLUMNS = ("timeStamp", "elapsed")
"""When a sample began [ms since 1970], and how long it took [ms]."""

WRITER = (
    "JMeter, which writes it unless jmeter.save.saveservice.output_format is xml or "
    "jmeter.save.saveservice.print_field_names is false"
)

TRAPS = (
    "JMeter writes times in whole milliseconds, and those of samples that failed are among them.",
    "Samples inside a transaction controller stand in its own row once more: rows do not add up.",
    CLOSED_LOOP.format(tool="JMeter"),
)


def read_jmeter(path: Path) -> Results:
    """One row a label; the file is read line by line. Raises FormatError if it is no JTL in CSV, or
    damaged."""
    labels: dict[str, array[float]] = defaultdict(lambda: array("d"))
    cut: list[int] = []
    for numbers, line in requests_in(path, WRITER, COLUMNS, ("label", "success"), cut):
        size = number_in(line.get("bytes", ""), path, "bytes of a request")
        is_failed = line["success"].lower() != "true"  # spreadsheets write TRUE
        labels[line["label"]].extend([*numbers, is_failed, nan if size is None else size])
    if not labels:
        raise FormatError(f"{path}: JMeter wrote a header and no sample.")
    rows: list[Row] = []
    for label, flat in labels.items():
        began, took, failed, received = np.frombuffer(flat).reshape(-1, 4).T
        wall_s = float((began + took).max() - began.min()) / 1e3
        row = requests_row(took, wall_s, int(failed.sum()))
        total = float(received.sum())  # not a number where one is missing
        rows.append({"benchmark": label, **row})
        rows[-1]["transferred_bytes"] = int(total) if isfinite(total) else None
    return Results.read(path.name, "jmeter", rows, TRAPS, cut_lines=cut)
