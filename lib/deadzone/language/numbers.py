"""How figures of documents are written out: their own digits, shares with one decimal."""

from __future__ import annotations

from deadzone.language.catalogue import spoken


def printed(value: float) -> str:
    """A figure of a document with the digits it was printed with, its thousands separated."""
    return f"{float(value):,.12g}"


def tenths(fraction: float) -> str:
    """A share in percent with one decimal, as the documents print their changes: `31.8 %`."""
    return f"{100 * fraction:.1f}{'' if spoken() == 'ko' else ' '}%"
