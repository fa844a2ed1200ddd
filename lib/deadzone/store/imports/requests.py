"""Tools that write a line a request: hey (`-o csv`), summed up in one row a test, and JMeter (a JTL
as CSV), in one a label."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from deadzone.errors import FormatError
from deadzone.store.imports.document import csv_rows, number_in, opened
from deadzone.store.imports.result import CLOSED_LOOP, READERS, Results, Row, requests_row

HEY = ("response-time", "offset", "status-code")

ERROR_STATUS = 400
"""Status codes from here on are answers that refuse or fail."""

JMETER = ("timeStamp", "elapsed", "bytes")
"""When a sample began [ms since 1970], how long it took [ms], and the bytes received."""

WRITER = "JMeter, which writes it unless jmeter.save.saveservice.output_format is xml"


def read_hey(path: Path) -> Results:
    """One row of a hey result; the file is read line by line. Raises FormatError if it is none, or
    damaged."""
    flat = array("d")
    for numbers, _ in _requests(path, "hey", HEY, (), "line", 2):
        flat.extend(numbers)
    if not flat:
        raise FormatError(f"{path}: hey wrote a header and no request; no request got an answer.")
    took_s, sent_s, status = np.frombuffer(flat).reshape(-1, len(HEY)).T
    wall_s = float((sent_s + took_s).max(initial=0.0))
    row = requests_row(took_s * 1e3, wall_s, int((status >= ERROR_STATUS).sum()))
    return _results(path, "hey", "hey", [row])


def read_jmeter(path: Path) -> Results:
    """One row a label; the file is read line by line. Raises FormatError if it is no JTL in CSV, or
    damaged."""
    labels: dict[str, array[float]] = defaultdict(lambda: array("d"))
    for numbers, line in _requests(path, WRITER, JMETER, ("label", "success"), "sample", 1):
        labels[line["label"]].extend([*numbers, line["success"] != "true"])
    if not labels:
        raise FormatError(f"{path}: JMeter wrote a header and no sample.")
    rows = []
    for label, flat in labels.items():
        began, took, received, failed = np.frombuffer(flat).reshape(-1, 4).T
        wall_s = float((began + took).max() - began.min()) / 1e3
        measured = requests_row(took, wall_s, int(failed.sum()))
        rows.append({"benchmark": label, **measured, "transferred_bytes": int(received.sum())})
    return _results(path, "jmeter", "JMeter", rows)


def _requests(
    path: Path, writer: str, names: Sequence[str], more: Sequence[str], called: str, first: int
) -> Iterator[tuple[list[float], dict[str, str]]]:
    """The numbers of each request, and its line. called, first: what a line is called, and the
    number of the first."""
    with opened(path) as file:
        for position, line in enumerate(csv_rows(file, path, writer, (*names, *more)), start=first):
            found = [
                number_in(line[name], path, f"{name} of {called} {position}") for name in names
            ]
            numbers = [number for number in found if number is not None]
            if len(numbers) < len(names):
                raise FormatError(
                    f"{path}: {called} {position} lacks a value; was the file cut off?"
                )
            yield numbers, line


def _results(path: Path, tool: str, name: str, rows: Sequence[Row]) -> Results:
    traps = (*READERS[tool]["traps"], CLOSED_LOOP.format(tool=name))
    return Results.read(path.name, tool, rows, traps)
