"""A page of titled tables and notes, as plain text for a terminal and as HTML for a notebook or
report.

The HTML has no styles or scripts of its own; its classes (`dz-summary`, `dz-table`, `dz-facts`,
`dz-notes`) are what a report's style sheet refers to.
"""

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pandas as pd

from deadzone.language.messages import Message, ngettext, spoken
from deadzone.language.rendering import rendered
from deadzone.language.tabling import Tabled
from deadzone.visible import visible

LEAST_WIDTH, USUAL_WIDTH, MOST_WIDTH = 40, 88, 120
"""Characters of the text page: as wide as the terminal within these bounds, and the usual width
where there is none."""

MOST_ROWS = 10
"""Of a longer table the page prints the first so many and counts the rest."""

LEAST_COLUMN = 12
"""A column of words is not made narrower."""

TEMPLATE = Path(__file__).with_suffix(".html.j2")
GAP = "  "


@dataclass(frozen=True, eq=False)
class Page:
    """Titled tables and notes: prints as text, shows as HTML. notes: sentences by heading."""

    title: str
    sections: Sequence[Tabled]
    notes: Mapping[str, Sequence[str]]

    def __str__(self) -> str:
        """The page as plain text, as wide as the terminal."""
        return self.text(MOST_ROWS)

    def text(self, most_rows: int | None = None) -> str:
        """The page as plain text, as wide as the terminal; a heading without sentences is left out.

        most_rows: of a table; None for all of them.
        """
        width = page_width()
        title = [line.center(width).rstrip() for line in textwrap.wrap(visible(self.title), width)]
        lines = ["=" * width, *title, "=" * width]
        for section in self.sections:
            rows = (
                _pairs_text(section.frame, width)
                if section.paired
                else _table_text(section.frame, width, most_rows)
            )
            caption = textwrap.wrap(visible(section.caption), width)
            lines += [*caption, "-" * width, *rows, "-" * width]
        for heading, sentences in self.notes.items():
            if sentences:
                lines.append(f"{heading}:")
                for sentence in map(visible, map(translated, sentences)):
                    lines += textwrap.wrap(
                        sentence, width, initial_indent="  - ", subsequent_indent="    "
                    )
        lines.append("=" * width)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The page as one HTML section, every text escaped."""
        facts = {"title": self.title, "tables": self.sections, "notes": self.notes}
        return rendered(TEMPLATE, is_number, translated, **facts)


def page_width() -> int:
    """Characters of a line: those of the terminal, within bounds."""
    return min(max(shutil.get_terminal_size((USUAL_WIDTH, 24)).columns, LEAST_WIDTH), MOST_WIDTH)


def wrapped(text: str) -> str:
    """A sentence, or several in lines, that fit the page."""
    return "\n".join(
        textwrap.fill(visible(line), page_width(), subsequent_indent="  ")
        for line in text.splitlines()
    )


class Paged:
    """What shows as a page: it prints as the page's text, and a notebook shows its HTML."""

    def page(self) -> Page:
        """The page, in the language spoken."""
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.page())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()


def _table_text(table: pd.DataFrame, width: int, most_rows: int | None) -> list[str]:
    """The rows of a table in lines of a width; columns that do not fit beside the others stand
    below them, beside the first."""
    shown = table if most_rows is None else table.iloc[:most_rows]
    texts = {str(name): [str(name), *map(str, shown[name])] for name in shown.columns}
    right = {name: all(map(is_number, cells)) for name, (_, *cells) in texts.items()}
    wide = {name: max(map(len, cells)) for name, cells in texts.items()}
    for name in sorted((name for name in wide if not right[name]), key=lambda name: -wide[name]):
        over = sum(wide.values()) + len(GAP) * (len(wide) - 1) - width
        longest = max(len(word) for text in texts[name] for word in text.split() or [""])
        wide[name] = min(
            wide[name], max(wide[name] - max(over, 0), longest, min(LEAST_COLUMN, wide[name]))
        )
    lines: list[str] = []
    for block in _blocks(wide, width):
        for cells in zip(*(texts[name] for name in block), strict=True):
            lines += _row(dict(zip(block, cells, strict=True)), block, right)
    if len(shown) < len(table):
        lines.append(
            ngettext(
                "... and {n:count} row more (--details)",
                "... and {n:count} rows more (--details)",
                n=len(table) - len(shown),
            )
        )
    return lines


def _blocks(wide: dict[str, int], width: int) -> list[dict[str, int]]:
    """Columns that fit beside each other, by name with their widths; the first column begins each
    block."""
    (first, own), *others = ((name, min(size, width)) for name, size in wide.items())
    blocks = [{first: own}]
    for name, size in others:
        block = blocks[-1]
        if len(block) > 1 and sum(block.values()) + len(GAP) * len(block) + size > width:
            blocks.append(block := {first: own})
        block[name] = min(size, max(width - own - len(GAP), 1))
    return blocks


def _row(cells: dict[str, str], wide: dict[str, int], right: dict[str, bool]) -> list[str]:
    """The cells of a row in as many lines as the longest takes."""
    pieces = {name: textwrap.wrap(cells[name], wide[name]) or [""] for name in wide}
    return [
        GAP.join(
            text.rjust(wide[name]) if right[name] else text.ljust(wide[name])
            for name, text in zip(wide, line, strict=True)
        ).rstrip()
        for line in zip_longest(*pieces.values(), fillvalue="")
    ]


def _pairs_text(table: pd.DataFrame, width: int) -> list[str]:
    """Name and value pairs in two columns; a pair too long for half the width gets a line of its
    own."""
    pairs = [
        f"{name}:  {value}" for name, value in zip(table.iloc[:, 0], table.iloc[:, 1], strict=True)
    ]
    half, has_room = width // 2, False
    lines: list[str] = []
    for pair in pairs:
        if has_room and len(pair) < half:
            lines[-1] = f"{lines[-1].ljust(half)}{pair}"
            has_room = False
        else:
            lines += textwrap.wrap(pair, width, subsequent_indent="  ")
            has_room = len(pair) < half
    return lines


def translated(sentence: str) -> str:
    """A sentence in the language spoken when the page is made."""
    return sentence.translated(spoken()) if isinstance(sentence, Message) else sentence


def is_number(text: str) -> bool:
    bare = text.lstrip("-<>").removesuffix("%").rstrip().replace(",", "").replace(".", "", 1)
    return text == "-" or bare.isdigit()
