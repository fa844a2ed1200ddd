"""HTML of blocks, of the index and of front pages, from the templates beside this module; and what
is escaped in it how.

Where a line of a report may break, and where it must not.
"""

import html
import re
from pathlib import Path
from unicodedata import east_asian_width

from deadzone import style
from deadzone.language.formats import spaced
from deadzone.language.rendering import attribute

NUMBER_AND_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|×|[a-zµ]?s|[KMG]?i?B|cores?|threads?|workers?|min|h)(?!\w))"
)
"""The space between a number and its unit."""

BREAK_AFTER = re.compile(r"(?<=[_/.=])(?=[^\s_/.=]{3})")
"""A long name without spaces may be broken after these marks, never inside a word."""

CODE = re.compile(r"`([^`]+)`")
"""What a reader types, in a sentence."""

TEMPLATES = Path(__file__).parent / "templates"

LONG_WORD = 24
"""Only words longer than this are given places to break at; shorter ones fit any column."""

THEMED_COLOURS = {
    style.INK: "ink",
    style.MUTED: "muted",
    style.RC_PARAMS["grid.color"]: "grid",
    "#FFFFFF": "paper",
    "WHITE": "paper",
    style.TRIAL_COLOUR: "trial",
    style.OUTLIER_COLOUR: "outlier",
    style.RECOMMENDED_COLOUR: "recommended",
    **{
        phase_style.colour: label.replace("_", "-")
        for label, phase_style in style.PHASE_STYLES.items()
    },
}
"""Colours of the project's figures, in capital letters, each with the CSS variable of the page that
replaces it in the dark."""

LONG_CELL = 48
"""A cell with more letters than this, Korean ones counted twice, holds sentences, and keeps a width
at which they can be read."""


def unbroken(text: str) -> str:
    """A text in which a number is not parted from its unit at the end of a line, and long numbers
    have thin spaces."""
    return NUMBER_AND_UNIT.sub("\N{NO-BREAK SPACE}", spaced(text))


def breakable(text: str) -> list[list[str]]:
    """The words of a text, each cut where a line may break within it; numbers stay with their
    units."""
    return [
        BREAK_AFTER.split(word) if len(word) > LONG_WORD else [word]
        for word in unbroken(text).split(" ")
    ]


def anchor(text: str) -> str:
    """An id for a heading: its letters and digits of any script, joined by hyphens."""
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "section"


def identified(identity: str) -> str:
    """The attribute of an anchor; nothing without one."""
    return f' id="{attribute(identity)}"' if identity else ""


def side(is_right: bool, cell: str = "") -> str:
    """The class of a cell: a number to the right, or sentences that a narrow page must not
    squeeze."""
    if is_right:
        return ' class="dz-number"'
    width = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in cell)
    return ' class="dz-sentences"' if width > LONG_CELL else ""


def apart(svg: str, prefix: str) -> str:
    """A drawing whose inner ids differ from those of the other drawings on a page."""
    prefix = anchor(prefix)
    named = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    return re.sub(r'(url\(|xlink:href="|\bhref=")#', rf"\1#{prefix}-", named)


def themed(svg: str) -> str:
    """A drawing whose colours follow the page into the dark; alone, it keeps its own."""

    def variable(match: re.Match[str]) -> str:
        name = THEMED_COLOURS.get(match.group(2).upper())
        return f"{match.group(1)}var(--fig-{name}, {match.group(2)})" if name else match.group(0)

    return re.sub(r"((?:fill|stroke): )(#[0-9a-fA-F]{6}|white)", variable, svg)


def described(svg: str, words: str) -> str:
    """A drawing that says what it shows."""
    return svg.replace("<svg ", f'<svg role="img" aria-label="{attribute(words)}" ', 1)


def text(words: object) -> str:
    """Escaped, with places to break in long names, and none between a number and its unit."""
    return " ".join("<wbr>".join(map(html.escape, parts)) for parts in breakable(str(words)))


def sentence(words: object) -> str:
    """As `text`, with what stands in backquotes as code."""
    return CODE.sub(r"<code>\1</code>", text(words))


FILTERS = (anchor, identified, side, text, sentence)
"""What a template of blocks knows beside `deadzone.language.rendering`'s own."""
