"""perf stat: its text, `-x SEPARATOR` and `-j`, one row a run; counters that are not supported or
not counted are left out."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from deadzone.errors import FormatError
from deadzone.store.imports.document import quoted, text_of
from deadzone.store.imports.result import Results, Row, own_name
from deadzone.study.numerals import plain

TRAPS = (
    "Counters that perf says are not supported or not counted are left out; with many events each "
    "is counted part of the time and scaled up (pcnt-running).",
)

TIMES_S = {"msec": 1e-3, "ns": 1e-9}

COLUMNS = (
    *("task_clock_s", "context_switches", "cpu_migrations", "page_faults", "cycles"),
    *("instructions", "branches", "branch_misses", "cache_references", "cache_misses"),
)
"""What a trial may take from it; other events have a column in a table too."""

VALUE = r"(?P<value>\d[\d.,\u00a0\u202f]*|<not \w+>)"
SEPARATED = re.compile(
    rf"{VALUE}(?P<mark>[^\w.<>\s]|\t)(?P<unit>\w*)(?P=mark)(?P<event>[\w.:/=-]+?)(?P=mark)"
)
PRINTED = re.compile(
    rf"\s*{VALUE}\s+(?:(?P<unit>msec|ns)\s+)?(?P<event>[\w.:/=-]+)\s*(?:#.*|\(.*)?"
)
SECONDS = re.compile(rf"\s*{VALUE}\s+seconds (?P<event>time elapsed|user|sys)\b.*")
ELAPSED = {"time elapsed": "wall_s", "user": "user_s", "sys": "sys_s"}
COMMAND = re.compile(r"\s*Performance counter stats for '?(.*?)'?(?: \(\d+ runs\))?:\s*")
INTERVALS = re.compile(r'"interval"\s*:|^#\s+time\s+counts', re.MULTILINE)


def read_perf(path: Path) -> Results:
    """One row a run of perf stat. Raises FormatError if the file is none of its three forms."""
    text = text_of(path)
    if INTERVALS.search(text):
        raise FormatError(f"{path}: holds intervals (perf stat -I); write it without -I.")
    rows: list[Row] = []
    for name, value in _told(text, path):
        if name == "command" or not rows or name in rows[-1]:
            rows.append({})
        rows[-1][name] = value
    rows = [row for row in rows if set(row) - {"command"}]
    if not rows:
        raise FormatError(
            f"{path}: is no output of perf stat with a counter in it; write it with perf stat -j, "
            "-x, or as text with -o FILE."
        )
    return Results.read(path.name, "perf-stat", rows, TRAPS)


def _told(text: str, path: Path) -> Iterator[tuple[str, object]]:
    """Names and values of columns, in the order of the lines."""
    for line in text.splitlines():
        if begins := COMMAND.fullmatch(line):
            yield "command", begins[1]
        elif line.startswith("{"):
            told = _entry(line, path)
            yield from _counter(told["event"], told["counter-value"], told.get("unit", ""), path)
        elif found := SECONDS.fullmatch(line):
            yield ELAPSED[found["event"]], _number(found["value"], path)
        elif found := SEPARATED.match(line) or PRINTED.fullmatch(line):
            yield from _counter(found["event"], found["value"], found["unit"] or "", path)


def _entry(line: str, path: Path) -> dict[str, str]:
    try:
        document = json.loads(line)
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
    if unit in TIMES_S:
        yield f"{name}_s", float(f"{number * TIMES_S[unit]:.15g}")
    else:
        thousands = re.fullmatch(r"\d{1,3}(\.\d{3})+", value)  # in German
        number = float(value.replace(".", "")) if thousands else number
        yield name, int(number) if number.is_integer() else number


def _number(value: str, path: Path) -> float:
    try:
        return float(plain(value))
    except ValueError as error:
        raise FormatError(f"{path}: {quoted(value)} is no number of perf stat.") from error
