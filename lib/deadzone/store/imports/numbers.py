"""Numbers as tools print them, whatever the language of their user."""

import re


def plain(number: str) -> str:
    """A number without the marks between its thousands, and with a point for its decimals: a lone
    comma is one between thousands where three digits follow and it does not stand after 0."""
    text = re.sub(r"[\s'\u00a0\u202f]", "", number)
    if text.count(",") == 1 and "." not in text and not re.fullmatch(r"-?[1-9]\d*,\d{3}", text):
        return text.replace(",", ".")
    return text.replace(",", "")
