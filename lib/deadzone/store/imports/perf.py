"""perf stat: its text, `-x SEPARATOR` and `-j`."""

import re
from pathlib import Path

from deadzone.errors import FormatError
from deadzone.store.imports.document import SIZES, number_in, text_of
from deadzone.store.imports.formats import flush, plain_lines
from deadzone.store.imports.result import Results, Row, own_name, results_of
from deadzone.study.quantity import plain

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
PRINTED = re.compile(r"(?m)^\s*Performance counter stats|seconds time elapsed")
"""Around counters that perf prints; without it any number before a word would be one."""

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
    forms = FORMS if PRINTED.search(text) else FORMS[:-1]
    for number, line in enumerate(text.splitlines(), 1):
        begins = COMMAND.fullmatch(line)
        match = next((match for form in forms if (match := form.fullmatch(line))), None)
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
