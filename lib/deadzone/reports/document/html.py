"""The pieces of HTML that blocks are made of: headings in order, tables with scopes, links to evidence.

Where a line of a report may break, and where it must not.
"""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Protocol
from unicodedata import east_asian_width

NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=(?:%|×|[a-zµ]?s|[KMG]?i?B|cores?|threads?|workers?|min|h)(?!\w))")
"""The space between a number and its unit."""

BREAK_AFTER = re.compile(r"(?<=[_/.=])(?=[^\s_/.=]{3})")
"""A long name without spaces may be broken after these marks, never inside a word."""

LONG_WORD = 24
"""Only words longer than this are given places to break at; shorter ones fit any column."""


def unbroken(text: str) -> str:
    """A text in which a number is not parted from its unit at the end of a line."""
    return NUMBER_AND_UNIT.sub("\N{NO-BREAK SPACE}", text)


def breakable(text: str) -> list[list[str]]:
    """The words of a text, each cut where a line may break within it; numbers stay with their units."""
    return [
        BREAK_AFTER.split(word) if len(word) > LONG_WORD else [word] for word in unbroken(text).split(" ")
    ]


Linked = tuple[str, Sequence[tuple[str, str]]]
"""A paragraph's text, and the addresses and texts of its links."""


class Grid(Protocol):
    """Ready texts in rows and columns."""

    @property
    def paired(self) -> bool: ...
    @property
    def row_ids(self) -> Sequence[str]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def rows(self) -> list[list[str]]: ...
    @property
    def is_right(self) -> list[bool]: ...


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

LONG_CELL = 48
"""A cell with more letters than this, Korean ones counted twice, holds sentences, and keeps a width at which they can be read."""


def anchor(text: str) -> str:
    """An id for a heading: its letters and digits of any script, joined by hyphens."""
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "section"


def heading(words: str, level: int, identity: str) -> str:
    """A heading with its anchor; nothing where there are no words."""
    return f'<h{level} id="{attribute(identity or anchor(words))}">{text(words)}</h{level}>' if words else ""


def paragraphs(said: Sequence[Linked]) -> str:
    """Paragraphs, each followed by the links to what it rests on."""
    return "".join(f"<p>{text(words)}{_links(links)}</p>" for words, links in said)


def _links(links: Sequence[tuple[str, str]]) -> str:
    shown = [f'<a href="{attribute(address)}">{text(words)}</a>' for address, words in links]
    return f' <span class="dz-evidence">[{", ".join(shown)}]</span>' if shown else ""


def caption(words: str, number: str) -> str:
    """A caption behind its number."""
    return f'<span class="dz-number-label">{text(number)}.</span> {text(words)}' if number else text(words)


def table(grid: Grid, identity: str, title: str = "") -> str:
    """A table element itself; identity: its anchor, which those of its rows begin with. title: a caption within it."""
    rows = "".join(
        _row(cells, grid.is_right, f"{identity}-{grid.row_ids[i]}" if i < len(grid.row_ids) else "")
        for i, cells in enumerate(grid.rows)
    )
    head = "".join(
        f'<th scope="col"{_side(is_right)}>{text(name)}</th>'
        for name, is_right in zip(grid.columns, grid.is_right, strict=True)
    )
    shown = "" if grid.paired else f"<thead><tr>{head}</tr></thead>"
    kind = ' class="dz-paired"' if grid.paired else ""
    within = f"<caption>{text(title)}</caption>" if title else ""
    return f"<table{kind}>{within}{shown}<tbody>{rows}</tbody></table>"


def scrolled(label: str, inside: str) -> str:
    """What may be wider than the page, in a region of its own."""
    return f'<div class="dz-scroll" tabindex="0" role="region" aria-label="{attribute(label)}">{inside}</div>'


def identified(identity: str) -> str:
    """The attribute of an anchor; nothing without one."""
    return f' id="{attribute(identity)}"' if identity else ""


def _row(cells: Sequence[str], right: Sequence[bool], identity: str) -> str:
    first = f'<th scope="row"{_side(right[0])}>{text(cells[0])}</th>'
    rest = "".join(
        f"<td{_side(side, cell)}>{text(cell)}</td>" for cell, side in zip(cells[1:], right[1:], strict=True)
    )
    return f"<tr{identified(identity)}>{first}{rest}</tr>"


def _side(is_right: bool, cell: str = "") -> str:
    """The class of a cell: a number to the right, or sentences that a narrow page must not squeeze."""
    if is_right:
        return ' class="dz-number"'
    width = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in cell)
    return ' class="dz-sentences"' if width > LONG_CELL else ""


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


def text(words: object) -> str:
    """Escaped, with places to break in long names, and none between a number and its unit."""
    return " ".join("<wbr>".join(map(html.escape, parts)) for parts in breakable(str(words)))


def attribute(words: object) -> str:
    """Escaped, to stand between double quotes."""
    return html.escape(str(words), quote=True)
