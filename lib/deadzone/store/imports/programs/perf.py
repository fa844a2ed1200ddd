"""perf stat: its text, `-x SEPARATOR` and `-j`, one row a run; counters that are not supported or
not counted are left out."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from deadzone.errors import FormatError
from deadzone.store.imports.columns import own_name
from deadzone.store.imports.document import quoted, text_of
from deadzone.store.imports.result import Results, Row
from deadzone.store.imports.text_runs import flush, plain_lines
from deadzone.store.imports.units import SIZES
from deadzone.study.numerals import plain

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
SEPARATED = re.compile(
    rf"{VALUE}(?P<mark>[^\w.<>\s]|\t)(?P<unit>(?!\d)\w*)(?P=mark){EVENT}(?P=mark)"
)
PRINTED = re.compile(
    rf"{VALUE}\s+(?:(?P<unit>{'|'.join(UNITS)})\s+)?{EVENT}"
    r"\s*(?:\((?P<behind>msec)\))?\s*(?:#.*|\(.*)?"
)
SECONDS = re.compile(rf"{VALUE}\s+(?:\+-.*)?seconds (?P<event>time elapsed|user|sys)\b.*")
ELAPSED = {"time elapsed": "wall_s", "user": "user_s", "sys": "sys_s"}
COMMAND = re.compile(r"Performance counter stats for '?(.*?)'?(?: \(\d+ runs\))?:\s*")
REFUSED = {
    r'"interval"\s*:|^#\s+time\s+counts': "intervals (perf stat -I); write it without -I",
    r'^\{"(?:cpu|socket|die|core|node|thread|cache|cluster)"\s*:|^(?:CPU\d+|S\d+(?:-[DC]\d+)*)\b':
        "counters of each CPU, core, socket or thread; write it without -A and --per-...",
}  # fmt: skip
FIGURE = re.compile(r"\d[\d.,]*\s+\S.*")


def read_perf(path: Path) -> Results:
    """One row a run of perf stat. Raises FormatError if the file is none of its three forms."""
    text = flush(plain_lines(text_of(path)))
    for pattern, what in REFUSED.items():
        if re.search(pattern, text, re.MULTILINE):
            raise FormatError(f"{path}: holds {what}.")
    rows: list[Row] = []
    lines: list[int] = []
    left: dict[str, None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        figures = list(_figures(line, path))
        if not figures and FIGURE.fullmatch(line):
            left[line] = None
        for name, value in figures:
            if name == "command" or not rows or name in rows[-1]:
                rows.append({})
                lines.append(number)
            rows[-1][name] = value
    is_timed = any("wall_s" in row for row in rows)
    cut = {
        i: f"line {lines[i]}"
        for i, row in enumerate(rows)
        if not set(row) - {"command"} or (is_timed and "wall_s" not in row)
    }
    if len(cut) == len(rows):
        raise FormatError(
            f"{path}: is no output of perf stat with a counter in it; write it with perf stat -j, "
            "-x, or as text with -o FILE."
        )
    remarks = (f"Not read: {', '.join(map(quoted, left))}.",) if left else ()
    return Results.read(path.name, "perf-stat", rows, TRAPS, remarks, cut)


def _figures(line: str, path: Path) -> Iterator[tuple[str, object]]:
    """Names and values of columns in a line."""
    if begins := COMMAND.fullmatch(line):
        yield "command", begins[1]
    elif line.startswith("{"):
        if entry := _entry(line, path):
            yield from _counter(entry["event"], entry["counter-value"], entry["unit"], path)
    elif match := SECONDS.fullmatch(line):
        yield ELAPSED[match["event"]], _number(match["value"], path)
    elif match := SEPARATED.match(line) or PRINTED.fullmatch(line):
        unit = match["unit"] or match.groupdict().get("behind") or ""
        yield from _counter(match["event"], match["value"], unit, path)


def _entry(line: str, path: Path) -> dict[str, str] | None:
    """A line of JSON; None for one of a metric alone."""
    try:
        document = json.loads(line)
        if "metric-value" in document and "event" not in document:
            return None
        return {key: str(document[key]) for key in ("event", "counter-value", "unit")}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(
            f"{path}: is no complete JSON of perf stat: {quoted(line)}; was it cut off?"
        ) from error


def _counter(event: str, value: str, unit: str, path: Path) -> Iterator[tuple[str, object]]:
    if value.startswith("<"):
        return
    number = _number(value, path)
    name = own_name(re.sub(r":[a-zA-Z]+$", "", event))
    if unit in UNITS:
        ending, size = UNITS[unit]
        yield f"{name}{ending}", float(f"{number * size:.15g}")
    else:
        thousands = re.fullmatch(r"\d{1,3}(\.\d{3})+", value)  # in German
        number = float(value.replace(".", "")) if thousands else number
        yield name, int(number) if number.is_integer() else number


def _number(value: str, path: Path) -> float:
    try:
        return float(plain(value))
    except ValueError as error:
        raise FormatError(f"{path}: {quoted(value)} is no number of perf stat.") from error
