"""Sizes as people write them: 64KiB, 20 MB, 4 GiB; and a rate that must be sustained: 20 MB in 1 s.

KiB, MiB and GiB are multiples of 1024, kB, MB and GB of 1000 (IEC 80000-13). A letter alone (64k)
is refused: dd takes it for 1024 and others for 1000.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from deadzone.language.formats import exact, number

UNITS = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
"""Bytes of each unit. A letter alone is no unit: some people mean 1024 by it, others 1000."""

SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z]*)")

MOST_DIGITS = 4
"""A size with more digits than this in every unit is said rounded."""

TIMES = {"ms": Decimal("0.001"), "s": Decimal(1), "min": Decimal(60)}

RATE = re.compile(r"(.+?)\s+(?:in|per)\s+(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]+)")


def parse_size(text: str) -> int:
    """A size in bytes from its text.

    Raises ValueError, with the remedy, if it is none or no whole number of bytes.
    """
    match = SIZE.fullmatch(text.strip())
    unit = (match[2] or "B") if match else ""
    if not match or unit not in UNITS:
        raise ValueError(
            f"is {text!r}; a size is a number of bytes, or written like 64KiB, 20 MB or 4 GiB"
        )
    size = Decimal(match[1]) * UNITS[unit]
    if size != int(size):
        raise ValueError(f"is {text!r}, which is no whole number of bytes")
    return int(size)


def as_size(value: Any) -> Any:
    """A size written in words as its number of bytes; anything else stays as it is."""
    return parse_size(value) if isinstance(value, str) else value


def size_text(size: float) -> str:
    """A size as a person says it: exactly where few digits do (64 KiB, 20 MB, 512 B), else rounded
    (2.54 GiB)."""
    fitting = [(unit, scale) for unit, scale in UNITS.items() if unit != "KB" and size >= scale]
    whole = [(f"{size // scale:.0f}", unit) for unit, scale in fitting if size % scale == 0]
    short = [(digits, unit) for digits, unit in whole if len(digits) <= MOST_DIGITS]
    if short:
        digits, unit = min(short, key=lambda text: (len(text[0]), "i" not in text[1]))
        return f"{digits} {unit}"
    binary = [(unit, scale) for unit, scale in fitting if "i" in unit]
    if not binary:
        return f"{exact(size)} B"
    unit, scale = binary[-1]
    return f"{number(size / scale)} {unit}"


@dataclass(frozen=True)
class RequiredRate:
    """What must be sustained: so many bytes in so long a time [s]. text: as it was written."""

    size: int
    within_s: float
    text: str

    @property
    def bytes_s(self) -> float:
        """The throughput that is needed [bytes/s]."""
        return self.size / self.within_s


def parse_rate(text: str) -> RequiredRate:
    """A required rate from its text: `20 MB in 1 s`.

    Raises ValueError, with the remedy, if it is none.
    """
    remedy = "; a required rate is written like 20 MB in 1 s"
    match = RATE.fullmatch(text.strip())
    if not match or match[3] not in TIMES:
        raise ValueError(f"is {text!r}{remedy}")
    try:
        size = parse_size(match[1])
    except ValueError as error:
        raise ValueError(f"{error}{remedy}") from error
    within_s = float(Decimal(match[2]) * TIMES[match[3]])
    if size <= 0 or within_s <= 0:
        raise ValueError(f"is {text!r}; both the size and the time must be above 0")
    return RequiredRate(size, within_s, text.strip())
