"""A document as a PDF, without LaTeX and without a browser: laid out by Typst.

The template `templates/report.typ` is told the document as JSON. Figures stay vectors. The same
document always gives the same bytes.

No Typst is written here: the template reads values as JSON, where every text is a string, so
nothing that a program printed can become code. A Markdown cell is read by the parser that makes the
page, so that both say the same.
"""

import json
import re
from pathlib import Path
from typing import Any

from deadzone.errors import ReportError
from deadzone.language.formats import spaced
from deadzone.language.messages import _, speaking
from deadzone.report.document.display import Block, Figure, Names, Notes, Prose
from deadzone.report.document.document import Document
from deadzone.report.document.drawing import FAMILY, KOREAN, font_folder
from deadzone.report.document.html import unbroken
from deadzone.report.document.outputs import VERBATIM, Markdown, Part, markdown_nodes

TEMPLATE = Path(__file__).parent / "templates" / "report.typ"

TEXT_FONT = "Libertinus Serif"
"""A font that Typst brings itself, so that a PDF looks the same everywhere."""

UNSPACED = ("kind", "style", "id", "row_ids", "svg", "lines", "target")
"""What a part says that no reader reads as a sentence, or copies as it is."""

EPOCH_S = 0
"""Typst's own time stamp, where the document has no date: a publishing time would change the
bytes."""


def pdf(document: Document) -> bytes:
    """The PDF of a document, on A4.

    Raises ReportError if Typst refuses the document.
    """
    import typst

    values = template_input(document)
    try:
        written: bytes = typst.compile(
            str(TEMPLATE),
            root=str(TEMPLATE.parent),
            font_paths=[str(font_folder())] if KOREAN.search(values) else [],
            ignore_system_fonts=True,
            sys_inputs={"report": values},
            timestamp=EPOCH_S,
        )
    except (typst.TypstError, ValueError, RuntimeError) as error:
        raise ReportError(f"Typst cannot typeset the report: {error}") from error
    return bytes(written)


def template_input(document: Document) -> str:
    """The document and its fonts as JSON."""
    with speaking(document.language):
        values = {
            "title": _spaced(document.title.to_json()),
            "lang": document.language,
            "words": {
                "figure": _("Figure {n}", n=""),
                "table": _("Table {n}", n=""),
                "page": _("Page {page} of {pages}", page="\ue001", pages="\ue002"),
            },
            "parts": [part_values(part, document.names) for part in document.parts],
        }
    is_korean = KOREAN.search(json.dumps(values, ensure_ascii=False))
    fonts = [FAMILY] if document.language == "ko" else [TEXT_FONT, *([FAMILY] * bool(is_korean))]
    return json.dumps({**values, "fonts": fonts}, ensure_ascii=False)


def part_values(part: Part, names: Names) -> dict[str, Any]:
    """A part of a document; evidence is told as the links that the names make of it."""
    if isinstance(part, Markdown):
        return {"kind": "markdown", "nodes": list(map(_spaced_node, markdown_nodes(part.source)))}
    if not isinstance(part, Block):
        return {"kind": "printed", "text": part.text}
    values = {**_spaced(part.to_json()), "id": names.identity(part)}
    if isinstance(part, Prose):
        values["kind"] = Prose.kind
        values["paragraphs"] = [
            {"text": unbroken(str(one)), "links": names.links(one)} for one in part.paragraphs
        ]
    if isinstance(part, Notes):
        values["links"] = names.links(part)
    if isinstance(part, Figure):
        values["svg"] = _plain_svg(part.svg)
    return values


def _spaced(value: Any) -> Any:
    """A value of a part, every text that is read with thin spaces in its long numbers."""
    match value:
        case str():
            return spaced(value)
        case dict():
            return {
                name: each if name in UNSPACED else _spaced(each) for name, each in value.items()
            }
        case list() | tuple():
            return [_spaced(each) for each in value]
    return value


def _spaced_node(node: dict[str, Any]) -> dict[str, Any]:
    """A node of Markdown, its numbers not parted from their units."""
    raw = node["raw"] if node["type"] in VERBATIM else unbroken(node["raw"])
    return {**node, "raw": raw, "children": list(map(_spaced_node, node["children"]))}


def _plain_svg(svg: str) -> str:
    """A drawing as a file of its own, without the marks and scripts that are for a page."""
    unmarked = re.sub(r' (role|aria-label)="[^"]*"', "", svg)
    return re.sub(r"<script>.*?</script>", "", unmarked, flags=re.DOTALL)
