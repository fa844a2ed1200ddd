"""How values stand in a sentence: percentages, counts, dates, and Korean particles after a word."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from string import Formatter
from typing import Any

from deadzone.visible import visible

FIRST_SYLLABLE, LAST_SYLLABLE = 0xAC00, 0xD7A3
"""Unicode's block of Hangul syllables; a syllable's final consonant is its offset modulo 28."""

FINAL_OF_DIGIT = {"0": "ㅇ", "1": "ㄹ", "3": "ㅁ", "6": "ㄱ", "7": "ㄹ", "8": "ㄹ"}
"""Digits whose Korean name ends in a consonant."""

FINAL_OF_LETTER = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ", "r": "ㄹ"}
"""Letters whose Korean name ends in a consonant; a word in Latin letters is read by its last
one."""

DATE_FORMATS = {
    "en": "{when.day} {month} {when.year}",
    "ko": "{when.year}년 {when.month}월 {when.day}일",
}

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

DURATION_UNITS = {"en": (" s", " min", " h"), "ko": ("초", "분", "시간")}

MOST_PERCENT = 3.0
"""A larger share reads easier as a multiple."""

LEAST_CHANGE = -0.9
"""Of a larger decrease the per cent say less and less; what is left of the whole says it."""

DIGITS = 3
"""Significant digits of an estimate: few repeat to a thousandth."""

EXACT_DIGITS = 12
"""Digits of a setting or a count; further ones are those of binary fractions."""

LEAST_PLAIN = 1e-9
"""A smaller estimate is written with a power of ten: its zeros cannot be counted."""

GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,]*\d)")
"""A number whose thousands are apart, as `number` and `exact` write it."""

LEAST_GROUPED = 5
"""Digits from which on a page sets the thousands of a number apart."""

SMALLEST_P = 0.001
"""Smaller p-values are shown as below it: their digits say nothing more."""


class Template(Formatter):
    """Python's format, with the names of FORMATS and Korean particles (`은/는`) as further formats;
    a number that is not known, or infinite, is `-` where decimals are asked for."""

    def __init__(self, language: str) -> None:
        self.language = language

    def format_field(self, value: Any, format_spec: str) -> Any:
        """A value in its format."""
        if format_spec in FORMATS:
            return FORMATS[format_spec](value, self.language)
        if format_spec.endswith("f") and not math.isfinite(value):
            return "-"
        if "/" in format_spec:
            own, _, pair = format_spec.rpartition(" ")
            text = str(self.format_field(value, own))
            return f"{text}{particle(text, pair)}"
        return super().format_field(
            visible(value) if isinstance(value, str) else value, format_spec
        )


def percent(fraction: float, language: str) -> str:
    """A share as a percentage with a digit more below ten per cent: `2.1 %`, `14 %`; in Korean
    `14%`.

    A change of more than MOST_PERCENT is said as what it makes of the whole: a change of 6.04 as
    `7.04 times`.
    """
    if not math.isfinite(fraction):
        return number(fraction)
    if fraction > MOST_PERCENT:
        return times(1 + fraction, language)
    value = 100 * fraction
    decimals = 0 if abs(value) >= 9.95 else 1
    rounded = round(value, decimals)
    digits = f"{rounded:,.{decimals}f}" if rounded else "0"
    return f"{digits}%" if language == "ko" else f"{digits} %"


def change(share: float, language: str) -> str:
    """A change with its sign: `+12 %`, `-3.1 %`, `0 %`; a large one as what it makes of the whole:
    `32.5 times`, `0.04 times`."""
    if share < LEAST_CHANGE:
        return times(1 + share, language)
    text = percent(share, language)
    is_larger = 0 < share <= MOST_PERCENT and text != percent(0, language)
    return f"+{text}" if is_larger else text


def times(ratio: float, language: str) -> str:
    """A ratio as a multiple: `7.04 times`, in Korean `7.04배`."""
    return f"{number(ratio)}배" if language == "ko" else f"{number(ratio)} times"


def exact_percent(share: float, language: str) -> str:
    """A share that was asked for as a percentage, with all of its digits: `3 %`, `0.25 %`."""
    return f"{100 * share:g}%" if language == "ko" else f"{100 * share:g} %"


def probability(p: float, language: str) -> str:
    """A probability as a percentage, and as a bound near 0 and 1, where its digits mean nothing."""
    if not math.isfinite(p):
        return "-"
    if 0.01 <= p <= 0.99:
        return percent(round(p, 2), language).replace(".0", "")
    return (
        f">{percent(0.99, language)}"
        if p > 0.99
        else f"<{percent(0.01, language)}".replace(".0", "")
    )


def duration(seconds: float, language: str = "en") -> str:
    """A duration as a person says it: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = max(0, round(seconds))
    second, minute, hour = DURATION_UNITS[language]
    if whole < 60:
        return f"{whole}{second}"
    if whole < 3600:
        return f"{whole // 60}{minute} {whole % 60}{second}"
    return f"{whole // 3600}{hour} {whole % 3600 // 60}{minute}"


def p_value(p: float) -> str:
    """A p-value to three decimals, and as a bound below SMALLEST_P; `-` where it is not known."""
    if not math.isfinite(p):
        return "-"
    return f"<{SMALLEST_P:g}" if p < SMALLEST_P else f"{p:.3f}"


def p_equals(p: float) -> str:
    """A p-value in a sentence: `p = 0.012`, `p < 0.001`."""
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def number(value: float, uncertainty: float | None = None) -> str:
    """An estimate with three significant digits, its thousands separated: `0.178`, `12,300`.

    value, uncertainty: in the same unit; beyond two digits of the uncertainty (a standard error or
    a half interval) none is shown.
    """
    if not math.isfinite(value):
        return "-" if math.isnan(value) else ("∞" if value > 0 else "-∞")
    if 0 < abs(value) < LEAST_PLAIN:
        return f"{value:.{DIGITS - 1}e}"
    last = _size(float(f"{value:.{DIGITS - 1}e}")) - DIGITS + 1
    if uncertainty is not None and 0 < uncertainty < math.inf:
        last = max(last, _size(uncertainty) - 1)
    rounded = Decimal(value).quantize(Decimal(1).scaleb(last))
    return f"{rounded:,f}" if rounded else "0"


def exact(value: float) -> str:
    """A setting or a count with all of its digits, its thousands separated: `15,000`, `0.125`."""
    return (
        f"{Decimal(f'{value + 0.0:.{EXACT_DIGITS}g}'):,f}"
        if math.isfinite(value)
        else number(value)
    )


def spaced(text: str) -> str:
    """A text of a page: thousands stand apart by thin spaces, from five digits on: `15\u202f000`,
    `1600`."""

    def mark(match: re.Match[str]) -> str:
        groups = match[0].split(",")
        is_long = len("".join(groups)) >= LEAST_GROUPED
        return ("\N{NARROW NO-BREAK SPACE}" if is_long else "").join(groups)

    return GROUPED.sub(mark, text)


def _size(value: float) -> int:
    """The power of ten of a number's first digit."""
    return math.floor(math.log10(abs(value))) if value else 0


def date(moment: str, language: str) -> str:
    """The day of an ISO 8601 time, in UTC: `21 November 2026`, `2026년 11월 21일`; the text itself if
    it is none."""  # noqa: E501
    try:
        when = datetime.fromisoformat(moment)
        when = when.astimezone(UTC) if when.tzinfo else when
    except ValueError:
        return moment
    return DATE_FORMATS[language].format(when=when, month=MONTHS[when.month - 1])


def particle(word: str, pair: str) -> str:
    """The Korean particle that fits the end of a word: the first of `은/는` after a consonant, else
    the second.

    After ㄹ, `으로/로` takes the second as after a vowel.
    """
    after_consonant, after_vowel = pair.split("/")
    final = _final_consonant(word)
    if not final or (final == "ㄹ" and after_consonant == "으로"):
        return after_vowel
    return after_consonant


def _final_consonant(word: str) -> str:
    """The consonant that the last spoken sound ends in, or an empty string; any but ㄹ counts
    alike."""
    spoken = [letter for letter in word if letter.isalnum() or letter == "%"]
    if not spoken:
        return ""
    last = spoken[-1]
    if FIRST_SYLLABLE <= ord(last) <= LAST_SYLLABLE:
        return {0: "", 8: "ㄹ"}.get((ord(last) - FIRST_SYLLABLE) % 28, "ㅇ")
    return FINAL_OF_DIGIT.get(last) or FINAL_OF_LETTER.get(last.lower(), "")


FORMATS: dict[str, Callable[[Any, str], str]] = {
    "percent": lambda value, language: percent(float(value), language),
    "exact_percent": lambda value, language: exact_percent(float(value), language),
    "number": lambda value, _: number(float(value)),
    "count": lambda value, _: exact(float(value)),
    "change": lambda value, language: change(float(value), language),
    "p": lambda value, _: p_value(float(value)),
    "p_equals": lambda value, _: p_equals(float(value)),
    "probability": lambda value, language: probability(float(value), language),
    "duration": lambda value, language: duration(float(value), language),
    "date": lambda value, language: date(str(value), language),
}
"""Formats beside Python's own, by the name that a sentence gives them."""
