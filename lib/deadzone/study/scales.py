"""The scale of a knob: which of its levels lie on an axis, where, and which stand apart.

A knob of positive numbers is on a ratio scale: half and double mean something. One with negative
levels, or of which a study says so, is on an interval scale, where only distances do. Everything
else is words (the scales of measurement of Stevens 1946, Science 103, 677-680; his nominal scale is
`words` here).
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from deadzone.language.messages import Message, _
from deadzone.study.levels import (
    NONE,
    Level,
    format_level,
    is_number,
    read_level,
)
from deadzone.study.quantity import (
    FOOTNOTES,
    IN_THOUSANDS,
    REMARK,
    Quantity,
    family_of,
    level_amount,
)

Scale = Literal["ratio", "interval", "words"]
RATIO: Final = "ratio"
INTERVAL: Final = "interval"
WORDS: Final = "words"

Place = float | Literal["apart", "beyond"]
"""Where a study puts a level that is no number: at a number, apart from the others, or beyond the
largest."""
BEYOND = "beyond"

NO_LIMIT = (NONE, "unlimited", "unbounded", "inf", "infinity", "\u221e", "max")
"""Spellings of a level without a limit, which lies beyond the largest number of a ratio scale."""

MISSING = ""
"""The name of a level that is not known: an empty cell is no level."""

NO_VALUES = ("None", "nan", "<NA>", "NaT")
"""How the values that Python and pandas hold in an empty cell are written."""

MINUS_ONE = "-1"
"""A lone level of this name is a word: off, no limit or automatic, whatever the program means by
it."""

ZERO = "0"
"""A level of this name is the lowest, unless a study puts it apart."""

SPECIAL = (*NO_LIMIT, "auto", "off", "default", "on", "disabled", "enabled")
"""Words that numbers are often mixed with; any other word among fewer numbers than words makes all
of them words."""

SMALL_STEPS = 3
"""Steps to both sides of 0, such as -1 to 3, are told by small numbers; levels go further."""

MOST_APART = 20
"""Levels that go on from smaller ones are not further apart than this, as a factor."""

FEWEST_LEVELS = 3
"""Two levels are one step: it has a slope but no phases."""

LETTERS = {"": 0, "K": 1, "k": 1, "M": 2, "G": 3, "T": 4}
"""Powers of a thousand, or of 1024, that a letter alone stands for."""

MOST_DIGITS = 15
"""Digits that a position keeps: 250 ms is 0.25 s, and not 0.25000000000000006."""


@dataclass(frozen=True)
class KnobScale:
    """What is known of the levels of a knob.

    kind: ratio, interval or words. positions: the place on the axis of each level that lies on it,
    by the level's text, in the unit. apart: texts of the levels that stand apart, in the order met;
    all of them for words. beyond: the text of the level without a limit that was put beyond the
    largest, or None. lowest: the text of a level 0 that stands apart because its logarithm has no
    place, and yet comes before all others, or None. unit: of the positions where levels were
    written with one, else empty. thousand: what a K alone was taken for, 0 where none is written.
    """

    kind: Scale
    positions: Mapping[str, float]
    apart: tuple[str, ...]
    beyond: str | None = None
    unit: str = ""
    lowest: str | None = None
    thousand: int = 0

    @property
    def has_phases(self) -> bool:
        """Whether enough levels lie on the axis for phases."""
        return len(set(self.positions.values())) >= FEWEST_LEVELS


def levels_in(column: Iterable[Any]) -> tuple[Level, ...]:
    """The levels in a column of a table, each once, in the order in which they come first."""
    names = dict.fromkeys(map(level_name, column))
    return tuple(read_level(name) for name in names if name != MISSING)


def level_name(value: Any) -> str:
    """A level as it is written, from a cell of a table: 4, 0.25, 64MB, true; MISSING for an empty
    one."""
    item = value.item() if hasattr(value, "item") else value
    if not isinstance(item, str) and str(item) in NO_VALUES:
        return MISSING
    if isinstance(item, bool):
        return str(item).lower()
    if isinstance(item, int | float):
        return format_level(item) if is_number(item) else str(item)
    text = str(item).strip()
    return text.lower() if text.lower() in SPECIAL else text


def without_remarks(levels: Iterable[Any]) -> dict[str, Level]:
    """The levels on an axis that are written otherwise than as a number, as numbers: 8 of `8 (HT)`,
    1024 of `1,024`."""
    scale = scale_of(levels)
    plain = {name: without_remark(name) for name in scale.positions if name != scale.beyond}
    plain |= {
        name: format_level(scale.positions[name])
        for name, text in plain.items()
        if not scale.unit and re.fullmatch(r"[-+\d.,]+", text)
    }
    return {name: read_level(text) for name, text in plain.items() if text != name}


def without_remark(name: str) -> str:
    """A level as it is written, without words in brackets behind it or a name before it; a word is
    left as it is."""
    own = level_amount(name)
    if not own or not own.remark:
        return name
    while remark := REMARK.search(name):
        name = name[: remark.start()]
    return name.rpartition("=")[2].strip()


def is_infinite(value: Any) -> bool:
    """Whether a cell of a table is a number without end, or one too large for a float; `inf` as a
    word is none."""
    name = level_name(value)
    written = level_amount(name)
    is_word = isinstance(value, str) and name in NO_LIMIT
    return not is_word and (
        name in ("inf", "-inf") or (written is not None and math.isinf(written.value))
    )


def scale_of(
    levels: Iterable[Any],
    wanted: str | None = None,
    places: Mapping[str, Place] | None = None,
    k: int | None = None,
) -> KnobScale:
    """The scale of a knob with these levels.

    levels: as written, or as a table holds them; repeated ones count once, missing ones not.
    wanted: the scale a study asks for. places: where a study puts single levels. k: what a K alone
    stands for, 1000 or 1024, by default what the numbers suggest.

    Raises ValueError where the levels do not fit the scale that is wanted.
    """
    names = tuple(name for name in dict.fromkeys(map(level_name, levels)) if name != MISSING)
    places = {level_name(name): place for name, place in (places or {}).items()}
    numbers, unit = _numbers([name for name in names if name not in places], k)
    numbers |= {name: float(p) for name, p in places.items() if name in names and is_number(p)}
    if wanted is None and MINUS_ONE not in places and _is_lone_minus_one(numbers):
        numbers = {name: position for name, position in numbers.items() if position > -1}
    kind = wanted or _usual_kind(numbers, [n for n in names if n not in numbers | places])
    if kind == WORDS:
        return KnobScale(WORDS, {}, names)
    if not numbers:
        raise ValueError(f"is on the scale {kind}, but no level is a number: {', '.join(names)}")
    lowest = None
    if kind == RATIO:
        if below := [name for name, position in numbers.items() if position < 0]:
            raise ValueError(
                f"is on the scale ratio, which has no negative levels such as {below[0]}"
            )
        lowest = next((name for name, position in numbers.items() if position == 0), None)
        numbers = {name: position for name, position in numbers.items() if position > 0}
    unlimited = {*NO_LIMIT} - places.keys() if kind == RATIO else ()
    beyond = next((n for n in names if n in unlimited or places.get(n) == BEYOND), None)
    if beyond is not None and (place := _step_beyond(kind, [*numbers.values()])) is not None:
        numbers[beyond] = place
    else:
        beyond = None
    apart = tuple(name for name in names if name not in numbers)
    thousand = _thousand([amount for name in names if (amount := level_amount(name))], k)
    return KnobScale(kind, numbers, apart, beyond, unit, lowest, thousand)  # type: ignore[arg-type]


def _is_lone_minus_one(numbers: Mapping[str, float]) -> bool:
    """Whether the only number below zero is -1, beside enough others: programs write it for off, no
    limit or automatic. Beside 0 and small numbers alone it may be a step to the other side."""
    others = [position for position in numbers.values() if position != -1.0]
    is_only = len(others) == len(numbers) - 1 and len(others) >= FEWEST_LEVELS
    return is_only and (min(others) > 0 or (min(others) == 0 and max(others) > SMALL_STEPS))


def _usual_kind(numbers: Mapping[str, float], words: list[str]) -> Scale:
    unknown = [word for word in words if word not in SPECIAL and word != MINUS_ONE]
    if not numbers or len(unknown) >= len(numbers):
        return WORDS
    return INTERVAL if min(numbers.values()) < 0 else RATIO


def _step_beyond(kind: str, positions: list[float]) -> float | None:
    """One median step beyond the largest; None where there is no step."""
    known = np.unique(positions)
    if len(known) < 2:
        return None
    if kind == INTERVAL:
        return float(known[-1] + np.median(np.diff(known)))
    return float(known[-1] * np.exp(np.median(np.diff(np.log(known)))))


def _numbers(names: list[str], k: int | None) -> tuple[dict[str, float], str]:
    """Positions of the levels that are numbers, all in one unit; none where their units do not go
    together. Levels of one number that remarks tell apart, 4 (spread) and 4, are words."""
    read = {
        name: amount for name in names if name not in SPECIAL and (amount := level_amount(name))
    }
    if len(read) > 1 and (_are_named_apart(read) or not _are_amounts(read)):
        return {}, ""
    positions, unit = _in_one_unit(read, k)
    count = Counter(positions.values())
    return {
        name: place
        for name, place in positions.items()
        if count[place] == 1 or not read[name].remark
    }, unit


def _are_named_apart(names: Collection[str]) -> bool:
    """Whether names before the numbers differ, gzip=6 and zstd=3, or a mark behind each belongs to
    it, 0* and 1*."""
    before = {name.rpartition("=")[0].strip() for name in names}
    return len(before) > 1 or all(name[-1] in FOOTNOTES for name in names)


def _are_amounts(read: Mapping[str, Quantity]) -> bool:
    """Whether marks between digits are between thousands, and not between the numbers of a pair:
    2,128 and 4,256. Round numbers are, and those that go on from others; so are none."""
    in_thousands = {name for name in read if re.search(IN_THOUSANDS, name)}
    marked = [read[name].value for name in in_thousands]
    others = [own.value for name, own in read.items() if name not in in_thousands]
    is_round = any(value % 1000 == 0 for value in marked) or all(v % 512 == 0 for v in marked)
    return is_round or max(others, default=0.0) * MOST_APART >= min(marked)


def _in_one_unit(read: Mapping[str, Quantity], k: int | None) -> tuple[dict[str, float], str]:
    units = _units(read.values())
    if family := family_of(units):
        unit, factors = family
        return {
            name: _rounded(own.value * factors.get(own.unit, 1.0)) for name, own in read.items()
        }, unit
    if thousand := _thousand([*read.values()], k):
        return {
            name: _rounded(own.value * thousand ** LETTERS[own.unit]) for name, own in read.items()
        }, ""
    if len({unit.removesuffix("s") for unit in units}) > 1:  # 1 Thread, 2 Threads
        return {}, ""
    return {name: own.value for name, own in read.items()}, max(units, default="")


def _units(amounts: Iterable[Quantity]) -> set[str]:
    """The units that amounts are written in; 0 needs none."""
    return {amount.unit for amount in amounts if amount.unit or amount.value}


def _thousand(read: Sequence[Quantity], k: int | None) -> int:
    """What K means beside other letters or plain numbers: what is asked for, else 1024 where all
    numbers are powers of two or multiples of 512, else 1000; 0 where no letters are mixed."""
    units = _units(read)
    if len(units) < 2 or not units <= set(LETTERS):
        return 0
    if k is not None:
        return k
    is_binary = all(
        own.value == 0 or own.value % 512 == 0 or math.log2(abs(own.value)).is_integer()
        for own in read
    )
    return 1024 if is_binary else 1000


def _rounded(value: float) -> float:
    return float(f"{value:.{MOST_DIGITS}g}")


FEWEST_TO_CHOOSE = 4
"""Of three levels there is nothing to choose: a phase needs all of them."""


def nothing_to_choose(knob: str, scale: KnobScale) -> Message | None:
    """Why an adaptive sweep cannot choose among the levels of a knob; None where it can."""
    count = len(set(scale.positions.values()))
    if count < FEWEST_TO_CHOOSE:
        return _(
            "{knob} has {n:count} levels that are numbers; an adaptive sweep needs at least "
            "{fewest:count} to choose from.",
            knob=knob,
            n=count,
            fewest=FEWEST_TO_CHOOSE,
        )
    return None
