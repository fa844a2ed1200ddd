"""Tables of a report, as the `tables.yaml` beside its code describes them; see `deadzone.language.tabling`."""

from collections.abc import Iterable, Mapping
from typing import Any

from deadzone.language.tabling import Tabled, tabled
from deadzone.reports.document.display import Table


def table_of(name: str, rows: Iterable[Mapping[Any, Any]], identity: str = "", /, **values: Any) -> Table:
    """The table of a name, `folder.table`, with these rows. identity: of the block, by default its name."""
    return shown(tabled(f"reports/{name}", rows, **values), identity or name.partition(".")[2])


def shown(table: Tabled, identity: str, caption: str = "") -> Table:
    """A table in words as a block. caption: in place of its own."""
    return Table(table.frame, caption or table.caption, table.numeric, identity, table.row_ids, table.paired)
