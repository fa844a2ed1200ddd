"""Numbers with units as tools print them and people write them, in whatever language: `12.5 ms`,
`10m43s`, `28,893.18`, `2 673`, `64KiB`, `~90 secs`, `$0.02`, `133.43 ± 6.51`, `20 MB in 1 s`.

KiB, MiB and GiB are multiples of 1024, kB, MB and GB of 1000 (IEC 80000-13). A letter alone (64k)
is refused as a size: dd takes it for 1024 and others for 1000.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
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

SECONDS = {
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "usec", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
}
"""Seconds of each unit of time. The letter m alone is none: as a CPU limit 100m is a tenth."""

PRINTED_SECONDS = {**SECONDS, "m": 60.0}
"""The same where a time is certain to stand, as in what programs print."""

MULTIPLES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
"""Letters alone, of a count: of 8.1k requests."""

MULTIPLE_RATE = re.compile(r"([kKMG]?(?!i))(.*/.*)")
"""The unit of a rate behind such a letter: `M/s`, `kops/s`."""

FAMILIES: tuple[tuple[str, Mapping[str, float]], ...] = (
    ("bytes", UNITS),
    ("s", SECONDS),
    ("%", {"%": 1.0}),
    ("B/s", {f"{unit}/s": size for unit, size in UNITS.items()}),
)
"""Units that are converted into each other, and the one that they are converted to."""

CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)")
"""h:mm:ss or m:ss.ss"""

PARTS = re.compile(r"(?:(\d+)\s*h\s*)?(?:(\d+)\s*m(?:in)?\s*)?(?:(\d+(?:[.,]\d+)?)\s*s(?:ec)?)?")
"""A time in hours, minutes and seconds, 1h 0m 2s, of which one may be missing."""

LONE_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")

IN_THOUSANDS = r"\d{1,3}(?:(?:,\d{3})+|(?:[ '\u00a0\u202f]\d{3})+)"
"""Whole numbers with a mark between their thousands."""

NUMBER = rf"[-+]?(?:{IN_THOUSANDS}(?:[.,]\d+)?|\d+[.,]\d+|\d+\.?|\.\d+)(?:[eE][-+]?\d+)?"
WITH_UNIT = re.compile(rf"([$€£]?)\s*({NUMBER})\s*(:\s*1\b|[A-Za-zµμ%×]*(?:/[A-Za-z]+)?)")
RANGE = re.compile(rf"[$€£]?({NUMBER})\s*([A-Za-zµμ%/]*)\s*[-–—]\s*~?({NUMBER}\D*)")
SPREAD = re.compile(rf"\s*\(?\s*(?:±|\+/?-)\s*({NUMBER})\s*(%|[A-Za-zµμ/]*)\s*\)?")

FOOTNOTES = "*†‡§¶‖"
REMARK = re.compile(rf"\s*(?:\((?!\s*(?:±|\+/?-))([^()]*)\)|([{FOOTNOTES}]+))$")
"""Behind a number: in brackets, or the mark of a footnote."""

AMOUNT = re.compile(
    r"(?:([^\W\d][^=]*?)\s*=\s*)?"
    rf"([-+]?(?:{IN_THOUSANDS}|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-zµμ%]*)"
)
"""A level with a unit, and with a name before it: `QD=8`."""

RATIO = re.compile(r"([-+]?\d+)\s*/\s*(\d*[1-9]\d*)")
PRODUCT = re.compile(r"[1-9]\d*(?:\s*[*x×]\s*\d+)+")
POWER = re.compile(r"(\d{1,3})\s*(?:\^|\*\*)\s*(\d{1,2})")

SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z]*)")

MOST_DIGITS = 4
"""A size with more digits than this in every unit is said rounded."""

RATE = re.compile(r"(.+?)\s+(?:in|per)\s+(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]+)")


@dataclass(frozen=True)
class Quantity:
    """A number with the unit that it is written with. is_rounded: written with `~`, or as a
    range. spread: what stands behind `±`, or half of the range, as a share; None without. remark:
    words in brackets or the mark of a footnote behind it, `102% (superlinear)`, or the name before
    it, `QD=8`."""

    value: float
    unit: str = ""
    is_rounded: bool = False
    spread: float | None = None
    remark: str = ""


def read_quantity(text: str) -> Quantity | None:
    """The number in a cell, with its unit; None where there is none."""
    if (found := REMARK.search(text)) and (read := read_quantity(text[: found.start()])):
        return replace(read, remark=found[1] or found[2])
    if (seconds := on_clock(text)) is not None:
        return Quantity(seconds, "s")
    if re.search("h.*[ms]|m.*s", text) and (parts := PARTS.fullmatch(text)):
        hours, minutes, rest = (float((part or "0").replace(",", ".")) for part in parts.groups())
        return Quantity(hours * 3600 + minutes * 60 + rest, "s")
    exact = text.removeprefix("~").strip()
    if not (amount := WITH_UNIT.match(exact)):
        return None
    spread, behind = None, exact[amount.end() :]
    if behind and not (spread := SPREAD.fullmatch(behind)):
        return _middle(exact)
    currency, number, unit = amount.groups(default="")
    value, share = float(plain(number)), None
    if spread:
        unit = unit or spread[2].removeprefix("%")
        share = float(plain(spread[1])) / (100 if spread[2] == "%" else abs(value) or 1.0)
    unit = "x" if unit.startswith(":") else unit.replace("×", "x")
    return Quantity(value, unit or currency, exact != text, share)


def _middle(text: str) -> Quantity | None:
    """The middle of a range, 22-28ms, with half of it as the spread; None for any other text."""
    ends = RANGE.fullmatch(text)
    low, high = (read_quantity(ends[1]), read_quantity(ends[3])) if ends else (None, None)
    if not (ends and low and high) or ends[2] not in ("", high.unit) or low.value >= high.value:
        return None
    middle = (low.value + high.value) / 2
    return Quantity(middle, high.unit, True, (high.value - middle) / (abs(middle) or 1.0))


def level_amount(text: str) -> Quantity | None:
    """The amount that a level is: 64KiB, 1,024, 1/8, 128 * 3, 2^10, 8 (default), QD=8; None where
    it is a word."""
    if (found := REMARK.search(text)) and (read := level_amount(text[: found.start()])):
        return replace(read, remark=found[1] or found[2])
    if share := RATIO.fullmatch(text):
        return Quantity(float(Fraction(int(share[1]), int(share[2]))))
    if power := POWER.fullmatch(text):
        return Quantity(float(int(power[1]) ** int(power[2])))
    if PRODUCT.fullmatch(text):
        return Quantity(float(math.prod(map(int, re.findall(r"\d+", text)))))
    if not (match := AMOUNT.fullmatch(text)):
        return None
    return Quantity(float(plain(match[2])), match[3], remark=match[1] or "")


def family_of(units: Iterable[str]) -> tuple[str, Mapping[str, float]] | None:
    """The unit that some units are converted to, and how many of it each of its family is; None
    where they do not go together."""
    written = set(units)
    if family := next((own for own in FAMILIES if written and written <= set(own[1])), None):
        return family
    letters = {unit: match for unit in written if (match := MULTIPLE_RATE.fullmatch(unit))}
    rates = {match[2] for match in letters.values()}
    if letters.keys() == written and len(rates) == 1:
        return rates.pop(), {unit: MULTIPLES[match[1]] for unit, match in letters.items()}
    return None


def plain(number: str) -> str:
    """A number without the marks between its thousands, and with a point for its decimals: a lone
    comma is one between thousands where three digits follow and one to three stand before it, the
    first of them not 0."""
    text = re.sub(r"[\s'\u00a0\u202f]", "", number)
    is_decimal = text.count(",") == 1 and "." not in text and not LONE_THOUSANDS.fullmatch(text)
    return text.replace(",", "." if is_decimal else "")


def on_clock(text: str) -> float | None:
    """The seconds of a time written as 38:50:07 or 0:13.13; None for any other text."""
    if not (parts := CLOCK.fullmatch(text)):
        return None
    hours, minutes, seconds = (float(part or 0) for part in parts.groups())
    return hours * 3600 + minutes * 60 + seconds


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
    if short := [(digits, unit) for digits, unit in whole if len(digits) <= MOST_DIGITS]:
        digits, unit = min(short, key=lambda text: (len(text[0]), "i" not in text[1]))
        return f"{digits} {unit}"
    binary = [(unit, scale) for unit, scale in fitting if "i" in unit]
    if not binary:
        return f"{exact(size)} B"
    unit, scale = binary[-1]
    return f"{number(size / scale)} {unit}"


def parse_rate(text: str) -> float:
    """The throughput that must be sustained [bytes/s], from a text: `20 MB in 1 s`.

    Raises ValueError, with the remedy, if it is none.
    """
    remedy = "; a required rate is written like 20 MB in 1 s"
    match = RATE.fullmatch(text.strip())
    if not match or match[3] not in SECONDS:
        raise ValueError(f"is {text!r}{remedy}")
    try:
        size = parse_size(match[1])
    except ValueError as error:
        raise ValueError(f"{error}{remedy}") from error
    within_s = float(match[2]) * SECONDS[match[3]]
    if size <= 0 or within_s <= 0:
        raise ValueError(f"is {text!r}; both the size and the time must be above 0")
    return size / within_s
