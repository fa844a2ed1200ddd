"""What tools print for people: how a run begins, and which pattern finds which column."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deadzone.errors import FormatError
from deadzone.store.imports.columns import own_name
from deadzone.store.imports.document import number_in, text_of
from deadzone.store.imports.plausible import Row
from deadzone.store.imports.result import Results
from deadzone.store.imports.runs import is_complete, levels_of, results_of
from deadzone.store.imports.text_runs import (
    WARM_UP,
    TextRun,
    plain_lines,
    text_runs,
)
from deadzone.store.imports.units import SIZES, in_own_unit
from deadzone.study.quantity import on_clock, plain


@dataclass(frozen=True)
class TextFormat:
    """How the text of a tool is read. A reader: called with a file, it gives its results.

    write: how it is asked for what is read.
    begins: regular expressions of the lines of a run's head in their order, any of which may be
    missing; lines come without a margin. needs: columns without which it is no result. traps:
    sentences on how far the numbers can be believed; doubts: further ones, each by the column that
    all runs have, or the words in the text, which rule it out.
    Regular expressions by column: labels, the group of which is a level of a factor, with `levels`
    where nothing is printed; figures, whose groups are a number and its unit, if one is printed
    (a name with {} in it takes the first group into itself); totals, the sum of whose groups is the
    number. further: of figures with a name of their own, whose groups are the number and the name.
    units: of figures that are printed without. sizes: units of bytes, where the tool means others.
    """

    tool: str
    write: str
    begins: Sequence[str]
    needs: Sequence[str]
    traps: Sequence[str]
    figures: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    totals: Mapping[str, str] = field(default_factory=dict)
    further: str | None = None
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

    def _patterns(self) -> Iterable[str]:
        further = [self.further] if self.further else []
        return [*self.labels.values(), *self.figures.values(), *self.totals.values(), *further]

    def _is_read(self, line: str) -> bool:
        return any(re.search(pattern, line) for pattern in self._patterns())

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
        if self.further is not None:
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
