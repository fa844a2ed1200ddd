"""Blocks as accessible HTML: headings in order, tables with scopes, figures with a description."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from deadzone.reports.document.display import (
    Block,
    Claim,
    Command,
    Figure,
    Paragraph,
    Prose,
    Regression,
    Table,
    Title,
    unbroken,
)

if TYPE_CHECKING:
    from deadzone.reports.document.document import Names

THEMED_COLOURS = {
    "#1f2933": "ink",
    "#52606d": "muted",
    "#e4e7eb": "grid",
    "#ffffff": "paper",
    "white": "paper",
    "#33658a": "trial",
    "#b00020": "outlier",
    "#117a37": "recommended",
    "#0072b2": "linear",
    "#d55e00": "dead-zone",
    "#009e73": "breakthrough",
    "#6b6b6b": "plateau",
    "#aa3377": "reversal",
}
"""Colours of the project's figures, and the CSS variable of the page's style sheet that replaces each in the dark."""

BREAK_AFTER = re.compile(r"(?<=[_/.=])(?=[^\s_/.=]{3})")
"""A long name without spaces may be broken after these marks, never inside a word."""

LONG_CELL = 48
"""A cell with more letters than this, Korean ones counted twice, holds sentences, and keeps a width at which they can be read."""

LONG_WORD = 24
"""Only words longer than this are given places to break at; shorter ones fit any column."""


def block_html(block: Block, names: Names | None = None) -> str:
    """A block as HTML. names: numbers and anchors in the report; None in a notebook, where nothing is numbered."""
    match block:
        case Title():
            return _title(block, names)
        case Prose():
            return _prose(block, names)
        case Command():
            return _command(block)
        case Table():
            return _table(block, names)
        case Figure():
            return _figure(block, names)
        case Regression():
            return _regression(block, names)
    raise TypeError(f"{type(block).__name__} is no block of a report.")


def anchor(text: str) -> str:
    """An id for a heading: its letters and digits of any script, joined by hyphens."""
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "section"


def _title(block: Title, names: Names | None) -> str:
    facts = "".join(
        f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in block.facts
    )
    subtitle = f'<p class="dz-subtitle">{_text(block.subtitle)}</p>' if block.subtitle else ""
    doubts = "".join(f"<p>{_text(doubt)}</p>" for doubt in block.doubts)
    return (
        f'<header class="dz-title"><h1>{_text(block.title)}</h1>{subtitle}'
        + (f'<dl class="dz-facts-line">{facts}</dl>' if facts else "")
        + (f'<div class="dz-doubts" role="note">{doubts}</div>' if doubts else "")
        + (f'<div class="dz-abstract">{_paragraphs(block.abstract, names)}</div>' if block.abstract else "")
        + "</header>"
    )


def _prose(block: Prose, names: Names | None) -> str:
    style = f" dz-{block.style}" if block.style else ""
    return (
        f'<div class="dz-prose{style}">{_heading(block.heading, block.level, block.id)}'
        f"{_paragraphs(block.paragraphs, names)}</div>"
    )


def _command(block: Command) -> str:
    lines = "\n".join(_text(line) for line in block.lines)
    return f'<div class="dz-command">{_heading(block.heading, block.level, block.id)}<pre tabindex="0"><code>{lines}</code></pre></div>'


def _heading(text: str, level: int, identity: str) -> str:
    return f'<h{level} id="{_attribute(identity or anchor(text))}">{_text(text)}</h{level}>' if text else ""


def _paragraphs(paragraphs: Sequence[Paragraph], names: Names | None) -> str:
    return "".join(
        f"<p>{_text(str(part))}{_evidence(part, names) if isinstance(part, Claim) else ''}</p>"
        for part in paragraphs
    )


def _evidence(claim: Claim, names: Names | None) -> str:
    """Links to what a claim rests on; in a notebook, where nothing is numbered, there are none."""
    if names is None:
        return ""
    links = [
        f'<a href="{_attribute(names.address(item))}">{_text(names.text(item))}</a>'
        for item in claim.evidence
        if names.knows(item)
    ]
    return f' <span class="dz-evidence">[{", ".join(links)}]</span>' if links else ""


def _caption(text: str, number: str) -> str:
    return f'<span class="dz-number-label">{_text(number)}.</span> {_text(text)}' if number else _text(text)


def _number(block: Block, names: Names | None) -> str:
    return names.number(block) if names else ""


def _identity(block: Table | Figure | Regression, names: Names | None) -> str:
    identity = names.identity(block) if names else block.id
    return f' id="{_attribute(identity)}"' if identity else ""


def _table(block: Table, names: Names | None) -> str:
    caption = _caption(block.caption, _number(block, names))
    label = _attribute(block.caption)
    return (
        f'<figure class="dz-table"{_identity(block, names)}><figcaption>{caption}</figcaption>'
        f'<div class="dz-scroll" tabindex="0" role="region" aria-label="{label}">{_grid(block, names)}</div></figure>'
    )


def _grid(block: Table, names: Names | None, title: str = "") -> str:
    """The table element itself; title: a caption within it."""
    right = block.is_right
    base = names.identity(block) if names else block.id
    rows = "".join(
        _row(cells, right, f"{base}-{block.row_ids[i]}" if i < len(block.row_ids) else "")
        for i, cells in enumerate(block.rows)
    )
    head = "".join(
        f'<th scope="col"{_side(is_right)}>{_text(name)}</th>'
        for name, is_right in zip(block.columns, right, strict=True)
    )
    caption = f"<caption>{_text(title)}</caption>" if title else ""
    shown = "" if block.paired else f"<thead><tr>{head}</tr></thead>"
    kind = ' class="dz-paired"' if block.paired else ""
    return f"<table{kind}>{caption}{shown}<tbody>{rows}</tbody></table>"


def _row(cells: Sequence[str], right: Sequence[bool], identity: str) -> str:
    first = f'<th scope="row"{_side(right[0])}>{_text(cells[0])}</th>'
    rest = "".join(
        f"<td{_side(side, cell)}>{_text(cell)}</td>" for cell, side in zip(cells[1:], right[1:], strict=True)
    )
    return f"<tr{f' id={chr(34)}{_attribute(identity)}{chr(34)}' if identity else ''}>{first}{rest}</tr>"


def _side(is_right: bool, cell: str = "") -> str:
    """The class of a cell: a number to the right, or sentences that a narrow page must not squeeze."""
    if is_right:
        return ' class="dz-number"'
    width = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in cell)
    return ' class="dz-sentences"' if width > LONG_CELL else ""


def _figure(block: Figure, names: Names | None) -> str:
    drawing = themed(apart(block.svg, names.identity(block))) if names else block.svg
    drawing = drawing.replace("<svg ", f'<svg role="img" aria-label="{_attribute(block.description)}" ', 1)
    caption = _caption(block.caption, _number(block, names))
    return (
        f'<figure class="dz-figure"{_identity(block, names)}><div class="dz-drawing" tabindex="0" role="group" aria-label="{_attribute(_number(block, names) or block.caption)}">{drawing}</div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _regression(block: Regression, names: Names | None) -> str:
    grids = "".join(
        f'<div class="dz-scroll" tabindex="0" role="region" aria-label="{_attribute(table.caption)}">'
        f"{_grid(table, names, table.caption)}</div>"
        for table in block.tables
    )
    notes = "".join(
        f'<p class="dz-note-head">{_text(heading)}</p><ul>{"".join(f"<li>{_text(s)}</li>" for s in said)}</ul>'
        for heading, said in block.notes.items()
        if said
    )
    caption = _caption(block.caption, _number(block, names))
    return (
        f'<figure class="dz-table dz-regression"{_identity(block, names)}><figcaption>{caption}</figcaption>'
        f'<div class="dz-sheet">{grids}{f"<div class={chr(34)}dz-notes{chr(34)}>{notes}</div>" if notes else ""}</div></figure>'
    )


def apart(svg: str, prefix: str) -> str:
    """A drawing whose inner ids differ from those of the other drawings on a page."""
    named = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    return re.sub(r'(url\(|xlink:href="|\bhref=")#', rf"\1#{prefix}-", named)


def themed(svg: str, colours: Mapping[str, str] = THEMED_COLOURS) -> str:
    """A drawing whose colours follow the page into the dark; alone, it keeps its own."""

    def variable(match: re.Match[str]) -> str:
        name = colours.get(match.group(2).lower())
        return f"{match.group(1)}var(--fig-{name}, {match.group(2)})" if name else match.group(0)

    return re.sub(r"((?:fill|stroke): )(#[0-9a-fA-F]{6}|white)", variable, svg)


def _text(text: object) -> str:
    """Escaped, with places to break in long names, and none between a number and its unit."""
    words = unbroken(str(text)).split(" ")
    return " ".join(
        "<wbr>".join(html.escape(part) for part in BREAK_AFTER.split(word))
        if len(word) > LONG_WORD
        else html.escape(word)
        for word in words
    )


def _attribute(text: object) -> str:
    return html.escape(str(text), quote=True)
