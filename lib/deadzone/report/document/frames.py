"""Data frames and summaries that a cell shows, as tables of the report.

The kernel that executes a notebook writes them into its outputs as data, beside what its reader
sees. The cells are those that pandas would write; probabilities alone are written by the library's
own rule.
"""

import re
from importlib import import_module
from typing import Any

import pandas as pd

from deadzone.analysis.page import Paged, is_number
from deadzone.analysis.phases.quantities import KNOB_UNITS, SUFFIX_UNITS, probability, unit_of
from deadzone.language.formats import p_value
from deadzone.language.tabling import Tabled
from deadzone.report.document.display import PLAIN, Regression, Table

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

CUT = "..."

PROBABILITY = re.compile(r"(.* )?(probability|confidence|chance)")
P_VALUE = re.compile(r"[pq]( .*)?")
"""Heads of columns of probabilities and of p-values, which pandas rounds to 0 and 1."""

WORDS = {
    "True": "yes", "False": "no", "dead_zone": "dead zone", **dict.fromkeys(MISSING, NO_VALUE)
}  # fmt: skip
"""What pandas and the phase model write, as a reader says it."""

ROUNDED_TO_ZERO = re.compile(r"^-(?=0(\.0*)?$)")
"""The sign of a small number of which no digit is left."""

LONG_NUMBER = re.compile(r"(?<![\d.,e])[1-9]\d{4,}(?![\d,e])", re.IGNORECASE)
"""The whole part of a number that is hard to read without a mark between its thousands."""


def show_as_tables(formatter: Any) -> None:
    """Let IPython's formatter of MIME bundles write data frames and summaries as blocks too."""
    formatter.for_type(Paged, lambda page: {PLAIN: summary_of(page).to_json()})
    formatter.for_type(
        pd.DataFrame,
        lambda frame: {PLAIN: table_of(frame).to_json()} if len(frame.columns) else {},
    )


def summary_of(summary: Paged) -> Regression:
    """The tables of a summary under its title. Its notes are left out: what to set and what to
    doubt is the verdict's."""
    page = summary.page()
    return Regression(page.title, tuple(map(_section, page.sections)))


def _section(section: Tabled) -> Table:
    cells = section.frame
    numeric = [name for name in cells.columns[1:] if cells[name].map(is_number).all()]
    return Table.of_frame(
        cells, section.caption, [] if section.paired else numeric, paired=section.paired
    )


def table_of(frame: pd.DataFrame) -> Table:
    """A frame as a table; its caption says how many rows and columns one has that is shown in
    part."""
    pandas: Any = import_module("pandas.io.formats.format")
    n = len(frame)
    most, least = (pd.get_option(f"display.{end}_rows") for end in ("max", "min"))
    half = max(min(least or most, most) // 2, 1) if most and n > most else n
    kept = frame if half == n else pd.concat([frame.head(half), frame.tail(half)])
    heads, columns = _heads(frame), [kept.iloc[:, i] for i in range(frame.shape[1])]
    if len(heads) > len(columns):
        levels = range(frame.index.nlevels)
        columns = [*(pd.Series(kept.index.get_level_values(i)) for i in levels), *columns]
    cells = []
    for head, column in zip(heads, columns, strict=True):
        with pd.option_context("display.max_colwidth", None):  # a sentence is published whole
            texts = pandas.format_array(column.to_numpy(), None)
        texts = [" ".join(text.split()) for text in texts]
        cells.append(_column(head, texts if half == n else [*texts[:half], CUT, *texts[half:]]))
    # `Table` needs heads of which no two are alike: a repeated one ends in blanks of no width
    heads = [head + "\u200b" * heads[:i].count(head) for i, head in enumerate(heads)]
    numeric = [head for head, texts in zip(heads, cells, strict=True) if _is_numeric(texts)]
    caption = "" if half == n else f"({n} rows × {frame.shape[1]} columns)"
    return Table(heads, list(map(list, zip(*cells, strict=True))), caption, numeric)


def _heads(frame: pd.DataFrame) -> list[str]:
    """One head a column, those of the index before them where it is not pandas' own count of the
    rows, which says nothing."""
    names = [str(name) for name in frame.columns.names if name is not None]
    told = (column if isinstance(column, tuple) else (column,) for column in frame.columns)
    parts = ([str(part) if names else _head(str(part)) for part in column] for column in told)
    heads = [", ".join(dict.fromkeys(filter(None, column))) for column in parts]
    is_counted = frame.index.equals(pd.RangeIndex(len(frame))) and not names
    if frame.index.names == [None] and is_counted:
        return heads
    own = [_head(str(name or "")) for name in frame.index.names]
    if names:  # the columns have a name: rows by columns, as in a cross table
        own[-1] = f"{own[-1]} \\ {', '.join(names)}".strip()
    return [*own, *heads]


def _head(column: str) -> str:
    """A column's name in words, with the unit that it ends in: `wall_s` is `wall [s]`."""
    unit = unit_of(column)
    ending = next((end for end in SUFFIX_UNITS if column.endswith(end)), "")
    if not unit or not (ending or column in KNOB_UNITS):  # tps and `Time (s)` say it themselves
        return column.replace("_", " ")
    ending = "" if column in KNOB_UNITS else ending
    bare = column.removesuffix(ending).replace("_", " ").strip()
    return f"{bare} [{unit}]" if bare else column


def _column(head: str, cells: list[str]) -> list[str]:
    """A column as a reader writes it: whole numbers without `.0`, thousands apart from five digits
    on, probabilities with their bounds, yes and no."""
    parts = [ROUNDED_TO_ZERO.sub("", WORDS.get(cell, cell)) for cell in cells]
    if not _is_numeric(parts):
        return parts
    if PROBABILITY.fullmatch(head) or P_VALUE.fullmatch(head):
        bounded = probability if PROBABILITY.fullmatch(head) else p_value
        return [bounded(float(cell)) if SHARE.fullmatch(cell) else cell for cell in parts]
    if all(cell.endswith(".0") for cell in parts if cell not in (NO_VALUE, CUT)):
        parts = [cell.removesuffix(".0") for cell in parts]
    return [LONG_NUMBER.sub(lambda match: f"{int(match[0]):,}", cell) for cell in parts]


def _is_numeric(cells: list[str]) -> bool:
    parts = [cell for cell in cells if cell != NO_VALUE]
    return bool(parts) and all(NUMBER.fullmatch(cell) for cell in parts)
