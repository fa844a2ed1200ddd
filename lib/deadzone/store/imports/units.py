"""Units as tools print them. A unit that changes with the size of a number (`1.2s`, `950ms`) is one
unit afterwards: that of the column, which ends its name."""

import math
from collections.abc import Mapping
from typing import Any

from deadzone.errors import FormatError
from deadzone.store.imports.columns import is_count
from deadzone.store.imports.document import number_in, quoted, whole
from deadzone.study.quantity import PRINTED_SECONDS, UNITS

SIZES = {**UNITS, "KB": 2**10, "kbytes": 2**10, "bits": 1 / 8}
"""Bytes; most tools that print KB count in 1024s."""

RATES = {
    "ops/s": 1.0,
    "ops/ms": 1e3,
    "ops/us": 1e6,
    "ops/ns": 1e9,
    "ops/min": 1 / 60,
    **{f"{letter}elem/s": 1e3**power for power, letter in enumerate(("", *"KMGT"))},
}

KINDS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "_rate": ("a rate", RATES),
    "_bytes_s": ("an amount", SIZES),
    "_bytes": ("an amount", SIZES),
}
"""What a column holds, by the ending of its name, with its units; every other holds a time."""


def in_own_unit(
    column: str,
    number: float,
    unit: str,
    where: str,
    sizes: Mapping[str, float] = SIZES,
) -> float | int | None:
    """A number in the unit of its column, None where it is too large. where: file and tool, for
    messages. sizes: units of bytes, where a tool means others.

    Raises FormatError for a unit that is not known.
    """
    known = (own for end, own in KINDS.items() if column.endswith(end))
    kind, units = next(known, ("a time", PRINTED_SECONDS))
    units = sizes if units is SIZES else units
    unit = unit.removesuffix("/op")
    if unit not in units:
        raise FormatError(
            f"{where}: {column} is in {quoted(unit)}, a unit that is not known where {kind} stands."
        )
    own = 1e-3 if column.endswith("_ms") else 1.0
    # 190 us are 0.19 ms, and not 0.18999999999999997
    size = float(f"{number * units[unit] / own:.15g}")
    is_whole = column.endswith("_bytes")
    return (round(size) if is_whole else size) if math.isfinite(size) else None


def figure(value: Any, column: str, where: str, unit: str = "") -> float | int | None:
    """A number in JSON or in a cell, in the unit of its column; None where the tool has none.
    where: file and tool, for messages. unit: in which it stands, if not in that of the column.

    Raises FormatError for anything else, and for a unit that is not known.
    """
    number = number_in(value, where, column)
    if number is None:
        return None
    if unit:
        return in_own_unit(column, number, unit, where)
    return whole(number, where, column) if is_count(column) else number
