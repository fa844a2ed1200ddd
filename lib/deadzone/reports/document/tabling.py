"""Tables as data: `tables.yaml` beside the code of a report says how the rows that the code found are shown.

A table has a `caption`, `columns` (the key of a heading, or a template, and the template of its cells), which columns are
`numeric`, and the `ids` of its rows, a template too. A cell may `say` a key that is a template itself; a column may be shown
`if` a value holds. Captions, headings and cells are written with the values of the table, cells with those of their row.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from deadzone.language.catalogue import say, written
from deadzone.reports.document.display import Table

REPORTS = Path(__file__).resolve().parent.parent
TABLES = "tables.yaml"


def table_of(name: str, rows: Iterable[Mapping[Any, Any]], identity: str = "", /, **values: Any) -> Table:
    """The table of a name, `folder.table`, with these rows. identity: of the block, by default its name."""
    folder, _, table = name.partition(".")
    return laid_out(_entries(folder)[table], rows, identity or table, values)


@cache
def _entries(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((REPORTS / folder / TABLES).read_text(encoding="utf-8"))
    return found


def laid_out(
    entry: Mapping[str, Any], rows: Iterable[Mapping[Any, Any]], identity: str, values: Mapping[str, Any]
) -> Table:
    """A table as its entry says. values: of the table; those of a row come before them."""
    columns = {
        said(head, values): cell
        for head, cell in entry["columns"].items()
        if isinstance(cell, str) or "if" not in cell or values.get(cell["if"])
    }
    named = [{**values, **row} for row in rows]
    cells = [[_cell(cell, row) for cell in columns.values()] for row in named]
    ids = [written(entry["ids"], row) for row in named] if "ids" in entry else ()
    heads = list(columns)
    numeric = [heads[i] for i in entry.get("numeric", ()) if i < len(heads)]
    caption = said(entry["caption"], values)
    return Table(pd.DataFrame(cells, columns=heads), caption, numeric=numeric, id=identity, row_ids=ids)


def said(key: str, values: Mapping[str, Any]) -> str:
    """The message of a key, or what a template says."""
    return written(key, values) if "{" in key else say(key, **values)


def _cell(cell: str | Mapping[str, str], row: Mapping[str, Any]) -> str:
    if isinstance(cell, str):
        return written(cell, row)
    return say(written(cell["say"], row), **row) if "say" in cell else written(cell["show"], row)
