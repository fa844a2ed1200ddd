"""A document as the values that the template `report.typ` lays out.

No Typst is written here: the template reads the values as JSON, where every text is a string, so nothing that a program
printed can become code. A Markdown cell is read by the parser that makes the page, so that both say the same.
"""

import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block, Figure, Names, Paragraph, Prose
from deadzone.reports.document.document import Document, Markdown, Part
from deadzone.reports.document.html import evidence, unbroken

VERBATIM = ("codespan", "inline_math", "block_code", "block_math")
"""Nodes of Markdown in which an entity of HTML, such as `&amp;`, is what it is."""


def told(document: Document) -> dict[str, Any]:
    """What the template is told of a document, but for its fonts."""
    title = document.title
    return {
        "title": {**title.to_json(), "abstract": _claims(title.abstract, document.names)},
        "lang": document.language,
        "words": {
            "abstract": say("report.abstract_head"),
            "figure": say("report.figure", n=""),
            "table": say("report.table", n=""),
            "page": say("report.page_of", page="\u0001", pages="\u0002"),
        },
        "parts": [part_told(part, document.names) for part in document.parts],
    }


def part_told(part: Part, names: Names) -> dict[str, Any]:
    """A part of a document; evidence is told as the links that the names make of it."""
    if isinstance(part, Markdown):
        return {"kind": "markdown", "nodes": markdown_nodes(part.source)}
    if not isinstance(part, Block):
        return {"kind": "printed", "text": part.text}
    values = {**part.to_json(), "id": names.identity(part)}
    if isinstance(part, Prose):
        values["paragraphs"] = _claims(part.paragraphs, names)
    if isinstance(part, Figure):
        values["svg"] = _plain_svg(part.svg)
    return values


def markdown_nodes(source: str) -> list[dict[str, Any]]:
    """The syntax tree of a Markdown text. HTML within it, and what else the template has no word for, stays the text that
    it is."""
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

    parse: Any = MarkdownWithMath
    return [_node(node) for node in parse(renderer=None).parse(source)[0]]


def _node(node: Mapping[str, Any]) -> dict[str, Any]:
    raw = node.get("raw", "")
    text = raw if node["type"] in VERBATIM else unescape(raw)
    return {**node, "raw": text, "children": [_node(child) for child in node.get("children", ())]}


def _claims(paragraphs: Sequence[Paragraph], names: Names) -> list[dict[str, Any]]:
    return [{"text": unbroken(str(said)), "links": _links(said, names)} for said in paragraphs]


def _links(said: Paragraph, names: Names) -> list[dict[str, Any]]:
    return [
        {"text": names.text(item), "target": item.target, "is_file": names.is_file(item)}
        for item in evidence(said)
        if names.knows(item)
    ]


def _plain_svg(svg: str) -> str:
    """A drawing as a file of its own, without the marks and scripts that are for a page."""
    unmarked = re.sub(r' (role|aria-label)="[^"]*"', "", svg)
    return re.sub(r"<script>.*?</script>", "", unmarked, flags=re.DOTALL)
