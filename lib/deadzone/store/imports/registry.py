"""The formats that can be imported, by the name of their tool. A new one is a table in
formats.toml, or a module, and a line here.

A program of a known format may also be read in a trial: what it printed, as responses.

perf stat: its text, `-x SEPARATOR` and `-j`.

Tools that write a line a request, which are read one by one and summed up: hey's `-o csv` and
JMeter's JTL as CSV.
"""

import json
import re
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import isfinite, nan
from pathlib import Path
from statistics import median

import numpy as np

from deadzone import packs
from deadzone.errors import FormatError, check_known
from deadzone.store.imports.document import SIZES, csv_rows, number_in, opened, text_of
from deadzone.store.imports.formats import described, flush, plain_lines
from deadzone.store.imports.result import (
    CLOSED_LOOP,
    FIRST,
    MEASURED,
    NO_EVENT,
    Reader,
    Results,
    Row,
    own_name,
    requests_row,
    results_of,
)
from deadzone.store.table import IDENTITY, SHARED
from deadzone.study.quantity import plain

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
    "Samples inside a transaction controller stand in its own row once more: rows do not add up.",
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


TRAPS = (
    "Counters that perf says are not supported or not counted are left out; with many events each "
    "is counted part of the time and scaled up (pcnt-running).",
)

UNITS = {"msec": ("_s", 1e-3), "ns": ("_s", 1e-9), "Joules": ("_joules", 1.0)} | {
    unit: ("_bytes", float(size)) for unit, size in SIZES.items() if unit.endswith("B")
}
"""What a unit adds to the name of a column, and how many of the column's it is."""

COLUMNS = (
    *("task_clock_s", "context_switches", "cpu_migrations", "page_faults", "cycles"),
    *("instructions", "branches", "branch_misses", "cache_references", "cache_misses"),
)
"""What a trial may take from it; other events have a column in a table too."""

VALUE = r"(?P<value>\d{1,3}(?: \d{3})+|\d[\d.,\u00a0\u202f]*|<not \w+>)"
EVENT = r"(?P<event>[A-Za-z][\w.:/=-]*?)"
JSON = (
    r'\{"counter-value"\s*:\s*"(?P<value>[^"]*)"\s*,\s*"unit"\s*:\s*"(?P<unit>[^"]*)"\s*,\s*'
    r'"event"\s*:\s*"(?P<event>[^"]*)".*\}$'
)
FORMS = [
    re.compile(pattern)
    for pattern in (
        JSON,
        rf"{VALUE}\s+(?:\+-.*)?seconds (?P<event>time elapsed|user|sys)\b.*",
        rf"{VALUE}(?P<mark>[^\w.<>\s]|\t)(?P<unit>(?!\d)\w*)(?P=mark){EVENT}(?P=mark).*",
        rf"{VALUE}\s+(?:(?P<unit>{'|'.join(UNITS)})\s+)?{EVENT}"
        r"\s*(?:\((?P<behind>msec)\))?\s*(?:#.*|\(.*)?",
    )
]
"""A line with a counter: of JSON, of what the run took, between separators, printed."""

ELAPSED = {"time elapsed": "wall_s", "user": "user_s", "sys": "sys_s"}
COMMAND = re.compile(r"Performance counter stats for '?(.*?)'?(?: \(\d+ runs\))?:\s*")
REFUSED = {
    r'"interval"\s*:|^#\s+time\s+counts': "holds intervals (perf stat -I); write it without -I.",
    r'^\{"(?:cpu|socket|die|core|node|thread|cache|cluster)"\s*:|^(?:CPU\d+|S\d+(?:-[DC]\d+)*)\b':
        "holds counters of each CPU, core, socket or thread; write it without -A and --per-....",
    rf'^(?=\{{)(?!\{{"metric-value")(?!{JSON})':
        "is no complete JSON of perf stat; was it cut off?",
}  # fmt: skip


def read_perf(path: Path) -> Results:
    """One row a run, of its text, `-x SEPARATOR` or `-j`; counters that are not supported or not
    counted are left out. Raises FormatError if the file is none of its three forms."""
    text = flush(plain_lines(text_of(path)))
    for pattern, what in REFUSED.items():
        if re.search(pattern, text, re.MULTILINE):
            raise FormatError(f"{path}: {what}")
    runs: list[tuple[str, Row]] = []
    for number, line in enumerate(text.splitlines(), 1):
        begins = COMMAND.fullmatch(line)
        match = next((match for form in FORMS if (match := form.fullmatch(line))), None)
        counter = {"command": begins[1]} if begins else match and _counter(match, path)
        if counter and (begins or not runs or counter.keys() & runs[-1][1].keys()):
            runs.append((f"line {number}", {}))
        if counter:
            runs[-1][1].update(counter)
    named = set().union(*(row for _, row in runs))
    needs = ("wall_s",) if "wall_s" in named or named <= {"command"} else ()
    write = "perf stat -j, -x, or as text with -o FILE"
    return results_of(runs, path, "perf-stat", needs, TRAPS, write=write)


def _counter(match: re.Match[str], path: Path) -> Row:
    """The column of a counter; none of one that was not counted."""
    groups = {name: group or "" for name, group in match.groupdict().items()}
    value, event = groups["value"], groups["event"]
    if value.startswith("<"):
        return {}
    number = number_in(plain(value), path, event) or 0.0
    if event in ELAPSED:
        return {ELAPSED[event]: number}
    name = own_name(re.sub(r":[a-zA-Z]+$", "", event))
    if unit := UNITS.get(groups.get("unit") or groups.get("behind", "")):
        ending, size = unit
        return {f"{name}{ending}": float(f"{number * size:.15g}")}
    if re.fullmatch(r"\d{1,3}(\.\d{3})+", value):  # thousands in German
        number = float(value.replace(".", ""))
    return {name: int(number) if number.is_integer() else number}


FORMATS: dict[str, Reader] = {
    **described(),
    "hey": read_hey,
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
        raise FormatError(f"{error}{recognised(path)}") from error


MOST_LOOKED_AT = 5_000_000
"""Bytes of a file that is tried with every reader."""


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
        return f" It is a result of {tool}: `deadzone import {tool} {path} -o table.csv`."
    with suppress(ValueError, RecursionError, AttributeError):
        for name, value in json.loads(path.read_bytes()).items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                return f" Its {name} looks like rows: `jq .{name} {path} | deadzone fit - ...`."
        return f" Where each file is a trial: `jq -c . {path.parent}/*.json | deadzone fit - ...`."
    return ""


_MEASURED_SOMEWHERE = dict.fromkeys((*MEASURED, *COLUMNS))
RESPONSES = tuple(name for name in _MEASURED_SOMEWHERE if name not in (*IDENTITY, *SHARED, *FIRST))
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
