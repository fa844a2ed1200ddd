"""Numbers as tools print them and people write them, in whatever language."""

import re

CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)")
"""h:mm:ss or m:ss.ss"""

LONE_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


def plain(number: str) -> str:
    """A number without the marks between its thousands, and with a point for its decimals: a lone
    comma is one between thousands where three digits follow and one to three stand before it, the
    first of them not 0."""
    text = re.sub(r"[\s'\u00a0\u202f]", "", number)
    if text.count(",") == 1 and "." not in text and not LONE_THOUSANDS.fullmatch(text):
        return text.replace(",", ".")
    return text.replace(",", "")


def on_clock(text: str) -> float | None:
    """The seconds of a time written as 38:50:07 or 0:13.13; None for any other text."""
    if not (parts := CLOCK.fullmatch(text)):
        return None
    hours, minutes, seconds = (float(part or 0) for part in parts.groups())
    return hours * 3600 + minutes * 60 + seconds
