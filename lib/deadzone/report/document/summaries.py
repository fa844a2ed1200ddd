"""A summary that a cell shows, such as `model.summary()`, as one block: its tables under one
caption.

Its notes are left out: what to set and what to doubt is the verdict's.

It is read from the HTML that `deadzone.analysis.page` writes into the notebook.
"""

import re
from html import unescape

import pandas as pd

from deadzone.analysis.page import is_number
from deadzone.report.document.display import Regression, Table

TITLE = re.compile(r'<section class="dz-summary"><h3>(.*?)</h3>', re.DOTALL)
TABLE = re.compile(
    r'<table class="dz-table( dz-facts)?"><caption>(.*?)</caption>(.*?)</table>', re.DOTALL
)
ROW, CELL = (
    re.compile(r"<tr>(.*?)</tr>", re.DOTALL),
    re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.DOTALL),
)


def summary_of(html: str, caption: str) -> Regression | None:
    """The summary that a piece of HTML is, its title after the caption; None for any other HTML."""
    title = TITLE.match(html.strip())
    if title is None:
        return None
    tables = tuple(_table(bool(facts), name, rows) for facts, name, rows in TABLE.findall(html))
    return Regression(f"{caption} {unescape(title[1])}".strip(), tables)


def _table(paired: bool, caption: str, written: str) -> Table:
    rows = [[unescape(cell) for cell in CELL.findall(row)] for row in ROW.findall(written)]
    heads, rows = (["name", "value"], rows) if paired else (rows[0], rows[1:])
    frame = pd.DataFrame(rows, columns=heads, dtype=object)
    return Table(frame, unescape(caption), [] if paired else numeric_columns(frame), paired=paired)


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    """The columns of a summary's table, its first left out, that hold nothing but numbers."""
    return [str(name) for name in frame.columns[1:] if frame[name].astype(str).map(is_number).all()]
