"""Tools that write a line a request, which are read one by one and summed up: hey's `-o csv` and
JMeter's JTL as CSV."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import isfinite, nan
from pathlib import Path

import numpy as np

from deadzone.errors import FormatError
from deadzone.store.imports.document import csv_rows, number_in, opened
from deadzone.store.imports.result import CLOSED_LOOP, Results, Row, requests_row

OF_HEY = ("response-time", "offset", "status-code")

ERROR_STATUS = 400
"""Status codes from here on are answers that refuse or fail."""

TRAPS_OF_HEY = (
    "hey writes response times in steps of 0.1 ms.",
    "hey's CSV leaves out requests that got no answer, so errors counts only answers with an error "
    "status.",
    CLOSED_LOOP.format(tool="hey"),
)

OF_JMETER = ("timeStamp", "elapsed")
"""When a sample began [ms since 1970], and how long it took [ms]."""

WRITER = (
    "JMeter, which writes it unless jmeter.save.saveservice.output_format is xml or "
    "jmeter.save.saveservice.print_field_names is false"
)

TRAPS_OF_JMETER = (
    "JMeter writes times in whole milliseconds, and those of samples that failed are among them.",
    "Samples inside a transaction controller are repeated in its own row: rows do not add up.",
    CLOSED_LOOP.format(tool="JMeter"),
)


def read_hey(path: Path) -> Results:
    """A line a request, summed up in one row a test (`-o csv`). Raises FormatError if the file is
    none of hey, or damaged."""
    flat, cut = array("d"), list[int]()
    for numbers, _ in _requests_in(path, "hey", OF_HEY, (), cut):
        flat.extend(numbers)
    if not flat:
        raise FormatError(f"{path}: hey wrote a header and no request; no request got an answer.")
    took_s, sent_s, status = np.frombuffer(flat).reshape(-1, len(OF_HEY)).T
    wall_s = float((sent_s + took_s).max(initial=0.0))
    row = requests_row(took_s * 1e3, wall_s, int((status >= ERROR_STATUS).sum()))
    return Results.read(path.name, "hey", [row], TRAPS_OF_HEY, cut_lines=cut)


def read_jmeter(path: Path) -> Results:
    """A line a sample of a JTL as CSV, summed up in one row a label. Raises FormatError if the file
    is no JTL in CSV, or damaged."""
    labels: dict[str, array[float]] = defaultdict(lambda: array("d"))
    cut: list[int] = []
    for numbers, line in _requests_in(path, WRITER, OF_JMETER, ("label", "success"), cut):
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
        size = int(total) if isfinite(total) else None
        rows.append({"benchmark": label, **row, "transferred_bytes": size})
    return Results.read(path.name, "jmeter", rows, TRAPS_OF_JMETER, cut_lines=cut)


def _requests_in(
    path: Path, tool: str, numbers: Sequence[str], texts: Sequence[str], cut: list[int]
) -> Iterator[tuple[list[float], dict[str, str]]]:
    """The numbers of each request, and its line. numbers, texts: columns that the file must have.
    cut: gets the lines that are incomplete, which are left out.

    Raises FormatError if the file is none of the tool, or a line is damaged.
    """
    with opened(path) as file:
        for line in csv_rows(file, path, tool, (*numbers, *texts), cut):
            cells = {name: number_in(line[name], path, f"{name} of a request") for name in numbers}
            missing = [name for name, cell in cells.items() if cell is None]
            if missing:
                said = ",".join(line.values())
                raise FormatError(f"{path}: a request lacks its {missing[0]}: {said!r}.")
            yield [cell for cell in cells.values() if cell is not None], line
