"""Levels of a factor: numbers, names, and the two words `none` (no limit) and `auto` (the program
decides).

They are filled into templates: arguments in which {name} stands for a factor's level or a folder.
"""

import math
import re
import string
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from deadzone.errors import StudyError, check_known

Level = int | float | str

NONE = "none"
AUTO = "auto"

MOST_LEVELS = 10_000
"""A range that yields more levels than this is a slip of the step, not an experiment."""

FEWEST_CHOSEN, MOST_CHOSEN = 8, 12
"""Levels of a range that is given by its ends: fewer show no dead zone between two phases, more
take longer than a first look should."""

LEVELS_AIMED_AT = 10


def plain_number(value: Decimal | float) -> int | float:
    """The number as an int where it is whole, else as a float."""
    return int(value) if value == int(value) else float(value)


def read_level(written: Any) -> Any:
    """The level that a text is: its number, an int where it is whole, else the text, such as "nan";
    anything else that is no number as it is."""
    try:
        number = float(written)
        return written if math.isnan(number) else plain_number(number)
    except (TypeError, ValueError, OverflowError):
        return written


def range_levels(start: float, stop: float, step: float) -> tuple[int | float, ...]:
    """Levels from start to stop, both included where the step hits them.

    Counted in decimal, so that 0.1 steps give 0.3 and not 0.30000000000000004.

    Raises ValueError if the step is not positive, stop lies below start, or the levels are too
    many.
    """
    if not all(map(math.isfinite, (start, stop, step))):
        raise ValueError("the ends and the step of a range are finite numbers")
    first, last, stride = (Decimal(repr(float(v))) for v in (start, stop, step))
    if stride <= 0:
        raise ValueError(f"step is {step!r}; it must be a positive number")
    if last < first:
        raise ValueError(f"to is {stop!r}, below from ({start!r})")
    count = int((last - first) / stride) + 1
    if count > MOST_LEVELS:
        raise ValueError(f"the range has {count:,} levels; at most {MOST_LEVELS:,} make sense")
    return tuple(plain_number(first + i * stride) for i in range(count))


def chosen_levels(start: float, stop: float, whole: bool, cores: int) -> tuple[int | float, ...]:
    """FEWEST_CHOSEN to MOST_CHOSEN levels of a range, closer together at its beginning, where
    curves usually bend.

    Neighbours are about as far apart in proportion all the way, at round figures; a number of cores
    inside the range is among them. whole: only whole numbers, all of them where they are few.

    Raises ValueError unless start is positive and below stop.
    """
    if not 0 < start < stop:
        raise ValueError("a range begins above 0 and ends higher, such as 1..32")
    if whole and stop - start < MOST_CHOSEN:
        return range_levels(start, stop, 1)
    for points in range(LEVELS_AIMED_AT, 4 * MOST_CHOSEN):
        ratio = (stop / start) ** (1 / (points - 1))
        digits = max(1 - math.floor(math.log10(ratio - 1)), 1)
        rungs = _doublings(start, stop, whole) or [
            float(f"{start * ratio**i:.{digits}g}") for i in range(1, points - 1)
        ]
        levels = [start, stop]  # these first, the others where they are far enough apart
        levels += [cores] if start < cores < stop else []
        for level in (float(round(rung)) if whole else rung for rung in rungs):
            if all(abs(math.log(level / other)) >= math.log(ratio) / 2 for other in levels):
                levels.append(plain_number(level))
        if len(levels) >= FEWEST_CHOSEN:
            break
    return tuple(sorted(levels))


def _doublings(start: float, stop: float, whole: bool) -> list[float]:
    """The levels between two powers of two: every power, or every second or third of many, or of
    few the middles between them too; empty where none is a right number of levels, or the ends are
    no powers."""
    low, high = math.log2(start), math.log2(stop)
    if not (low.is_integer() and high.is_integer()):
        return []
    powers = [2.0**i for i in range(int(low) + 1, int(high))]
    middles = [1.5 * power for power in (start, *powers) if not whole or power > 1]
    ladders = (powers, powers[1::2], powers[2::3], sorted(powers + middles))
    counted = (ladder for ladder in ladders if FEWEST_CHOSEN <= len(ladder) + 2 <= MOST_CHOSEN)
    return next(counted, [])


def scale_level(level: Level, factor: float) -> Level:
    """The level times a factor; words stay as they are, and times 1 so does every digit."""
    if isinstance(level, str):
        return level
    return plain_number(level if factor == 1 else float(f"{level * factor:.12g}"))


def is_number(level: object) -> bool:
    """Whether the level is a number that a float can hold (booleans are none)."""
    return (
        isinstance(level, int | float)
        and not isinstance(level, bool)
        and abs(level) <= sys.float_info.max
    )


def format_level(level: Level) -> str:
    """The level as it is written in commands and tables, every digit of it: 4, 0.25, 1099511627776,
    none."""
    return level if isinstance(level, str) else str(plain_number(level))


NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
"""Name of a factor; of other columns it is lower-case, so that none is taken for one."""


def placeholders(template: str) -> tuple[str, ...]:
    """Names in braces in a template; doubled braces are plain text.

    Raises ValueError, with the remedy, if its braces mean nothing.
    """
    remedy = "; a placeholder is {name}, and braces for the program are doubled: {{ and }}"
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"is {template!r}, with a single brace{remedy}") from error
    for _, name, form, conversion in parts:
        if name is not None and (form or conversion or not NAME.fullmatch(name)):
            raise ValueError(f"is {template!r}, where {{{name}}} is no name{remedy}")
    return tuple(name for _, name, _, _ in parts if name is not None)


def fill(template: str, values: Mapping[str, Level]) -> str:
    """Replace {name} by its value.

    Raises StudyError for a name that has none.
    """
    for name in placeholders(template):
        check_known(StudyError, f"{{{name}}} in {template!r} is no factor", name, values, "Known:")
    return template.format_map({name: format_level(level) for name, level in values.items()})


def placed(templates: Iterable[str]) -> set[str]:
    """Names of all placeholders in some templates. Raises ValueError as `placeholders` does."""
    return {name for template in templates for name in placeholders(template)}


def check_placeholders(templates: Iterable[str], names: Iterable[str]) -> None:
    """Raise StudyError for a placeholder that is none of the names."""
    known = dict.fromkeys(names, "")
    for template in templates:
        fill(template, known)


def check_once(
    key: str, templates: Collection[str], names: Iterable[str], known: Iterable[str]
) -> None:
    """Raise StudyError for a placeholder of a factor in what runs once, such as the setup.

    key, known: where the study names it, and what may stand there. names: of the factors.
    """
    when = "after" if key.endswith("cleanup") else "before"
    for name in placed(templates) & {*names}:
        remedy = "; write prepare, which runs before each trial" if when == "before" else ""
        raise StudyError(
            f"{key} runs once, {when} all levels, so {{{name}}} cannot be used there{remedy}."
        )
    check_placeholders(templates, known)


def texts_in(value: Any) -> Iterator[str]:
    """Every text of a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


def filled(value: Any, values: Mapping[str, Level]) -> Any:
    """A value of JSON with the placeholders in its texts filled in; keys stay as they are. Raises
    StudyError as `fill`."""
    if isinstance(value, str):
        return fill(value, values)
    if isinstance(value, dict):
        return {name: filled(part, values) for name, part in value.items()}
    return (
        type(value)(filled(part, values) for part in value)
        if isinstance(value, list | tuple)
        else value
    )
