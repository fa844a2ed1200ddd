"""hey: `-o csv`, a line a request, summed up in one row a test."""

from array import array
from pathlib import Path

import numpy as np

from deadzone.errors import FormatError
from deadzone.store.imports.document import csv_rows, number_in, opened
from deadzone.store.imports.latency import CLOSED_LOOP, requests_row
from deadzone.store.imports.result import Results, Row

TOOL = "hey"

NEEDED = ("response-time", "offset", "status-code")

ERROR_STATUS = 400
"""Status codes from here on are answers that refuse or fail."""

ROUNDED = "hey writes response times in steps of 0.1 ms."
NO_FAILURES = (
    "hey's CSV leaves out requests that got no answer, so errors counts only answers with an error status."
)


def read_hey(path: Path) -> Results:
    """One row of a hey result; the file is read line by line. Raises FormatError if it is none, or damaged."""
    times, ends = array("d"), 0.0
    errors = 0
    with opened(path) as file:
        for number, line in enumerate(csv_rows(file, path, TOOL, NEEDED), start=2):
            seconds, offset, status = (
                number_in(line[name], path, f"{name} in line {number}") for name in NEEDED
            )
            if seconds is None or offset is None or status is None:
                raise FormatError(f"{path}: line {number} lacks a value; was the file cut off?")
            times.append(seconds * 1e3)
            ends = max(ends, offset + seconds)
            errors += status >= ERROR_STATUS
    if not times:
        raise FormatError(f"{path}: hey wrote a header and no request; no request got an answer.")
    head = {"source": path.name, "tool": TOOL}
    row: Row = {**head, **requests_row(np.frombuffer(times), ends, int(errors))}
    return Results((row,), (ROUNDED, NO_FAILURES, CLOSED_LOOP.format(tool=TOOL)))
