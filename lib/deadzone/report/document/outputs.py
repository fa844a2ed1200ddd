"""What a cell of a notebook shows, as a part of the report: blocks as they are, and plain output as
blocks."""

import io
import re
import struct
import tokenize
from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from html import unescape
from itertools import count, takewhile
from typing import Any

from deadzone.errors import ReportError
from deadzone.report.document.display import PLAIN, Block, Figure, Regression, Table, block_of
from deadzone.report.document.drawing import SVG, compacted

PNG, HTML, MARKDOWN, TEXT = "image/png", "text/html", "text/markdown", "text/plain"

WIDGET = "application/vnd.jupyter.widget-view+json"
"""Menus and sliders, which need a kernel: on a page they are nothing to read."""

LEFTOVER = re.compile(
    r"<(Axes|Figure size|seaborn\.|matplotlib\.|mpl_toolkits\.)|<\w*Container object "
    r"of|\bText\(-?\d"
)
"""What drawing leaves as the value of a cell, such as `<Axes: xlabel='threads'>`: nothing to
read."""

NUMBER = re.compile(r"[-\u2212+.,\d\s%^]*")

MATHTEXT = re.compile(r"\\mathdefault|[${}]")
"""What matplotlib sets around the labels of a logarithmic axis: $\\mathdefault{10^{3}}$."""


@dataclass(frozen=True)
class Markdown:
    """A Markdown cell, or Markdown that a cell shows."""

    source: str


@dataclass(frozen=True)
class Printed:
    """Text that a cell printed, or an object that is no block. html: the object's own, for the page
    only."""

    text: str
    html: str = ""


Part = Block | Markdown | Printed


def is_captioned(output: Any) -> bool:
    """Whether an output is a plain table or figure, which takes its caption from the notebook."""
    return not {SVG, PNG, PLAIN}.isdisjoint(output.get("data", {}))


def part_of(output: Any, caption: str) -> Part | None:
    """An output as a part of the report; None for what is nothing to read. caption: of a plain
    table or figure.

    Raises ReportError if the cell failed.
    """
    if output.output_type == "error":
        raise ReportError(
            f"The notebook failed with {output.ename}: {output.evalue}. It is not published."
        )
    if output.output_type == "stream":
        return Printed(output.text) if output.name == "stdout" and output.text.strip() else None
    data = output.get("data", {})
    block = block_of(data)
    if isinstance(block, Table | Regression) and PLAIN in data:
        return replace(block, caption=f"{caption} {block.caption}".strip())
    return None if WIDGET in data else block or _plain(data, caption)


def _plain(data: Any, caption: str) -> Part | None:
    text, html = str(data.get(TEXT, "")), str(data.get(HTML, ""))
    if SVG in data:
        svg = str(data[SVG])
        drawing = svg[svg.index("<svg") :]
        return Figure(compacted(drawing), caption, _described(drawing, caption))
    if PNG in data:
        return Figure(_wrapped_png(str(data[PNG])), caption, caption or text)
    if MARKDOWN in data:
        return Markdown(str(data[MARKDOWN]))
    if OBJECT.fullmatch(text):  # words that say nothing of it
        text = str(data.get(LATEX, "" if html else text))
    return None if LEFTOVER.search(text) else Printed(text, html)


def _described(svg: str, caption: str) -> str:
    """The caption, and the words in a drawing of matplotlib, which keeps each as a comment beside
    its outlines."""
    texts = [MATHTEXT.sub("", text) for text in re.findall(r"<!-- (.*?) -->", svg)]
    words = [text for text in texts if not NUMBER.fullmatch(text)]
    sentence = f"In the figure: {', '.join(dict.fromkeys(words))}." if words else ""
    return f"{caption} {sentence}".strip()


def _wrapped_png(encoded: str) -> str:
    """A PNG inside an SVG of its size."""
    compact = "".join(encoded.split())
    width, height = struct.unpack(">II", b64decode(compact[:64])[16:24])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}"><image width="{width}" height="{height}" '
        f'href="data:image/png;base64,{compact}"/></svg>'
    )


OBJECT, LATEX = re.compile(r"<[\w.]+( object)?( at 0x[0-9a-f]+)?>"), "text/latex"

VERBATIM = ("codespan", "inline_math", "block_code", "block_math")
"""Nodes of Markdown in which an entity of HTML, such as `&amp;`, is what it is."""

LONGEST_CAPTION = 240
"""A paragraph of more letters than this is text to read, not a caption."""

TITLE = re.compile(r"\A\s*#[ \t]+([^\n]+)\n*")
"""The heading of level 1 that a notebook begins with."""

HEADING = re.compile(r"\s*(#{1,6})[ \t]+[^\n]+")
"""A heading that a text begins with."""

NO_PARAGRAPH = re.compile(r"#|[-*+>|] ?|\d+[.)] |```|~~~|\$\$|!\[|<|    ")
"""How a block of Markdown begins that is no paragraph."""

NOTE_TO_TOOLS = re.compile(r"#\s*(noqa|type:|fmt:|ruff:|pragma)")
"""Comments that are for programs, not for readers."""


def markdown_nodes(source: str) -> list[dict[str, Any]]:
    """The syntax tree of a Markdown text. HTML within it, and what else the template has no word
    for, stays the text that it is."""
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

    parse: Any = MarkdownWithMath
    return [_node(node) for node in parse(renderer=None).parse(source)[0]]


def _node(node: Mapping[str, Any]) -> dict[str, Any]:
    raw = node.get("raw", "")
    text = raw if node["type"] in VERBATIM else unescape(raw)
    return {**node, "raw": text, "children": [_node(child) for child in node.get("children", ())]}


def plain_text(source: str) -> str:
    """The words of a Markdown text, without its marks."""
    return " ".join(_words(markdown_nodes(source)).split())


def _words(nodes: Iterable[Mapping[str, Any]]) -> str:
    breaks = ("softbreak", "linebreak", "blank_line")
    return "".join(
        " " if node["type"] in breaks else str(node["raw"]) or _words(node["children"])
        for node in nodes
    )


def without_title(source: str) -> tuple[str, str]:
    """The title that a Markdown text begins with, empty if there is none, and the rest of the
    text."""
    match = TITLE.match(source)
    return (plain_text(match[1]), source[match.end() :]) if match else ("", source)


def without_last_paragraph(source: str) -> tuple[str, str]:
    """The rest of a Markdown text, and the words of its last paragraph, which can be a caption;
    empty if it ends otherwise."""
    rest, _, last = ("\n\n" + source.strip()).rpartition("\n\n")
    if NO_PARAGRAPH.match(last.lstrip("\n")) or rest.count("```") % 2:
        return source, ""
    words = plain_text(last)
    return (rest.strip(), words) if 0 < len(words) <= LONGEST_CAPTION else (source, "")


def last_heading(source: str) -> str:
    """The last heading of a Markdown text; empty if there is none."""
    headings = [node for node in markdown_nodes(source) if node["type"] == "heading"]
    return _words(headings[-1]["children"]).strip() if headings else ""


def opening_heading(source: str) -> str:
    """The heading that a Markdown text begins with, as it is written; empty if there is none."""
    match = HEADING.match(source)
    return match[0].strip() if match else ""


def is_above(source: str, heading: str) -> bool:
    """Whether a Markdown text begins with a heading of the level of another, or of a higher one."""
    match, other = HEADING.match(source), HEADING.match(heading)
    return match is not None and other is not None and len(match[1]) <= len(other[1])


def last_comment(code: str) -> str:
    """The last comment of a cell that stands on lines of its own, in one line; empty if there is
    none."""
    comments: dict[int, str] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            is_alone = token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
            if is_alone and not NOTE_TO_TOOLS.match(token.string):
                comments[token.start[0]] = token.string.lstrip("#").strip()
    except (tokenize.TokenError, SyntaxError):  # a cell of IPython's own words, such as %matplotlib
        return ""
    lines = [*takewhile(comments.__contains__, count(max(comments, default=0), -1))]
    return " ".join(comments[line] for line in reversed(lines)).strip()
