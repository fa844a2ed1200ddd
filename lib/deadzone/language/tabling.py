"""Tables of words: a `Layout` beside the code says how the rows that the code found are shown.

A heading is a text, or a template of one that is the same in every language; a cell is a template,
or a table of texts with the template of the key. Captions, headings and cells are written with the
values of the table, cells with those of their row as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.language.messages import Text, say, written

Cell = str | tuple[Mapping[str, Text], str]


@dataclass(frozen=True, eq=False)
class Layout:
    """How rows are shown. columns: heading to cell. numeric: positions of columns. ids: template of
    the id of a row. paired: of a table of one row, whose headings stand beside its cells."""

    columns: Mapping[Text | str, Cell]
    caption: Text | str = ""
    numeric: Sequence[int] = ()
    ids: str = ""
    paired: bool = False


@dataclass(frozen=True, eq=False)
class Tabled:
    """A table in words. frame: of texts. numeric: names of columns. row_ids: empty where its rows
    have none. paired: names and values, without a heading row."""

    caption: str
    frame: pd.DataFrame
    numeric: Sequence[str] = ()
    row_ids: Sequence[str] = ()
    paired: bool = False


def tabled(layout: Layout, rows: Iterable[Mapping[Any, Any]], /, **values: Any) -> Tabled:
    """These rows as a layout shows them. values: of the table; those of a row come before them."""
    heads = [_said(head, values) for head in layout.columns]
    named = [{**values, **row} for row in rows]
    cells = [[_cell(cell, row) for cell in layout.columns.values()] for row in named]
    return Tabled(
        caption=_said(layout.caption, values),
        frame=pd.DataFrame({"": heads, " ": cells[0]})
        if layout.paired
        else pd.DataFrame(cells, columns=heads),
        numeric=[heads[i] for i in layout.numeric if i < len(heads)],
        row_ids=[written(layout.ids, row) for row in named] if layout.ids else [],
        paired=layout.paired,
    )


def _said(text: Text | str, values: Mapping[str, Any]) -> str:
    return say(text, **values) if isinstance(text, Text) else written(text, values)


def _cell(cell: Cell, row: Mapping[str, Any]) -> str:
    if isinstance(cell, str):
        return written(cell, row)
    texts, key = cell
    return say(texts[written(key, row)], **row)
