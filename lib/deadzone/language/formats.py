"""How values stand in a sentence: percentages, counts, dates, and Korean particles after a word."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
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

USUAL_DIGITS = 4
"""Significant digits of a number about whose uncertainty nothing is known."""

MOST_DIGITS = 6
"""Significant digits at which any number is cut, however small its uncertainty."""


SMALLEST_P = 0.001
"""Smaller p-values are shown as below it: their digits say nothing more."""


class Template(Formatter):
    """Python's format, with `percent`, `exact_percent`, `number`, `count`, `date`, `duration`, `p`, `probability`
    and Korean particles (`은/는`) as further formats; a number that is not known, or infinite, is `-`
    where decimals are asked for."""  # noqa: E501

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
    `7.0 times`.
    """
    if MOST_PERCENT < fraction < math.inf:
        times = f"{1 + fraction:,.1f}" if fraction < 9 else f"{1 + fraction:,.0f}"
        return f"{times}배" if language == "ko" else f"{times} times"
    value = 100 * fraction
    decimals = 0 if abs(value) >= 9.95 else 1
    digits = f"{round(value, decimals) + 0.0:,.{decimals}f}"
    return f"{digits}%" if language == "ko" else f"{digits} %"


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


def number(value: float, uncertainty: float | None = None) -> str:
    """A number with the digits that its uncertainty leaves meaningful, its thousands separated.

    value, uncertainty: in the same unit; the uncertainty (a standard error or a half interval)
    keeps two of its own digits. Without one, four significant digits are kept.
    """
    if not math.isfinite(value):
        return "-" if math.isnan(value) else ("∞" if value > 0 else "-∞")
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    decimals = USUAL_DIGITS - 1 - size
    if uncertainty is not None and math.isfinite(uncertainty) and uncertainty > 0:
        decimals = min(1 - math.floor(math.log10(uncertainty)), MOST_DIGITS - 1 - size)
    if 1e-4 <= abs(value) < 1e7:
        return f"{round(value, decimals) + 0.0:,.{max(decimals, 0)}f}"
    return f"{value:.{max(size + decimals, 1)}e}"


def date(moment: str, language: str) -> str:
    """The day of an ISO 8601 time, in UTC: `21 November 2026`, `2026년 11월 21일`; the text itself if
    it is none."""  # noqa: E501
    return _moment(moment, DATE_FORMATS[language])


def date_and_time(moment: str, language: str) -> str:
    """An ISO 8601 time with its minute, in UTC: `21 November 2026, 08:21 UTC`; the text itself if
    it is none."""
    return _moment(
        moment, f"{DATE_FORMATS[language]}{' ' if language == 'ko' else ', '}{{when:%H:%M}} UTC"
    )


def _moment(moment: str, form: str) -> str:
    """An ISO 8601 time in a form of its own; the text itself if it is none."""
    try:
        when = datetime.fromisoformat(moment).astimezone(UTC)
    except ValueError:
        return moment
    return form.format(when=when, month=MONTHS[when.month - 1])


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
    "count": lambda value, _: f"{int(value) if float(value).is_integer() else value:,}",
    "p": lambda value, _: p_value(float(value)),
    "probability": lambda value, language: probability(float(value), language),
    "duration": lambda value, language: duration(float(value), language),
    "date": lambda value, language: date(str(value), language),
}
"""Formats beside Python's own, by the name that a sentence gives them."""
