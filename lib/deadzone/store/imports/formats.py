"""The formats that the table formats.toml describes: what tools print, and what they write as JSON,
one document or several, each with one result or a list of them."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import jmespath

from deadzone.errors import FormatError
from deadzone.store.imports.document import (
    SIZES,
    documents,
    figure,
    in_own_unit,
    number_in,
    quoted,
    reading,
    text_of,
)
from deadzone.store.imports.result import (
    CLOSED_LOOP,
    Results,
    Row,
    is_complete,
    levels_of,
    own_name,
    results_of,
)
from deadzone.study.levels import is_number
from deadzone.study.quantity import on_clock, plain

FIGURE = re.compile(r"^[ \t]*([A-Za-z][\w ()/.%-]*?)[ \t]*[:=][ \t]*[-+]?\d", re.MULTILINE)
"""A line that looks like one figure of a result, such as `latency stddev = 2.3 ms`."""

MARK = re.compile(r"[=#$*+>\[-]+\s*[^\s=#$*+>\[-].*")
"""A line that is set apart: `=== RUN 1 ===`, `# web-01`, `$ pgbench -c 10`."""

CHATTER = re.compile(
    r"starting vacuum|vacuuming|PASS|FAIL|ok\s|exit status|Found \d+ outliers|Benchmarking |Warning"
    r"|\d+ \(\d+\.\d+%\)|No change in|Change within|Performance has|Gnuplot|Compiling |Finished "
)
"""Beginnings of lines that tools print themselves between their results."""

LONGEST_NAME = 60
"""Characters of an unmarked line that may name a run, such as that of a host."""

ON_SCREEN = re.compile(r"\x1b\[[\d;]*m|^.*\r(?=.*\S)|\r+$", re.MULTILINE)
"""Colours, and what was on the screen before its line was written over."""

MARGIN = re.compile(r"^[ \t]+", re.MULTILINE)
"""Of a text that was copied into a page."""

WARM_UP = re.compile(r"warm.?(?:up|ing)", re.IGNORECASE)
"""What a heading says of a run that is not to be counted."""


@dataclass(frozen=True)
class TextRun:
    """One run. line: of the file at which it begins, counted from 1. heading: the nearest text
    above that is no part of a result; it holds until the next one."""

    text: str
    line: int
    heading: str | None


def plain_lines(text: str) -> str:
    """A text without colours and what was written over; as many lines as before."""
    return ON_SCREEN.sub("", text if "\n" in text else text.replace("\r", "\n"))


def flush(text: str) -> str:
    """A text whose lines begin at the left; as many lines as before."""
    return MARGIN.sub("", text)


def text_runs(
    text: str, begins: Sequence[str], is_read: Callable[[str], bool]
) -> Iterator[TextRun]:
    """The runs of a text in their order, flush left. begins: regular expressions of the lines of a
    run's head in their order, of which any may be missing. is_read: whether a line holds something
    of a result."""
    lines, text = text.split("\n"), flush(text)
    heads = "|".join(f"(?P<head{i}>{pattern})" for i, pattern in enumerate(begins))
    starts, reached = [], len(begins)
    for match in re.finditer(heads, text, re.MULTILINE):
        head = int(str(match.lastgroup).removeprefix("head"))
        if head <= reached:  # it does not go on with the head above it
            starts.append(match.start())
        reached = head
    heading, line, after = None, 1, 0
    for start, stop in pairwise([*starts, len(text)]):
        first, line = line, line + text.count("\n", after, start)
        heading = _heading(lines[first - 1 : line - 1], is_read) or heading
        after = start
        yield TextRun(text[start:stop], line, heading)


def _heading(before: Sequence[str], is_read: Callable[[str], bool]) -> str | None:
    """What names a run in the text before it: of the lines after the last that belongs to a result
    the last that is set apart, else the last short one without a colon."""
    named = None
    for line in reversed(before):
        if FIGURE.match(line) or is_read(line.lstrip()):
            break
        if MARK.fullmatch(line.rstrip()):
            return line.strip("=#*+>[]- \t")
        if (
            named is None
            and re.match(r"\w", line)
            and len(line) <= LONGEST_NAME
            and not re.search("[:=]", line.rstrip(": "))
            and not CHATTER.match(line)
        ):
            named = line.rstrip(": \t")
    return named


@dataclass(frozen=True, kw_only=True)
class _Format:
    """What the formats of the table share. Such a format is a reader: called with a file, it gives
    its results.

    write: how the tool is asked for what is read. needs: columns without which it is no result.
    traps: sentences on how far the numbers can be believed. labels, figures: by column, where its
    text or its number stands, in the words of each kind of format.
    """

    tool: str
    write: str
    needs: Sequence[str]
    traps: Sequence[str]
    labels: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TextFormat(_Format):
    """How the text of a tool is read.

    begins: regular expressions of the lines of a run's head in their order, any of which may be
    missing; lines come without a margin. doubts: further traps, each by the column that all runs
    have, or the words in the text, which rule it out.
    Regular expressions by column: labels, the group of which is a level of a factor, with `levels`
    where nothing is printed; figures, whose groups are a number and its unit, if one is printed
    (a name with {} in it takes the first group into itself); totals, the sum of whose groups is the
    number. further: of figures with a name of their own, whose groups are the number and the name.
    units: of figures that are printed without. sizes: units of bytes, where the tool means others.
    """

    begins: Sequence[str]
    totals: Mapping[str, str] = field(default_factory=dict)
    further: str = "(?!)"
    levels: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, float] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, path: Path) -> Results:
        """The results in a file; those that were cut off are failed. Raises FormatError if none is
        complete, it is none of this tool, or damaged."""
        text = plain_lines(text_of(path))
        parts = list(text_runs(text, self.begins, self._is_read))
        if len({part.heading for part in parts}) < 2:  # it tells nothing apart
            parts = [replace(part, heading=None) for part in parts]
        try:
            runs = [(f"line {part.line}", self._row(part, path)) for part in parts]
        except (ValueError, OverflowError) as error:
            raise FormatError(f"{path}: is no result of {self.tool}: {error}.") from error
        complete = [row for _, row in runs if is_complete(row, self.needs)]
        doubts = (
            doubt
            for mark, doubt in self.doubts.items()
            if not all(mark in row for row in complete) and not re.search(mark, text)
        )
        return results_of(
            runs,
            path,
            self.tool,
            self.needs,
            (*self.traps, *doubts),
            write=self.write,
        )

    def _is_read(self, line: str) -> bool:
        patterns = (*self.labels.values(), *self.figures.values(), *self.totals.values())
        return any(re.search(pattern, line) for pattern in (*patterns, self.further))

    def _row(self, run: TextRun, path: Path) -> Row:
        row: Row = {}
        if run.heading is not None:
            row["heading"] = run.heading
            row["warmup"] = True if WARM_UP.search(run.heading) else None
        row |= self.levels
        for name, pattern in self.labels.items():
            if (label := re.search(pattern, run.text, re.MULTILINE)) and label.lastindex:
                row[name] = label[label.lastindex]
        for name, pattern in self.figures.items():
            # what is printed first stays
            for match in reversed([*re.finditer(pattern, run.text, re.MULTILINE)]):
                row |= self._figure(name, match, path)
        for name, pattern in self.totals.items():
            matches = re.finditer(pattern, run.text, re.MULTILINE)
            row[name] = sum(int(part) for match in matches for part in match.groups() if part)
        for match in re.finditer(self.further, run.text, re.MULTILINE):
            column = own_name(match[2].replace("/", "_per_"))
            row.setdefault(column, self._number(match[1], "", column, path))
        return {**levels_of(row.get("benchmark")), **row}

    def _figure(self, name: str, match: re.Match[str], path: Path) -> Row:
        """The column of a figure; none where the text ends within its number or unit."""
        groups = [group for group in match.groups() if group is not None]
        if "{}" in name:
            name = name.format(f"{float(groups.pop(0)):g}".replace(".", "_"))
        unit = groups[1] if groups[1:] else self.units.get(name, "")
        ends_early = match.end() == len(match.string)
        try:
            value = self._number(groups[0], unit, name, path)
        except FormatError:
            if ends_early:
                return {}
            raise
        return {} if value is None or (ends_early and match[0][-1:].isdigit()) else {name: value}

    def _number(self, printed: str, unit: str, column: str, path: Path) -> float | int | None:
        """A number in the unit of its column; None where the tool says that it has none."""
        text = plain(printed)
        if (seconds := on_clock(text)) is not None:
            return seconds
        if (number := number_in(text, path, column)) is None:
            return None
        if unit:
            where = f"{path}: {self.tool}"
            return in_own_unit(column, number, unit, where, {**SIZES, **self.sizes})
        return int(number) if number.is_integer() else number


def figures_of(entry: Any, paths: Mapping[str, str], where: str, unit: str = "") -> Row:
    """Numbers in JSON by column. paths: a JMESPath of each. unit: in which they stand; each comes
    in the unit of its column.

    Raises FormatError for what is no number, and within `reading` for a path that leads nowhere.
    """
    return {
        column: figure(jmespath.search(path, entry), column, where, unit)
        for column, path in paths.items()
    }


def labels_of(entry: Any, paths: Mapping[str, str], where: str) -> Row:
    """Texts in JSON by column, as far as they are there. paths: a JMESPath of each.

    Raises FormatError for a list or an object.
    """
    found = {column: jmespath.search(path, entry) for column, path in paths.items()}
    for column, label in found.items():
        if isinstance(label, dict | list):
            raise FormatError(f"{where}: {column} is {quoted(label)}, no text.")
    return {c: str(label) for c, label in found.items() if label is not None and label is not False}


@dataclass(frozen=True, kw_only=True)
class JsonFormat(_Format):
    """How the JSON of a tool is read.

    JMESPaths: rows, of a document, to its results or the only one; levels and further, of a result,
    to an object of levels, and to one of texts and numbers that a person added, `besides` left out;
    unit, to the unit of the figures `in_unit`. JMESPaths by column: shared, labels of a document;
    labels, of which an `error` says that the result failed; figures, in the unit of the column.
    more: further columns of a result.
    """

    rows: str | Callable[[Any], Iterable[Any]] = "@"
    levels: str = "`{}`"
    further: str = "`{}`"
    besides: Sequence[str] = ()
    unit: str = "`null`"
    shared: Mapping[str, str] = field(default_factory=dict)
    in_unit: Mapping[str, str] = field(default_factory=dict)
    more: Callable[[Any], Row] = lambda entry: {}

    def __call__(self, path: Path) -> Results:
        """The results in a file; those that were cut off are failed. Raises FormatError if none is
        complete, it is none of this tool, or damaged."""
        runs: list[tuple[str, Row]] = []
        tool = f"{self.tool}, written with {self.write}"
        for document in documents(text_of(path), path, tool):
            rows: list[Row] = [{}]
            if document.value is not None:
                with reading(path, tool):
                    rows = [*self._rows(document.value, str(path))]
            runs += [
                (f"entry {position} of the document at line {document.line}", row)
                for position, row in enumerate(rows, 1)
            ]
        return results_of(runs, path, self.tool, self.needs, self.traps, write=self.write)

    def _rows(self, document: Any, where: str) -> Iterator[Row]:
        rows = self.rows
        found = jmespath.search(rows, document) if isinstance(rows, str) else [*rows(document)]
        shared = labels_of(document, self.shared, where)
        for position, entry in enumerate(found if isinstance(found, list) else [found], 1):
            yield self._row(entry, f"{where}: entry {position}", shared)

    def _row(self, entry: Any, where: str, shared: Row) -> Row:
        """The columns of one result. where: file and place, for messages. shared: labels of its
        document."""
        labels = {**shared, **labels_of(entry, self.labels, where)}
        levels = levels_of(labels.get("benchmark"), jmespath.search(self.levels, entry))
        row = {**levels, **labels, **figures_of(entry, self.figures, where), **self.more(entry)}
        if "error" in labels:
            return {**row, "status": "failed"}
        unit = jmespath.search(self.unit, entry) or ""
        row |= figures_of(entry, self.in_unit, where, unit)
        for name, value in (jmespath.search(self.further, entry) or {}).items():
            if name not in self.besides and (isinstance(value, str) or is_number(value)):
                row.setdefault(own_name(name), value)
        return row


CUT_OFF = "aborted due to deadline"
"""What oha says of requests that were under way when the test ended."""


def _outcomes_of_oha(document: Any) -> Row:
    """What became of the requests, from how often each kind of answer and failure happened."""
    answers = document.get("statusCodeDistribution") or {}
    failures = {**(document.get("errorDistribution") or {})}
    unfinished = failures.pop(CUT_OFF, 0)
    refused = sum(n for code, n in answers.items() if code[:1] not in "123")
    return {
        "requests": sum(answers.values()),
        "errors": sum(failures.values()) + refused,
        "unfinished": unfinished,
    }


def _runs_of_hyperfine(document: Any) -> Iterator[dict[str, Any]]:
    """Each run of each command; a command whose runs are left out, as old releases did, itself."""
    for result in document["results"]:
        if result.get("times") is None:
            yield result
            continue
        treatment = {key: result.get(key) for key in ("command", "parameters", "parameter")}
        codes, sizes = (result.get(key) or [] for key in ("exit_codes", "memory_usage_byte"))
        for i, time in enumerate(result["times"]):
            code = codes[i] if i < len(codes) else 0
            yield {
                **treatment,
                "time": time,
                "memory": sizes[i] if i < len(sizes) else None,
                "run": {
                    "replicate": i + 1,
                    "exit_code": code if codes and isinstance(code, int) else None,
                    "status": "ok" if code == 0 else "failed",  # null stands for a signal
                },
            }


PATTERNS = ("labels", "figures", "totals")
"""Keys of a text under which patterns stand by column."""

IN_CODE: Mapping[str, Mapping[str, Any]] = {
    "oha": {"more": _outcomes_of_oha},
    "hyperfine": {
        "rows": _runs_of_hyperfine,
        "more": lambda entry: entry.get("run") or {},
    },
}
"""What no table says of the JSON of a tool."""


def _text_format(tool: str, told: Mapping[str, Any]) -> TextFormat:
    closed_loop = ("{closed_loop}", CLOSED_LOOP.format(tool=tool))
    own = {
        key: {name: _any_of(pattern) for name, pattern in told.get(key, {}).items()}
        for key in PATTERNS
    } | {
        "begins": [_any_of(pattern) for pattern in told["begins"]],
        "traps": [trap.replace(*closed_loop) for trap in told["traps"]],
        "doubts": {k: doubt.replace(*closed_loop) for k, doubt in told.get("doubts", {}).items()},
    }
    return TextFormat(tool=tool, **{**told, **own})


def described() -> dict[str, TextFormat | JsonFormat]:
    """Every format of the table, by its tool."""
    table = tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))
    return {
        tool: _text_format(tool, told)
        if "begins" in told
        else JsonFormat(tool=tool, **told, **IN_CODE.get(tool, {}))
        for tool, told in table.items()
    }


def _any_of(patterns: str | list[str]) -> str:
    return patterns if isinstance(patterns, str) else "|".join(patterns)
