"""Blocks read back from the outputs of an executed notebook."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from deadzone.reports.document import display

PLAIN: dict[str, type[display.Block]] = {
    one.kind: one for one in (display.Title, display.Prose, display.Command)
}
"""Kinds of block that are made of texts alone, by their names."""


def block_of(bundle: Mapping[str, Any]) -> display.Block | None:
    """The block of a notebook output's MIME bundle; None if it holds none."""
    if display.MIME not in bundle:
        return None
    fields = dict(bundle[display.MIME])
    match fields.pop("kind"):
        case "table":
            return _table(fields)
        case "figure":
            return display.Figure(**{**fields, "svg": _drawing(str(bundle.get("text/html", "")))})
        case "regression":
            return display.Regression(**{**fields, "tables": tuple(map(_table, fields["tables"]))})
        case kind if kind in PLAIN:
            return TypeAdapter(PLAIN[kind]).validate_python(fields)
    return None


def _drawing(html: str) -> str:
    """The drawing within a figure's HTML, without what describes it there."""
    start, stop = html.find("<svg"), html.rfind("</svg>")
    svg = html[start : stop + len("</svg>")] if start >= 0 else ""
    return re.sub(r'^<svg role="img" aria-label="[^"]*"', "<svg", svg, count=1)


def _table(fields: Mapping[str, Any]) -> display.Table:
    import pandas as pd

    more = {name: value for name, value in fields.items() if name not in ("kind", "columns", "rows")}
    return display.Table(pd.DataFrame(fields["rows"], columns=fields["columns"], dtype=object), **more)
