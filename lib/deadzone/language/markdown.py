"""A verdict as a comment on a pull request, in Markdown that GitHub and GitLab both read.

Names, levels and messages are text of others: nothing in them becomes markup, HTML, a link, a
mention of a person, a reference to an issue, or a quick action of GitLab.
"""

import re
from collections.abc import Iterable, Sequence
from textwrap import shorten

import pandas as pd

from deadzone.language.messages import _
from deadzone.visible import visible

MOST_ROWS, MOST_NOTES = 30, 15
"""With these the comment has less than 60 lines."""

MOST_CHARACTERS = 400
"""Of a cell or a note."""

REFERENCE = re.compile(r"[@#!~$&%^](?=[\w\"])|:(?=//)|\bwww(?=\.)|\bGH(?=-\d)", re.IGNORECASE)
"""What makes a mention, a reference or an address of the word behind it, whether or not it is
escaped: a space of no width parts the two."""

MARKUP = re.compile(r"[\\`*_{}\[\]<>#!|~$^&]")


def markdown(verdict: str, table: pd.DataFrame | None, notes: Iterable[str], whole: str) -> str:
    """A verdict, its table and its notes in at most 60 lines.

    table: of texts; None without one. whole: a path or command that shows everything.
    """
    lines = [f"**{escaped(verdict)}**", ""]
    if table is not None:
        cut = [["..."] * len(table.columns)] if len(table) > MOST_ROWS else []
        rows = [list(table.columns), *table.head(MOST_ROWS).to_numpy().tolist(), *cut]
        head, *body = map(_row, rows)
        lines += [head, "|" + " --- |" * len(table.columns), *body, ""]
    said = [*dict.fromkeys(map(escaped, filter(None, notes)))]
    said = [*said[:MOST_NOTES], *(["..."] if len(said) > MOST_NOTES else [])]
    lines += [*(f"- {note}" for note in said), *([""] if said else [])]
    where = " ".join(visible(whole).replace("`", "'").split())
    return "\n".join([*lines, _("The whole report: {where}", where=f"`{where}`")])


def escaped(text: object) -> str:
    """A text of others in one line, as it reads."""
    plain = shorten(visible(str(text)), MOST_CHARACTERS, placeholder=" ...")
    return MARKUP.sub(r"\\\g<0>", REFERENCE.sub("\\g<0>\u200b", plain))


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"
