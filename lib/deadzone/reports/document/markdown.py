"""A Markdown cell as Typst, read by the parser that makes the page, so that both say the same.

Every text is a Typst string, as everywhere. HTML within Markdown, and what else Typst has no word for, stays
the text that it is.
"""

from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any

from deadzone.reports.document.typst import array, string

FUNCTIONS = {
    "emphasis": "emph", "strong": "strong", "strikethrough": "strike", "block_quote": "quote.with(block: true)",
}  # fmt: skip
"""Typst's functions that wrap the children of a node, by its type."""


def markdown_typst(source: str) -> str:
    """A Markdown text as Typst code."""
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

    parse: Any = MarkdownWithMath
    return _all(parse(renderer=None).parse(source)[0])


def _all(nodes: Iterable[Mapping[str, Any]]) -> str:
    return "".join(map(_node, nodes))


def _node(node: Mapping[str, Any]) -> str:
    children = node.get("children", ())
    inner, raw, more = _all(children), node.get("raw", ""), node.get("attrs", {})
    match node["type"]:
        case "heading":
            return f"#heading(level: {max(1, more['level'] - 1)})[{inner}]"
        case "link":
            return f"#link({string(more['url'])})[{inner}]"
        case "codespan" | "inline_math":
            return f"#raw({string(raw)})"
        case "block_code" | "block_math":
            return f"#raw(block: true, {string(raw.strip(chr(10)))})"
        case "list":
            items = array(f"[{_all(item['children'])}]" for item in children)
            kind = f"enum.with(start: {more.get('start', 1)})" if more["ordered"] else "list"
            return f"#({kind})(..{items})"
        case "table":
            return _table(children[0]["children"], children[1]["children"])
        case "paragraph":
            return f"{inner}\n\n"
        case "linebreak":
            return "#linebreak()"
        case "softbreak" | "blank_line":
            return "\n"
        case "thematic_break":
            return "#line(length: 100%)"
        case wrapping if wrapping in FUNCTIONS:
            return f"#({FUNCTIONS[wrapping]})[{inner}]"
    return inner or f"#{string(unescape(raw))};"


def _table(heads: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]]) -> str:
    def cells(row: Iterable[Mapping[str, Any]]) -> str:
        return array(f"[{_all(cell['children'])}]" for cell in row)

    sides = array("true" if head["attrs"]["align"] == "right" else "false" for head in heads)
    below = array(cells(row["children"]) for row in rows)
    return f"#dz-grid((heads: {cells(heads)}, right: {sides}, rows: {below}, ids: (), paired: false))"
