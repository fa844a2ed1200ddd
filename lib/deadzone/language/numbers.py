"""How figures of documents are written out in the language spoken: their own digits, shares with one decimal."""

from deadzone.language import formats
from deadzone.language.catalogue import spoken
from deadzone.language.formats import printed as printed


def tenths(fraction: float) -> str:
    """A share in percent with one decimal, as the documents print their changes: `31.8 %`."""
    return formats.tenths(fraction, spoken())
