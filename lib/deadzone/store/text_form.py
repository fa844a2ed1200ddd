"""How a table as text is written, by its first lines: which mark stands between the cells, how
numbers and bytes are written, and where a table that is drawn begins and ends.
"""

import codecs
import csv
import gzip
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from deadzone.study.quantity import read_quantity

TEXTS = (".txt", ".dat", ".out", ".log")
"""Endings of texts that may hold a table."""

SEPARATORS = ",;\t|"

BLANKS = (r"\s+", r"\s{2,}")
"""Between cells, of which those of `Score error` have one inside."""

LOOKED_AT = 65536
"""Bytes of a file by which its form is known."""

ROWS_LOOKED_AT = 20

DECIMAL_COMMA = re.compile(r"-?\d+,\d+")

RULE = re.compile(r"[\s:|+=-]*(?:--|==|-\s*\||\|\s*-)[\s:|+=-]*")
"""A line between others, as of a table in Markdown, of MySQL or in columns."""


def form_of(path: Path) -> tuple[dict[str, Any], int]:
    """How a table is written, by its first lines, as options of `pandas.read_csv`, and the number
    of cells in its first line. Raises OSError if it cannot be read."""
    text, encoding, is_cut = _head(path)
    every = text.splitlines()
    rules = _rules(every)
    skipped = sorted({*range(_remarks(every)), *rules, *_around(every, rules)})
    how = {"encoding": encoding, "skipinitialspace": True, "skiprows": skipped}
    lines = _read_of(every, skipped)
    if is_cut and len(lines) > 1:
        lines = lines[:-1]
    if rules and lines and "|" in lines[0]:
        return {**how, "sep": "|"}, lines[0].count("|")
    separator = _separator(lines[: ROWS_LOOKED_AT + 1])
    cells = [cell.strip() for line in lines[1:] for cell in _cells(line, separator)]
    comma = separator != "," and any(DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    columns = len(_cells(lines[0], separator)) if lines else 0
    engine = "python" if separator == BLANKS[-1] else "c"
    return {**how, "sep": separator, "engine": engine, "decimal": "," if comma else "."}, columns


def _read_of(lines: list[str], skipped: Collection[int]) -> list[str]:
    """The lines that are read, without the mark of a head line that is a remark."""
    read = [line for i, line in enumerate(lines) if i not in skipped and line.strip()]
    return [line.removeprefix("# ") for line in read[:1]] + read[1:]


def line_of(path: Path, place: int) -> int:
    """The number of a line in a file, from 1, by its place, from 0, among those that are read."""
    try:
        skipped = form_of(path)[0]["skiprows"]
        lines = enumerate(_head(path)[0].splitlines(), 1)
    except OSError:  # standard input
        return place + 1
    read = [i for i, line in lines if i - 1 not in skipped and line.strip()]
    return read[place] if place < len(read) else place + 1


def _head(path: Path) -> tuple[str, str, bool]:
    """The first lines of a file, their encoding, and whether the last of them may be cut. Raises
    OSError if it cannot be read."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        head = file.readline() + file.read(LOOKED_AT)
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if wide else "utf-8-sig"
    return head.decode(encoding, errors="replace"), encoding, len(head) >= LOOKED_AT


def _lines_of_text(path: Path) -> list[str]:
    """The first lines of a text that may hold a table; none of any other file."""
    return _head(path)[0].splitlines() if path.suffix in TEXTS and path.is_file() else []


def is_drawn(path: Path) -> bool:
    """Whether a text of another ending holds a table that is drawn with bars and rules."""
    lines = _lines_of_text(path)
    return bool(_block(lines, _rules(lines)))


def is_in_columns(path: Path, above: int = 0) -> bool:
    """Whether a text of another ending has as many cells in each line, of which the first has no
    number and the others have one in some column. above: lines of a title."""
    lines = _lines_of_text(path)
    skipped = {*range(_remarks(lines)), *_rules(lines)}
    rows = _read_of(lines, skipped)[above:ROWS_LOOKED_AT]
    separator = _separator(rows)
    cells = ([cell.strip() for cell in _cells(row, separator)] for row in rows)
    head, *trials = [[*map(read_quantity, row)] for row in cells] or [[]]
    is_even = {len(head)} == {*map(len, trials)} and len(head) > 1
    return is_even and not any(head) and any(map(all, zip(*trials, strict=True)))


def _rules(lines: list[str]) -> set[int]:
    return {i for i, line in enumerate(lines) if RULE.fullmatch(line)}


def _block(lines: list[str], rules: set[int]) -> range:
    """The lines of the first table that is drawn with bars and rules; none where there is none."""
    drawn = [i in rules or "|" in line for i, line in enumerate(lines)]
    first = stop = min(rules, default=0)
    while first and drawn[first - 1]:
        first -= 1
    while stop < len(lines) and drawn[stop]:
        stop += 1
    n = sum("|" in line for line in lines[first:stop])
    return range(first, stop) if rules and n > 2 else range(0)


def _around(lines: list[str], rules: set[int]) -> list[int]:
    """The lines before and after a drawn table, such as a title; where another one follows, those
    before."""
    block = _block(lines, rules)
    another = any("|" in line for line in lines[block.stop :])
    behind = [] if another else range(block.stop, len(lines))
    return [*range(block.start), *behind] if block else []


def _remarks(lines: list[str]) -> int:
    """How many lines at the top begin with #; without the last of them where it is the header."""
    first = next((i for i, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    is_data = first and re.match(r'[\s"|]*[-+.]?\d', lines[first])
    return first - 1 if is_data else first


def _separator(lines: list[str]) -> str:
    """The mark that gives every line as many cells as the first, most of them; else the blanks that
    do, or a comma."""
    widths = {
        mark: len(_cells(lines[0], mark)) if lines else 0
        for mark in SEPARATORS
        if lines and len({len(_cells(line, mark)) for line in lines}) == 1
    }
    best = max(widths, key=lambda mark: widths[mark], default=",")
    if widths.get(best, 0) > 1:
        return best
    in_first = [mark for mark in SEPARATORS if lines and mark in lines[0]]
    for blanks in () if in_first else BLANKS:
        counts = {len(_cells(line, blanks)) for line in lines}
        if len(counts) == 1 and counts != {1}:
            return blanks
    return in_first[0] if in_first else ","


def _cells(line: str, mark: str) -> list[str]:
    """The cells of a line; where it has quotes that do not end, what is between the marks."""
    if mark in BLANKS:
        return re.split(mark, line.strip())
    try:
        return next(csv.reader([line], delimiter=mark), [])
    except csv.Error:
        return line.split(mark)
