"""Text of others in a message: a terminal shows it and obeys nothing in it."""

import re

OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but for tabs and line ends, and those that turn the direction of reading."""


def visible(text: str) -> str:
    """A text in which what a terminal would obey is written out, such as `\\x1b`.

    For what programs print, names of files and columns, levels and YAML, where they enter a
    message.
    """
    return OBEYED.sub(lambda match: ascii(match[0])[1:-1], text)
