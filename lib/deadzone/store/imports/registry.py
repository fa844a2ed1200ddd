"""The formats that can be imported, by the name of their tool. A new one is a table in
formats.toml, or a module, and a line here.

A program of a known format may also be read in a trial: what it printed, as responses.
"""

import json
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from deadzone import packs
from deadzone.errors import FormatError, check_known
from deadzone.store.imports.formats import described
from deadzone.store.imports.perf import COLUMNS as PERF_COLUMNS
from deadzone.store.imports.perf import read_perf
from deadzone.store.imports.requests import read_hey, read_jmeter
from deadzone.store.imports.result import FIRST, MEASURED, NO_EVENT, Reader, Results
from deadzone.store.table import IDENTITY, SHARED
from deadzone.store.text_form import other_than

DESCRIBED = described()


def _of_hey(path: Path) -> Results:
    """What hey prints; and with `-o csv` a line a request, summed up in one row a test."""
    try:
        return read_hey(path)
    except FormatError as error:
        with suppress(FormatError):
            return DESCRIBED["hey"](path)
        raise error


FORMATS: dict[str, Reader] = {
    **DESCRIBED,
    "hey": _of_hey,
    "jmeter": read_jmeter,
    "perf-stat": read_perf,
    **{tool: packs.load(place) for tool, place in packs.brought("importers").items()},
}


def reader_of(name: str) -> Reader:
    """The reader of a format. Raises FormatError, with the nearest name, if there is none."""
    check_known(FormatError, f"There is no format {name!r}", name, FORMATS, "Formats are")
    return FORMATS[name]


def read_result(form: str, path: Path) -> Results:
    """The results in a file. Raises FormatError, with the format that it may be of instead."""
    reader = reader_of(form)
    try:
        return reader(path)
    except FormatError as error:
        way = recognised(path)
        is_on_screen = way.startswith(f" {form} printed it")
        raise FormatError(f"{path}:{way}" if is_on_screen else f"{error}{way}") from error


MOST_LOOKED_AT = 5_000_000
"""Bytes of a file that is tried with every reader."""


ON_SCREEN = {
    "google-benchmark": r"(?m)^Benchmark\s+Time\s+CPU\s+Iterations",
    "pytest-benchmark": r"(?m)^Name \(time in ",
}
"""Head lines of what tools print that are read as JSON alone."""


def format_of(path: Path) -> str:
    """The format of a result file, empty where no reader takes it."""
    for tool, reader in FORMATS.items():
        with suppress(FormatError):
            reader(path)
            return tool
    return ""


def recognised(path: Path) -> str:
    """What to type for a file that is no table, with a leading space: how it is imported, or the
    list in it that looks like rows; else nothing."""
    if not path.is_file() or path.stat().st_size > MOST_LOOKED_AT:
        return ""
    if tool := format_of(path):
        name = shlex.quote(str(path))
        return f" It is a result of {tool}: `deadzone import {tool} {name} -o {other_than(path)}`."
    text = path.read_text("utf-8", errors="replace")
    if tool := next((tool for tool, head in ON_SCREEN.items() if re.search(head, text)), ""):
        write = getattr(FORMATS[tool], "write", "").split(", ")[0]
        return f" {tool} printed it, of which JSON is read: run it again with `{write}`."
    with suppress(ValueError, RecursionError, AttributeError):
        if rows := _rows_in(json.loads(path.read_bytes())):
            named, keys = [*map(str, rows)], "".join(f"[{json.dumps(key)}]" for key in rows)
            place = "." + (".".join(named) if all(map(str.isidentifier, named)) else keys)
            asked = f"jq {shlex.quote(place)} {shlex.quote(str(path))}"
            return f" Its {'.'.join(named)} looks like rows: `{asked} | deadzone fit - ...`."
        is_piped = path.parent == Path(tempfile.gettempdir())
        folder = "folder" if is_piped else shlex.quote(str(path.parent))
        return f" Where each file is a trial: `jq -c . {folder}/*.json | deadzone fit - ...`."
    return ""


def _rows_in(document: Mapping[str, Any]) -> list[str | int]:
    """The keys to the first list of several records in a document, else to the first of one; empty
    without any."""
    places = [*_lists_in(document)]
    return next((keys for keys, n in places if n > 1), places[0][0] if places else [])


def _lists_in(document: Mapping[str, Any]) -> Iterator[tuple[list[str | int], int]]:
    """The keys to each list of records in a document, and their number; what is in the only record
    of a list comes before it."""
    for name, value in document.items():
        if isinstance(value, dict):
            yield from (([name, *keys], n) for keys, n in _lists_in(value))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            if len(value) == 1:
                yield from (([name, 0, *keys], n) for keys, n in _lists_in(value[0]))
            yield [name], len(value)


RESPONSES = tuple(
    name
    for name in dict.fromkeys((*MEASURED, *PERF_COLUMNS))
    if name not in (*IDENTITY, *SHARED, *FIRST)
)
"""What may be a response: whatever a format measures and a trial does not measure itself."""


def printed_by(program: str, text: str) -> dict[str, float]:
    """The numbers in what a program printed; repeats of one benchmark as their median.

    Raises FormatError if the text is no result of it, or holds results of several benchmarks.
    """
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        try:
            results = reader_of(program)(Path(file.name))
        except FormatError as error:
            raise FormatError(str(error).replace(file.name, "what the program printed")) from error
    rows = results.rows
    if results.is_partly_read:
        raise FormatError(f"The output of {program} was cut off: {results.remarks[0]}")
    if failed := next((row for row in rows if row.get("error") == NO_EVENT), None):
        raise FormatError(f"The output of {program} holds {failed['error']}.")
    labels = {tuple(str(row[key]) for key in row if isinstance(row[key], str)) for row in rows}
    if len(labels) > 1:
        raise FormatError(
            f"The output of {program} holds {len(labels)} results, and a trial is one: let it run "
            "one benchmark."
        )
    return {
        name: float(median(values))
        for name in RESPONSES
        if (values := [row[name] for row in rows if isinstance(row.get(name), int | float)])
    }
