"""How a table as text is written, by its first lines: which mark stands between the cells, how
numbers and bytes are written, and where a table that is drawn begins and ends.
"""

import codecs
import csv
import gzip
import re
import shlex
from collections.abc import Collection
from itertools import zip_longest
from pathlib import Path
from typing import Any

from deadzone.study.quantity import LONE_THOUSANDS, read_quantity

TEXTS = (".txt", ".dat", ".out", ".log")
"""Endings of texts that may hold a table."""

SEPARATORS = ",;\t|"
"""Of cells; the first counts where none fits."""

BLANKS = (r"\s+", r"\s{2,}", r"[\s±]+")
"""Between cells, of which those of `Score error` have one inside, and a column of errors a mark
before it."""

MOST_TOLD = 3
"""Tables of a file of which it is told how to take each."""

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
    around = {*range(len(every))} - {*_the_block(every, rules, path)}
    skipped = sorted({*range(_remarks(every)), *rules, *around})
    how = {"encoding": encoding, "skipinitialspace": True, "skiprows": skipped}
    lines = _read_of(every, skipped)
    if is_cut and len(lines) > 1:
        lines = lines[:-1]
    are_bars = bool(rules and lines and "|" in lines[0])
    separator = "|" if are_bars else _separator(lines[: ROWS_LOOKED_AT + 1])
    _refuse_thousands(lines, separator)
    if are_bars:
        return {**how, "sep": "|"}, lines[0].strip(" |").count("|") + 1
    cells = [cell.strip() for line in lines[1:] for cell in _cells(line, separator)]
    commas = [cell for cell in cells if separator != "," and DECIMAL_COMMA.fullmatch(cell)]
    comma = bool(commas) and (separator == ";" or not all(map(LONE_THOUSANDS.fullmatch, commas)))
    columns = len(_cells(lines[0], separator)) if lines else 0
    engine = "python" if separator in BLANKS[1:] else "c"
    return {**how, "sep": separator, "engine": engine, "decimal": "," if comma else "."}, columns


def _refuse_thousands(lines: list[str], separator: str) -> None:
    """Raise ValueError where a mark may stand between thousands or before decimals: 980, 1.810, of
    one unit."""
    marks = ".," if separator == ";" else "."
    rows = [_cells(line, separator) for line in lines[1:]] if separator != "," else []
    for column in zip_longest(*rows, fillvalue=""):
        read = [re.fullmatch(rf"\s*([\d{marks}]+)\s*([^\d%]*)", cell) for cell in column]
        for unit in {one[2].strip() for one in read if one}:
            numbers = {one[1] for one in read if one and one[2].strip() == unit}
            marked = {n for n in numbers if re.fullmatch(rf"[1-9]\d{{0,2}}[{marks}]\d{{3}}", n)}
            whole = {n for n in numbers - marked if n.isdigit()}
            if marked and whole == numbers - marked and max(map(len, whole), default=0) == 3:
                raise ValueError(
                    f"{min(marked)} beside whole numbers of three digits may be thousands or "
                    "decimals: write thousands without a mark, or decimals in all"
                )


def _read_of(lines: list[str], skipped: Collection[int]) -> list[str]:
    """The lines that are read, without the mark of a head line that is a remark."""
    read = [line for i, line in enumerate(lines) if i not in skipped and line.strip()]
    return [line.removeprefix("# ") for line in read[:1]] + read[1:]


def other_than(path: Path) -> str:
    """The name of a table that is made from a file: a shell empties what it writes to first."""
    return "table.csv" if path.name != "table.csv" else "table2.csv"


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
    return bool(_blocks(lines, _rules(lines)))


def is_in_columns(path: Path, above: int = 0) -> bool:
    """Whether a text of another ending has as many cells in each line, of which the first has no
    number and the others have one in some column, but for a line of units. above: lines of a
    title."""
    lines = _lines_of_text(path)
    skipped = {*range(_remarks(lines)), *_rules(lines)}
    rows = _read_of(lines, skipped)[above:ROWS_LOOKED_AT]
    separator = _separator(rows)
    cells = ([cell.strip() for cell in _cells(row, separator)] for row in rows)
    head, *trials = [[*map(read_quantity, row)] for row in cells] or [[]]
    is_even = {len(head)} == {*map(len, trials)} and len(head) > 1
    trials = trials[1:] if trials and not any(trials[0]) else trials  # units
    return is_even and not any(head) and any(map(all, zip(*trials, strict=True)))


def _rules(lines: list[str]) -> set[int]:
    return {i for i, line in enumerate(lines) if RULE.fullmatch(line)}


def _blocks(lines: list[str], rules: set[int]) -> list[range]:
    """The lines of each table that is drawn with bars and rules."""
    runs: list[range] = []
    for i in (i for i, line in enumerate(lines) if i in rules or "|" in line):
        first = runs.pop().start if runs and _goes_on(lines, rules, runs[-1], i) else i
        runs.append(range(first, i + 1))
    drawn = (run for run in runs if rules & {*run})
    return [run for run in drawn if sum("|" in lines[i] for i in run) > 2]


def _goes_on(lines: list[str], rules: set[int], run: range, i: int) -> bool:
    """Whether a line belongs to the run above it: it is the next, or, below blank lines, a row with
    as many bars that is no head line."""
    is_row = not {i, i + 1} & rules and lines[i].count("|") == lines[run[-1]].count("|")
    return run.stop == i or (is_row and not any(map(str.strip, lines[run.stop : i])))


def _the_block(lines: list[str], rules: set[int], path: Path) -> range:
    """The lines of the table that is drawn with bars and rules; every line where none is. Raises
    ValueError where there are several, or where its rows do not begin as its head line does."""
    blocks = _blocks(lines, rules)
    if not blocks:
        return range(len(lines))
    name = f"{shlex.quote(str(path))} > {other_than(path)}"
    if len(blocks) > 1:
        takes = [f"`sed -n {run[0] + 1},{run[-1] + 1}p {name}`" for run in blocks[:MOST_TOLD]]
        raise ValueError(f"it holds {len(blocks)} tables. Take one of them: {' or '.join(takes)}")
    (block,) = blocks
    rows = [lines[i].strip() for i in block if "|" in lines[i] and i not in rules]
    begins = {row.startswith("|") for row in rows}
    if len(begins) > 1 and len({row.count("|") for row in rows}) > 1:
        puts = f"{block[0] + 1},{block[-1] + 1}s/^[^|]/|&/"
        raise ValueError(f"some rows begin with a bar and others do not: `sed '{puts}' {name}`")
    return block


def _remarks(lines: list[str]) -> int:
    """How many lines at the top begin with #; without the last of them where it is the header."""
    first = next((i for i, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    is_data = first and re.match(r'[\s"|]*[-+.]?\d', lines[first])
    return first - 1 if is_data else first


def _separator(lines: list[str]) -> str:
    """The mark that gives every line as many cells as the first, most of them; else the blanks that
    do, with the most columns of numbers and then the fewest cells, or a comma."""
    widths = {
        mark: len(_cells(lines[0], mark)) if lines else 0
        for mark in SEPARATORS
        if lines and len({len(_cells(line, mark)) for line in lines}) == 1
    }
    best = max(widths, key=lambda mark: widths[mark], default=",")
    if widths.get(best, 0) > 1:
        return best
    in_first = [mark for mark in SEPARATORS if lines and mark in lines[0]]
    even = {}
    for blanks in BLANKS if lines and not in_first else ():
        rows = [_cells(line, blanks) for line in lines]
        if len(rows[0]) > 1 and len({*map(len, rows)}) == 1:
            are_numbers = (all(map(read_quantity, own[1:])) for own in zip(*rows, strict=True))
            even[blanks] = sum(are_numbers), -len(rows[0])  # `Pool size=1` is one cell
    return max(even, key=lambda blanks: even[blanks], default=(in_first or ",")[0])


def _cells(line: str, mark: str) -> list[str]:
    """The cells of a line; where it has quotes that do not end, what is between the marks."""
    if mark in BLANKS:
        return re.split(mark, line.strip())
    try:
        return next(csv.reader([line], delimiter=mark), [])
    except csv.Error:
        return line.split(mark)
