"""hey: `-o csv`, a line a request, summed up in one row a test."""

from array import array
from pathlib import Path

import numpy as np

from deadzone.errors import FormatError
from deadzone.store.imports.result import CLOSED_LOOP, Results, requests_row
from deadzone.store.imports.streams import requests_in

COLUMNS = ("response-time", "offset", "status-code")

ERROR_STATUS = 400
"""Status codes from here on are answers that refuse or fail."""

TRAPS = (
    "hey writes response times in steps of 0.1 ms.",
    "hey's CSV leaves out requests that got no answer, so errors counts only answers with an error "
    "status.",
    CLOSED_LOOP.format(tool="hey"),
)


def read_hey(path: Path) -> Results:
    """One row of a hey result; the file is read line by line. Raises FormatError if it is none, or
    damaged."""
    flat, cut = array("d"), list[int]()
    for numbers, _ in requests_in(path, "hey", COLUMNS, (), cut):
        flat.extend(numbers)
    if not flat:
        raise FormatError(f"{path}: hey wrote a header and no request; no request got an answer.")
    took_s, sent_s, status = np.frombuffer(flat).reshape(-1, len(COLUMNS)).T
    wall_s = float((sent_s + took_s).max(initial=0.0))
    row = requests_row(took_s * 1e3, wall_s, int((status >= ERROR_STATUS).sum()))
    return Results.read(path.name, "hey", [row], TRAPS, cut_lines=cut)
