"""Where a line of a report may break, and where it must not."""

import re

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
