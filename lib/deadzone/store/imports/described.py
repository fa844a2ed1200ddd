"""Formats described by a table: where a result begins, and which pattern or path gives which
column, in which unit.

A unit that is printed beside a number, and changes with its size (`1.2s`, `950ms`), is one unit
afterwards: that of the column, which stands in its name.
"""

import csv
import io
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jmespath

from deadzone.errors import FormatError
from deadzone.store.imports.document import documents, quoted, text_of
from deadzone.store.imports.result import CLOSED_LOOP, Results, Row, own_name
from deadzone.store.imports.text_runs import WARM_UP, TextRun, not_read, text_runs
from deadzone.study.numerals import plain

UNITS = tomllib.loads(Path(__file__).with_name("units.toml").read_text(encoding="utf-8"))
"""Sizes of units by kind, and of each column, by the ending of its name, its kind and own unit."""

CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
"""h:mm:ss or m:ss.ss"""


ANOTHER_DURATION = 1.5
"""Times as long as another run of the same levels: a warm-up, or another experiment."""


@dataclass(frozen=True)
class Column:
    """Where a column comes from.

    name: that of the column; with {} in it, of one for each line that is found, whose first group
    stands there. find: in text a regular expression whose groups are the number and, where it is
    printed, its unit; in JSON a JMESPath; in CSV the name of a field. unit: of the number where
    none is printed, or where it stands (a JMESPath after `=`). label: the value is a text, a level
    of a factor. missing: the level where none is printed. total: the sum of all numbers found, 0
    where there is none.
    """

    name: str
    find: str
    unit: str = ""
    label: bool = False
    missing: str | None = None
    total: bool = False


@dataclass(frozen=True)
class Description:
    """How the results of a tool are read. A reader: called with a file, it gives its results.

    version: of the tool, whose output was recorded. kind: "text", "json" (one document or one a
    line) or "csv". begins: in text, what begins a result, in JSON a JMESPath to their list; empty
    for one a file. needs: columns without which it is no result. traps: sentences on how far the
    numbers can be believed. levels: in JSON, a JMESPath to an object of levels. sizes: units of
    bytes, where the tool means others. doubts: further traps, each by the column or the words in
    the text that rule it out.
    """

    tool: str
    version: str
    kind: str
    needs: Sequence[str]
    columns: Sequence[Column]
    traps: tuple[str, ...]
    doubts: Mapping[str, str]
    begins: str = ""
    levels: str = ""
    sizes: Mapping[str, float] = field(default_factory=lambda: UNITS["sizes"])

    def __call__(self, path: Path) -> Results:
        """The results in a file; those that were cut off are failed. Raises FormatError if none is
        complete, it is none of this tool, or damaged."""
        try:
            text = text_of(path)
            found = [
                (where, self._row(part, path))
                for where, part in getattr(self, f"_{self.kind}")(text, path)
            ]
        except (
            jmespath.exceptions.JMESPathError,
            csv.Error,
            AttributeError,
            OverflowError,
        ) as error:
            raise FormatError(f"{path}: is no result of {self.tool}: {error}.") from error
        rows = [row for _, row in found]
        kept = [row for row in rows if self._is_complete(row)]
        if not kept:
            raise FormatError(
                f"{path}: is no complete result of {self.tool}: it has no {self.needs[0]}. It is "
                f"not complete, or it is no output of {self.tool}: was it cut off?"
            )
        known = set.intersection(*(set(row) for row in kept))
        doubts = (
            doubt for mark, doubt in self.doubts.items() if mark not in known and mark not in text
        )
        cut = {i: where for i, (where, row) in enumerate(found) if not self._is_complete(row)}
        remarks = [*self._remarks(text), *_alike(kept)]
        return Results.read(path.name, self.tool, rows, (*self.traps, *doubts), remarks, cut)

    def _is_complete(self, row: Row) -> bool:
        return all(row.get(name) is not None for name in self.needs)

    def _remarks(self, text: str) -> Iterator[str]:
        """What of a text was not read."""
        if self.kind != "text":
            return
        spans = [
            match.span()
            for column in self.columns
            for match in re.finditer(column.find, text, re.MULTILINE)
        ]
        if names := not_read(text, spans):
            yield f"Not read: {', '.join(map(repr, names))}."

    def _row(self, part: Any, path: Path) -> Row:
        row: Row = {}
        if isinstance(part, TextRun):
            if part.heading is not None:
                row["heading"] = part.heading
                row["warmup"] = True if WARM_UP.search(part.heading) else None
            part = part.text
        for column in self.columns:
            for name, found, unit in self._found(part, column):
                if found is not None and found is not False:
                    row[name] = (
                        str(found) if column.label else self._number(found, unit, name, path)
                    )
        told = jmespath.search(self.levels, part) if self.levels else None
        return {**levels_of(str(row.get("benchmark", ""))), **_named(told or {}), **row}

    def _found(self, part: Any, column: Column) -> Iterator[tuple[str, Any, str]]:
        """The name of a column, its value, None where there is none, and its unit."""
        if column.total:
            found = [match.groups() for match in re.finditer(column.find, part, re.MULTILINE)]
            yield column.name, sum(int(n) for groups in found for n in groups if n), ""
        elif self.kind == "text":
            matches = list(re.finditer(column.find, part, re.MULTILINE))
            if not matches:
                yield column.name, column.missing, column.unit
            for match in reversed(matches):  # what is printed first stays
                name, groups = column.name, match.groups()
                if "{}" in name:
                    name = name.format(f"{float(groups[0]):g}".replace(".", "_"))
                    groups = groups[1:]
                yield name, groups[0], (groups[1] or "" if groups[1:] else column.unit)
        else:
            unit = (
                jmespath.search(column.unit[1:], part)
                if column.unit.startswith("=")
                else column.unit
            )
            yield column.name, jmespath.search(column.find, part), str(unit or "")

    def _number(self, found: Any, unit: str, name: str, path: Path) -> float | int | None:
        """A number in the unit of its column; None where the tool says that it has none."""
        text = plain(str(found))
        if clock := CLOCK.fullmatch(text):
            hours, minutes, seconds = (float(part or 0) for part in clock.groups())
            return hours * 3600 + minutes * 60 + seconds
        try:
            number = float(text)
        except ValueError:
            if text.lower() in ("nan", "n/a", "null"):
                return None
            raise FormatError(f"{path}: {name} is {quoted(found)}, no number.") from None
        if not math.isfinite(number):
            return None
        if not unit:
            return int(number) if number.is_integer() and not isinstance(found, float) else number
        unit = unit.removesuffix("/op")
        kind, own = next(known for end, known in UNITS["columns"].items() if name.endswith(end))
        units = self.sizes if kind == "sizes" else UNITS[kind]
        if unit not in units:
            what = "a time" if kind == "times" else "an amount"
            raise FormatError(
                f"{path}: {name} is in {quoted(unit)}, a unit that {self.tool} is not known "
                f"to use where {what} stands."
            )
        # 190 us are 0.19 ms, and not 0.18999999999999997
        size = float(f"{number * units[unit] / own:.15g}")
        return round(size) if name.endswith("_bytes") else size

    def _text(self, text: str, path: Path) -> Iterator[tuple[str, TextRun]]:
        def is_read(line: str) -> bool:
            return any(re.search(column.find, line) for column in self.columns)

        runs = list(text_runs(text, self.begins, is_read))
        if len({run.heading for run in runs}) < 2:  # it tells nothing apart
            runs = [replace(run, heading=None) for run in runs]
        return ((f"line {run.line}", run) for run in runs)

    def _csv(self, text: str, path: Path) -> Iterator[tuple[str, Mapping[str, str | None]]]:
        rows = csv.DictReader(io.StringIO(text))
        for row in rows:
            yield f"line {rows.line_num}", {name: cell or None for name, cell in row.items()}

    def _json(self, text: str, path: Path) -> Iterator[tuple[str, Any]]:
        for document in documents(text, path, self.tool):
            found = jmespath.search(self.begins, document.value) if self.begins else document.value
            for position, part in enumerate(found if isinstance(found, list) else [found], 1):
                yield f"entry {position} of the document at line {document.line}", part


def levels_of(name: str) -> Row:
    """Levels that stand in the name of a benchmark: `Sort/n=100/threads:4` has n and threads."""
    return _named(dict(re.findall(r"[/ ,(\[]([A-Za-z_]\w*)[=:]([^/:,\s)\]]+)", name)))


def _alike(rows: Sequence[Row]) -> Iterator[str]:
    """What sets runs apart that are no repeats of each other: warm-up, and how long they lasted."""
    if n := sum(bool(row.get("warmup")) for row in rows):
        yield f"{n} of {len(rows)} runs {'is' if n == 1 else 'are'} marked as warm-up."
    lasted: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        levels = tuple(v for k, v in row.items() if isinstance(v, str) and k != "heading")
        if (wall := row.get("wall_s")) and "user_s" not in row:
            lasted.setdefault(levels, []).append(wall)
    for times in lasted.values():
        if max(times) > ANOTHER_DURATION * min(times):
            yield (
                f"Runs at the same levels lasted {min(times):g} to {max(times):g} s: they are no "
                "repeats of each other."
            )


def _named(levels: Mapping[str, Any]) -> Row:
    return {own_name(key): str(value) for key, value in levels.items()}


def _described(tool: str, told: dict[str, Any]) -> Description:
    columns = [
        Column(name, label=is_label, **(where if isinstance(where, dict) else {"find": where}))
        for key, is_label in (("labels", True), ("columns", False))
        for name, where in told.pop(key, {}).items()
    ]
    loop = CLOSED_LOOP.format(tool=tool)
    traps = tuple(trap.replace("{closed_loop}", loop) for trap in told.pop("traps"))
    doubts = {
        mark: doubt.replace("{closed_loop}", loop) for mark, doubt in told.pop("doubts", {}).items()
    }
    return Description(tool, columns=columns, traps=traps, doubts=doubts, **told)


_TOLD = tomllib.loads(Path(__file__).with_name("descriptions.toml").read_text(encoding="utf-8"))
REDIS_CSV = _described("redis-benchmark", _TOLD.pop("redis-benchmark.csv"))
"""The second form of a tool's results."""

ALL = tuple(_described(tool, told) for tool, told in _TOLD.items())
"""One for each tool."""
