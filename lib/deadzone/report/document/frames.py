"""A DataFrame that a cell shows, as a table of the report.

It is read from the HTML that pandas wrote into the notebook, so that what the reader of the
notebook sees and what is published are the same cells; probabilities alone are written by the
library's own rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from deadzone.analysis.phases.quantities import KNOB_UNITS, SUFFIX_UNITS, probability, unit_of
from deadzone.language.formats import p_value
from deadzone.report.document.display import Table

if TYPE_CHECKING:
    from bs4 import Tag

NUMBER = re.compile(
    r"[-+<>\u2212]?(\d[\d,]*(\.\d*)?|\.\d+)(e[-+]?\d+)?( ?%)?|-?inf|\.\.\.", re.IGNORECASE
)
"""A cell that is set to the right: a number as pandas writes it, or the mark of columns and rows
that are left out."""

MISSING = ("", "NaN", "nan", "<NA>", "None", "NaT")
"""What pandas writes where there is no value."""

NO_VALUE = "-"
"""What a report shows there."""

SHARE = re.compile(r"0(\.\d+)?|1(\.0+)?|\d\.?\d*e-\d+")
"""A number from 0 to 1 as pandas writes it."""

CUT, CELLS = "...", ["th", "td"]

PROBABILITY = re.compile(r"(.* )?(probability|confidence|chance)")
P_VALUE = re.compile(r"[pq]( .*)?")
"""Heads of columns of probabilities and of p-values, which pandas rounds to 0 and 1."""

WORDS = {"True": "yes", "False": "no", "dead_zone": "dead zone"}
"""What pandas and the phase model write, as a reader says it."""

LONG_NUMBER = re.compile(r"(?<![\d.,e])[1-9]\d{4,}(?![\d,e])", re.IGNORECASE)
"""The whole part of a number that is hard to read without a mark between its thousands."""


def table_of(html: str, caption: str) -> Table | None:
    """The table that a piece of HTML is, such as pandas makes of a DataFrame; None for any other
    HTML.

    caption: of the table; how many rows and columns a frame has that is shown in part is added to
    it.
    """
    from bs4 import BeautifulSoup

    read = BeautifulSoup(html if "<table" in html else "", "html.parser")
    for unread in read(["style", "script"]):
        unread.decompose()
    if len(read("table")) != 1 or not read.thead or not (head := read.thead("tr")):
        return None
    body = [row for row in read("tr") if not row.find_parent("thead")]
    if not body and not any(row(CELLS) for row in head):
        return None
    index = sum(_span(cell, "colspan") for cell in body[0]("th")) if body else 0
    heads, rows = _heads(_spread(head), index), _spread(body)
    read("table")[0].decompose()
    shape = read.get_text(" ", strip=True)
    if shape and not re.fullmatch(r"\d+ rows × \d+ columns", shape):
        return None
    if index == 1 and _is_counted(heads[0], rows):
        heads, rows = heads[1:], [row[1:] for row in rows]
    cells_of = list(zip(*rows, strict=True)) or [()] * len(heads)
    columns = [_column(head, list(cells)) for head, cells in zip(heads, cells_of, strict=True)]
    heads = _apart(heads)
    numeric = [head for head, cells in zip(heads, columns, strict=True) if _is_numeric(cells)]
    told = f"{caption.rstrip('.')} ({shape})." if shape else caption
    return Table(heads, list(map(list, zip(*columns, strict=True))), told.strip(), numeric)


def _spread(rows: Sequence[Tag]) -> list[list[str]]:
    """The cells of rows, those that span rows or columns written into each of them."""
    grid: dict[tuple[int, int], str] = {}
    for i, row in enumerate(rows):
        j = 0
        for cell in row(CELLS):
            while (i, j) in grid:
                j += 1
            for place in product(range(_span(cell, "rowspan")), range(_span(cell, "colspan"))):
                grid[i + place[0], j + place[1]] = " ".join(cell.get_text().split())
            j += _span(cell, "colspan")
    width = max((j for _, j in grid), default=-1) + 1
    return [[grid.get((i, j), "") for j in range(width)] for i in range(len(rows))]


def _span(cell: Tag, name: str) -> int:
    text = str(cell.get(name))
    return int(text) if text.isdigit() else 1


def _heads(rows: list[list[str]], index: int) -> list[str]:
    """One head a column, of the levels of a frame's columns and the names of its index."""
    has_names = len(rows) > 1 and not any(rows[-1][index:])
    levels = rows[:-1] if has_names else rows
    names = [row[index - 1] for row in levels] if index else []
    own = rows[-1][:index] if has_names else [""] * index
    if index and any(names):  # the columns have a name: rows by columns, as in a cross table
        across = ", ".join(name for name in names if name)
        own[-1] = f"{own[-1]} \\ {across}".strip()
    values = zip(*(row[index:] for row in levels), strict=True)
    return [*map(_head, own), *(_joined(parts, any(names)) for parts in values)]


def _joined(parts: tuple[str, ...], are_values: bool) -> str:
    told = [part if are_values else _head(part) for part in parts if part]
    return ", ".join(dict.fromkeys(told))


def _head(column: str) -> str:
    """A column's name in words, with the unit that it ends in: `wall_s` is `wall [s]`."""
    unit = unit_of(column)
    if not unit or unit == column:
        return column.replace("_", " ")
    ending = (
        "" if column in KNOB_UNITS else next(end for end in SUFFIX_UNITS if column.endswith(end))
    )
    bare = column.removesuffix(ending).replace("_", " ").strip()
    return f"{bare} [{unit}]" if bare else column


def _is_counted(head: str, rows: list[list[str]]) -> bool:
    """Whether the index is pandas' own count of the rows, which says nothing."""
    counts = [(i, row[0]) for i, row in enumerate(rows) if row[0] != CUT]
    is_cut = len(counts) < len(rows)
    return not head and all(text.isdigit() and (is_cut or int(text) == i) for i, text in counts)


def _column(head: str, cells: list[str]) -> list[str]:
    """A column as a reader writes it: whole numbers without `.0`, thousands apart from five digits
    on, probabilities with their bounds, yes and no."""
    parts = [NO_VALUE if cell in MISSING else WORDS.get(cell, cell) for cell in cells]
    if not _is_numeric(parts):
        return parts
    if bounded := _bounded(head):
        return [bounded(float(cell)) if SHARE.fullmatch(cell) else cell for cell in parts]
    if all(cell.endswith(".0") for cell in parts if cell not in (NO_VALUE, CUT)):
        parts = [cell.removesuffix(".0") for cell in parts]
    return [LONG_NUMBER.sub(lambda match: f"{int(match[0]):,}", cell) for cell in parts]


def _bounded(head: str) -> Callable[[float], str] | None:
    """How the column of a head is written, if it is one of probabilities."""
    if PROBABILITY.fullmatch(head):
        return probability
    return p_value if P_VALUE.fullmatch(head) else None


def _is_numeric(cells: list[str]) -> bool:
    parts = [cell for cell in cells if cell != NO_VALUE]
    return bool(parts) and all(NUMBER.fullmatch(cell) for cell in parts)


def _apart(heads: list[str]) -> list[str]:
    """Heads of which no two are alike, as `Table` needs them: a repeated one ends in blanks of no
    width."""
    return [head + "\u200b" * heads[:i].count(head) for i, head in enumerate(heads)]
