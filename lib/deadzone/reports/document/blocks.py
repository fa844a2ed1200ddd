"""Blocks read back from the outputs of an executed notebook."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from deadzone.reports.document import display


def block_of(bundle: Mapping[str, Any]) -> display.Block | None:
    """The block of a notebook output's MIME bundle; None if it holds none."""
    return _block(bundle[display.MIME], bundle) if display.MIME in bundle else None


def _block(record: Mapping[str, Any], bundle: Mapping[str, Any]) -> display.Block | None:
    fields = {name: value for name, value in record.items() if name != "kind"}
    match record.get("kind"):
        case "title":
            return display.Title(**{**fields, "abstract": _paragraphs(fields["abstract"]),
                            "doubts": tuple(fields["doubts"]), "facts": tuple(map(tuple, fields["facts"]))})  # fmt: skip
        case "prose":
            return display.Prose(**{**fields, "paragraphs": _paragraphs(fields["paragraphs"])})
        case "command":
            return display.Command(**{**fields, "lines": tuple(fields["lines"])})
        case "table":
            return _table(fields)
        case "figure":
            return display.Figure(**{**fields, "svg": _drawing(str(bundle.get("text/html", "")))})
        case "regression":
            tables = [_table({k: v for k, v in t.items() if k != "kind"}) for t in fields["tables"]]
            return display.Regression(**{**fields, "tables": tuple(tables)})
    return None


def _drawing(html: str) -> str:
    """The drawing within a figure's HTML, without what describes it there."""
    start, stop = html.find("<svg"), html.rfind("</svg>")
    svg = html[start : stop + len("</svg>")] if start >= 0 else ""
    return re.sub(r'^<svg role="img" aria-label="[^"]*"', "<svg", svg, count=1)


def _table(fields: Mapping[str, Any]) -> display.Table:
    import pandas as pd

    more = {name: value for name, value in fields.items() if name not in ("columns", "rows")}
    return display.Table(pd.DataFrame(fields["rows"], columns=fields["columns"], dtype=object), **more)


def _paragraphs(records: Sequence[Any]) -> tuple[display.Paragraph, ...]:
    return tuple(
        record
        if isinstance(record, str)
        else display.Claim(
            record["text"], tuple(display.Evidence(**evidence) for evidence in record["evidence"])
        )
        for record in records
    )
