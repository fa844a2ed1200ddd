"""Tables as data: `tables.yaml` beside the code says how the rows that the code found are shown.

A table has a `caption` where a report shows it, `columns` (the key of a heading, or a template or plain word, and the template of its cells), which
columns are `numeric`, and the `ids` of its rows, a template too. A cell may `say` a key that is a template itself; a column
may be shown `if` a value holds. Captions, headings and cells are written with the values of the table, cells with those of
their row. A `paired` table has one row, whose headings stand beside its cells.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd
import yaml

from deadzone.language.catalogue import PACKAGE, say, written

TABLES = "tables.yaml"


@dataclass(frozen=True, eq=False)
class Tabled:
    """A table in words. frame: of texts. numeric: names of columns. row_ids: empty where its rows have none. paired: names
    and values, without a heading row."""

    caption: str
    frame: pd.DataFrame
    numeric: Sequence[str] = ()
    row_ids: Sequence[str] = ()
    paired: bool = False


def tabled(name: str, rows: Iterable[Mapping[Any, Any]], /, **values: Any) -> Tabled:
    """The table of a name, `package/folder.table`, with these rows."""
    folder, _, table = name.partition(".")
    return laid_out(_entries(folder)[table], rows, values)


@cache
def _entries(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PACKAGE.parent / folder / TABLES).read_text(encoding="utf-8"))
    return found


def laid_out(
    entry: Mapping[str, Any], rows: Iterable[Mapping[Any, Any]], values: Mapping[str, Any]
) -> Tabled:
    """A table as its entry says. values: of the table; those of a row come before them."""
    columns = {
        said(head, values): cell
        for head, cell in entry["columns"].items()
        if isinstance(cell, str) or "if" not in cell or values.get(cell["if"])
    }
    named = [{**values, **row} for row in rows]
    cells = [[_cell(cell, row) for cell in columns.values()] for row in named]
    heads, paired = list(columns), bool(entry.get("paired"))
    frame = pd.DataFrame({"": heads, " ": cells[0]}) if paired else pd.DataFrame(cells, columns=heads)
    ids = [written(entry["ids"], row) for row in named] if "ids" in entry else []
    numeric = [heads[i] for i in entry.get("numeric", ()) if i < len(heads)]
    return Tabled(said(entry.get("caption", ""), values), frame, numeric, ids, paired)


def said(key: str, values: Mapping[str, Any]) -> str:
    """The message of a key, or what a template says."""
    return say(key, **values) if "." in key and "{" not in key else written(key, values)


def _cell(cell: str | Mapping[str, str], row: Mapping[str, Any]) -> str:
    if isinstance(cell, str):
        return written(cell, row)
    return say(written(cell["say"], row), **row) if "say" in cell else written(cell["show"], row)
