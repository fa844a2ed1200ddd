"""What a cell of a notebook shows, as a part of the report: blocks as they are, and plain output as
blocks."""

import re
import struct
from base64 import b64decode
from dataclasses import dataclass, replace
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
            f"A cell of the notebook failed with {output.ename}: {output.evalue}. It is not "
            "published."
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
