"""A summary that a cell shows, such as `model.summary()`, as one block: its tables under one
caption.

Its notes are left out: what to set and what to doubt is the verdict's.

It is read from the HTML that `deadzone.analysis.page` writes into the notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.analysis.page import is_number
from deadzone.report.document.display import Regression, Table

if TYPE_CHECKING:
    from bs4 import Tag

SUMMARY = '<section class="dz-summary">'


def summary_of(html: str, caption: str) -> Regression | None:
    """The summary that a piece of HTML is, its title after the caption; None for any other HTML."""
    from bs4 import BeautifulSoup

    summary = BeautifulSoup(html if SUMMARY in html else "", "html.parser").section
    if summary is None or summary.h3 is None:
        return None
    return Regression(
        f"{caption} {summary.h3.get_text()}".strip(), tuple(map(_table, summary("table")))
    )


def _table(table: Tag) -> Table:
    caption, *rows = ([cell.get_text() for cell in row] for row in table(["caption", "tr"]))
    paired = table.thead is None
    heads = ["name", "value"] if paired else rows.pop(0)
    columns = list(zip(heads, zip(*rows, strict=True), strict=True))[1:]
    numeric = [head for head, cells in columns if not paired and all(map(is_number, cells))]
    return Table(heads, rows, "".join(caption), numeric, paired=paired)
