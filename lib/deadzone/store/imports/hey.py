"""hey: `-o csv`, a line a request, summed up in one row a test."""

from array import array
from pathlib import Path

import numpy as np

from deadzone.errors import FormatError
from deadzone.store.imports.document import csv_rows, number_in, opened
from deadzone.store.imports.latency import CLOSED_LOOP, requests_row
from deadzone.store.imports.readers import READERS
from deadzone.store.imports.result import Results

TOOL = "hey"

NEEDED = ("response-time", "offset", "status-code")

ERROR_STATUS = 400
"""Status codes from here on are answers that refuse or fail."""


def read_hey(path: Path) -> Results:
    """One row of a hey result; the file is read line by line. Raises FormatError if it is none, or damaged."""
    flat = array("d")
    with opened(path) as file:
        for number, line in enumerate(csv_rows(file, path, TOOL, NEEDED), start=2):
            numbers = [number_in(line[name], path, f"{name} in line {number}") for name in NEEDED]
            if None in numbers:
                raise FormatError(f"{path}: line {number} lacks a value; was the file cut off?")
            flat.extend(numbers)  # type: ignore[arg-type]
    if not flat:
        raise FormatError(f"{path}: hey wrote a header and no request; no request got an answer.")
    took_s, sent_s, status = np.frombuffer(flat).reshape(-1, len(NEEDED)).T
    wall_s = float((sent_s + took_s).max(initial=0.0))
    row = requests_row(took_s * 1e3, wall_s, int((status >= ERROR_STATUS).sum()))
    traps = (*READERS[TOOL]["traps"], CLOSED_LOOP.format(tool=TOOL))
    return Results.read(path.name, TOOL, [row], traps)
