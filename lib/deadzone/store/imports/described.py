"""Formats described by a table: where a result begins, and which pattern or path gives which
column, in which unit.

A unit that is printed beside a number, and changes with its size (`1.2s`, `950ms`), is one unit
afterwards: that of the column, which stands in its name.
"""

import csv
import io
import itertools
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jmespath

from deadzone.errors import FormatError
from deadzone.store.imports.document import quoted, text_of
from deadzone.store.imports.result import CLOSED_LOOP, Results, Row, own_name

UNITS = tomllib.loads(Path(__file__).with_name("units.toml").read_text(encoding="utf-8"))
"""Sizes of units by kind, and of each column, by the ending of its name, its kind and own unit."""

CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
"""h:mm:ss or m:ss.ss"""


@dataclass(frozen=True)
class Column:
    """Where a column comes from.

    find: in text a regular expression whose groups are the number and, where it is printed, its
    unit; in JSON a JMESPath; in CSV the name of a field. unit: of the number where none is printed,
    or where it stands (a JMESPath after `=`). label: the value is a text, a level of a factor.
    total: the sum of all numbers found, 0 where there is none.
    """

    name: str
    find: str
    unit: str = ""
    label: bool = False
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
        """The results in a file. Raises FormatError if it is none of this tool, or damaged."""
        try:
            text = text_of(path)
            rows = [self._row(part, path) for part in getattr(self, f"_{self.kind}")(text, path)]
        except (
            jmespath.exceptions.JMESPathError,
            csv.Error,
            AttributeError,
            OverflowError,
        ) as error:
            raise FormatError(f"{path}: is no result of {self.tool}: {error}.") from error
        kept = [row for row in rows if all(row.get(name) is not None for name in self.needs)]
        if not kept:
            raise FormatError(
                f"{path}: is no complete result of {self.tool}: it has no {self.needs[0]}. It is "
                f"not complete, or it is no output of {self.tool}: was it cut off?"
            )
        known = set.intersection(*(set(row) for row in kept))
        doubts = (
            doubt for mark, doubt in self.doubts.items() if mark not in known and mark not in text
        )
        return Results.read(path.name, self.tool, kept, (*self.traps, *doubts))

    def _row(self, part: Any, path: Path) -> Row:
        row: Row = {}
        for column in self.columns:
            found, unit = self._found(part, column)
            if found is None or found is False:
                continue
            row[column.name] = (
                str(found) if column.label else self._number(found, unit, column, path)
            )
        told = jmespath.search(self.levels, part) if self.levels else None
        return {**levels_of(str(row.get("benchmark", ""))), **_named(told or {}), **row}

    def _found(self, part: Any, column: Column) -> tuple[Any, str]:
        """The value of a column, None where there is none, and its unit."""
        if column.total:
            found = [match.groups() for match in re.finditer(column.find, part, re.MULTILINE)]
            return sum(int(number) for groups in found for number in groups if number), ""
        if self.kind == "text":
            match = re.search(column.find, part, re.MULTILINE)
            return (match[1] if match else None), (
                match[2] if match and match.re.groups > 1 else column.unit
            )
        unit = (
            jmespath.search(column.unit[1:], part) if column.unit.startswith("=") else column.unit
        )
        return jmespath.search(column.find, part), str(unit or "")

    def _number(self, found: Any, unit: str, column: Column, path: Path) -> float | int | None:
        """A number in the unit of its column; None where the tool says that it has none."""
        text = str(found).strip().replace(",", "")
        if clock := CLOCK.fullmatch(text):
            hours, minutes, seconds = (float(part or 0) for part in clock.groups())
            return hours * 3600 + minutes * 60 + seconds
        try:
            number = float(text)
        except ValueError:
            if text.startswith("<") or text.lower() in ("nan", "n/a", "null"):
                return None  # perf: <not supported>, <not counted>
            raise FormatError(f"{path}: {column.name} is {quoted(found)}, no number.") from None
        if not math.isfinite(number):
            return None
        if not unit:
            return int(number) if number.is_integer() and not isinstance(found, float) else number
        unit = unit.removesuffix("/op")
        kind, own = next(
            known for end, known in UNITS["columns"].items() if column.name.endswith(end)
        )
        units = self.sizes if kind == "sizes" else UNITS[kind]
        if unit not in units:
            what = "a time" if kind == "times" else "an amount"
            raise FormatError(
                f"{path}: {column.name} is in {quoted(unit)}, a unit that {self.tool} is not known "
                f"to use where {what} stands."
            )
        # 190 us are 0.19 ms, and not 0.18999999999999997
        size = float(f"{number * units[unit] / own:.15g}")
        return round(size) if column.name.endswith("_bytes") else size

    def _text(self, text: str, path: Path) -> Iterator[str]:
        starts = [match.start() for match in re.finditer(self.begins, text, re.MULTILINE)]
        return (text[start:stop] for start, stop in itertools.pairwise([*starts, len(text)]))

    def _csv(self, text: str, path: Path) -> Iterator[Mapping[str, str | None]]:
        rows = csv.DictReader(io.StringIO(text))
        return ({name: cell or None for name, cell in row.items()} for row in rows)

    def _json(self, text: str, path: Path) -> Iterator[Any]:
        try:
            document = json.loads(text)
        except ValueError:
            try:
                document = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
            except (ValueError, RecursionError) as error:
                raise FormatError(
                    f"{path}: is no complete JSON of {self.tool}: {error}."
                ) from error
        except RecursionError as error:
            raise FormatError(f"{path}: is no JSON of {self.tool}: {error}.") from error
        found = jmespath.search(self.begins, document) if self.begins else document
        return iter(found if isinstance(found, list) else [found])


def levels_of(name: str) -> Row:
    """Levels that stand in the name of a benchmark: `Sort/n=100/threads:4` has n and threads."""
    return _named(dict(re.findall(r"[/ ,(\[]([A-Za-z_]\w*)[=:]([^/:,\s)\]]+)", name)))


def _named(levels: Mapping[str, Any]) -> Row:
    return {own_name(key): str(value) for key, value in levels.items()}


def _described(tool: str, told: dict[str, Any]) -> Description:
    columns = [Column(name, find, label=True) for name, find in told.pop("labels", {}).items()]
    for name, where in told.pop("columns").items():
        keys = where if isinstance(where, dict) else {"find": where}
        columns.append(Column(name, **keys))
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
