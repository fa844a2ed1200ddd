"""Levels of a factor: numbers, names, and the two words `none` (no limit) and `auto` (the program decides)."""

from __future__ import annotations

import math
from decimal import Decimal

Level = int | float | str

NONE = "none"
AUTO = "auto"

MOST_LEVELS = 10_000
"""A range that yields more levels than this is a slip of the step, not an experiment."""


def plain_number(value: Decimal | float) -> int | float:
    """The number as an int where it is whole, else as a float."""
    return int(value) if value == int(value) else float(value)


def range_levels(start: float, stop: float, step: float) -> tuple[int | float, ...]:
    """Levels from start to stop, both included where the step hits them.

    Counted in decimal, so that 0.1 steps give 0.3 and not 0.30000000000000004.

    Raises ValueError if the step is not positive, stop lies below start, or the levels are too many.
    """
    first, last, stride = (Decimal(repr(float(v))) for v in (start, stop, step))
    if stride <= 0:
        raise ValueError(f"step is {step!r}; it must be a positive number")
    if last < first:
        raise ValueError(f"to is {stop!r}, below from ({start!r})")
    count = int((last - first) / stride) + 1
    if count > MOST_LEVELS:
        raise ValueError(f"the range has {count:,} levels; at most {MOST_LEVELS:,} make sense")
    return tuple(plain_number(first + i * stride) for i in range(count))


def scale_level(level: Level, factor: float) -> Level:
    """The level times a factor; words stay as they are, and times 1 so does every digit."""
    if isinstance(level, str):
        return level
    return plain_number(level if factor == 1 else float(f"{level * factor:.12g}"))


def is_number(level: object) -> bool:
    """Whether the level is a finite number (booleans are not)."""
    return isinstance(level, int | float) and not isinstance(level, bool) and math.isfinite(level)


def format_level(level: Level) -> str:
    """The level as it is written in commands and tables, every digit of it: 4, 0.25, 1099511627776, none."""
    return level if isinstance(level, str) else str(plain_number(level))
