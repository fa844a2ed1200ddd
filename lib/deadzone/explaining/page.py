"""A page of titled tables and notes, as plain text for a terminal and as HTML for a notebook or report.

The HTML has no styles or scripts of its own; its classes (`dz-summary`, `dz-table`, `dz-facts`,
`dz-notes`) are what a report's style sheet refers to.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from deadzone.language.catalogue import Message, spoken
from deadzone.language.rendering import rendered
from deadzone.language.tabling import Tabled
from deadzone.visible import visible

WIDTH = 88
"""Characters of the text page: fits a terminal split in two on a wide screen."""

TEMPLATE = Path(__file__).with_suffix(".html.j2")
GAP = "  "


@dataclass(frozen=True, eq=False)
class Page:
    """Titled tables and notes: prints as text, shows as HTML. notes: sentences by heading."""

    title: str
    sections: Sequence[Tabled]
    notes: Mapping[str, Sequence[str]]

    def __str__(self) -> str:
        """The page as plain text; a heading without sentences is left out."""
        lines = ["=" * WIDTH, visible(self.title).center(WIDTH).rstrip(), "=" * WIDTH]
        for section in self.sections:
            lines += [section.caption, "-" * WIDTH]
            lines += _pairs_text(section.frame) if section.paired else _table_text(section.frame)
            lines.append("-" * WIDTH)
        for heading, sentences in self.notes.items():
            if sentences:
                lines.append(f"{heading}:")
                for sentence in map(translated, sentences):
                    lines += textwrap.wrap(sentence, WIDTH, initial_indent="  - ", subsequent_indent="    ")
        lines.append("=" * WIDTH)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The page as one HTML section, every text escaped."""
        told = {"title": self.title, "tables": self.sections, "notes": self.notes}
        return rendered(TEMPLATE, is_number, translated, **told)


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


def _table_text(table: pd.DataFrame) -> list[str]:
    """Columns as wide as their longest text; numbers to the right, words to the left, the last one wrapped."""
    texts = {str(name): [str(value) for value in table[name]] for name in table.columns}
    wide = {name: max(len(name), *map(len, cells)) if cells else len(name) for name, cells in texts.items()}
    *others, last = wide
    indent = " " * sum(wide[name] + len(GAP) for name in others)
    room = WIDTH - len(indent)
    right = {name: all(is_number(cell) for cell in cells) for name, cells in texts.items()}
    if wide[last] > room and not right[last]:
        wide[last] = max(room, 12)
    lines = [_row({name: name for name in texts}, wide, right)]
    for i in range(len(table)):
        first, *more = textwrap.wrap(texts[last][i], wide[last]) or [""]
        cells = {name: column[i] for name, column in texts.items()}
        lines += [_row({**cells, last: first}, wide, right), *(f"{indent}{piece}" for piece in more)]
    return lines


def _row(cells: dict[str, str], wide: dict[str, int], right: dict[str, bool]) -> str:
    padded = [
        cells[name].rjust(wide[name]) if right[name] else cells[name].ljust(wide[name]) for name in wide
    ]
    return GAP.join(padded).rstrip()


def _pairs_text(table: pd.DataFrame) -> list[str]:
    """Name and value pairs in two columns; a pair too long for half the width gets a line of its own."""
    pairs = [f"{name}:  {value}" for name, value in zip(table.iloc[:, 0], table.iloc[:, 1], strict=True)]
    half, has_room = WIDTH // 2, False
    lines: list[str] = []
    for pair in pairs:
        if has_room and len(pair) < half:
            lines[-1] = f"{lines[-1].ljust(half)}{pair}"
            has_room = False
        else:
            lines.append(pair)
            has_room = len(pair) < half
    return lines


def translated(sentence: str) -> str:
    """A sentence in the language spoken when the page is made."""
    return sentence.translated(spoken()) if isinstance(sentence, Message) else sentence


def is_number(text: str) -> bool:
    bare = text.lstrip("-<>").removesuffix("%").rstrip().replace(",", "").replace(".", "", 1)
    return text == "-" or bare.isdigit()
