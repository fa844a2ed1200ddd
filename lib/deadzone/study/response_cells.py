"""Cells of a response as people write them: `12.5 ms`, `10m43s`, `38:50:07`, `28,893.18`, `45 %`,
`timeout`.

One column has one unit. Cells in several units of one family become that of the family: ms and
min become s, KB and MiB become B.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from deadzone.language.messages import Message, _, ngettext
from deadzone.study.numerals import on_clock, plain
from deadzone.study.scales import MISSING, SECONDS, level_name
from deadzone.study.sizes import UNITS

if TYPE_CHECKING:
    import pandas as pd

READ_AS = "deadzone_cells"
"""Of a frame's attributes: by column, what was said when its cells were read."""

NO_VALUE = {"n/a", "na", "-", "--", "—", "?"}

STATUSES = {
    "timeout": ("timeout", "timed out", "time out", "timed_out", "dnf"),
    "oom_killed": ("oom", "oom killed", "oom_killed", "oomkilled", "out of memory"),
    "failed": ("fail", "failed", "failure", "error", "err", "crash", "crashed"),
}
STATUS_OF = {word: status for status, words in STATUSES.items() for word in words}

NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+[.,]\d+|\d+\.?|\.\d+)(?:[eE][-+]?\d+)?"
WITH_UNIT = re.compile(rf"({NUMBER})\s*([A-Za-zµμ%]+(?:/[A-Za-z]+)?)?")
PARTS = re.compile(r"(?:(\d+)\s*h\s*)?(?:(\d+)\s*m(?:in)?\s*)?(\d+(?:[.,]\d+)?)\s*s(?:ec)?")
FAMILIES: tuple[tuple[str, Mapping[str, float]], ...] = (
    ("s", SECONDS),
    ("B", UNITS),
    ("B/s", {f"{unit}/s": size for unit, size in UNITS.items()}),
)


def with_numbers(frame: pd.DataFrame, response: str) -> pd.DataFrame:
    """A table of trials with the cells of its response as numbers, and words for a failure in the
    column `status`; the table itself where they are numbers, or where a cell cannot be read.

    What is to be said of it stands in `frame.attrs[READ_AS][response]`.
    """
    import pandas as pd

    column = frame[response] if (frame.columns == response).sum() == 1 else None
    if column is None or pd.api.types.is_numeric_dtype(column) or not len(column):
        return frame
    names = column.map(level_name).str.strip()
    status = names.str.lower().map(STATUS_OF)
    is_value = (names != MISSING) & ~names.str.lower().isin(NO_VALUE) & status.isna()
    read = {name: cell for name in names[is_value].unique() if (cell := _read(name))}
    if not is_value.any() or set(names[is_value]) - set(read):
        return frame
    factors, unit = _one_unit({unit for _, unit in read.values()})
    if factors is None:
        return frame
    numbers = {name: float(f"{value * factors[own]:.15g}") for name, (value, own) in read.items()}
    values = names.where(is_value).map(numbers).astype(float)
    changed = frame.assign(**{response: values})
    if status.notna().any():
        known = frame["status"] if "status" in frame else pd.Series("ok", index=frame.index)
        changed["status"] = status.where(status.notna(), known)
    changed.attrs = {**frame.attrs, READ_AS: {response: tuple(_said(response, unit, read, status))}}
    return changed


def said_of(frame: pd.DataFrame, response: str) -> list[Message]:
    """What is to be said of how the cells of a response were read."""
    return [*frame.attrs.get(READ_AS, {}).get(response, ())]


def is_amount(cell: object) -> bool:
    """Whether a cell is a number, with or without a unit."""
    return _read(level_name(cell)) is not None


def _read(text: str) -> tuple[float, str] | None:
    """The number in a cell, and its unit as it is written."""
    if (seconds := on_clock(text)) is not None:
        return seconds, "s"
    if re.search("[hm]", text) and (parts := PARTS.fullmatch(text)):
        hours, minutes, rest = (float((part or "0").replace(",", ".")) for part in parts.groups())
        return hours * 3600 + minutes * 60 + rest, "s"
    if not (amount := WITH_UNIT.fullmatch(text)):
        return None
    return float(plain(amount[1])), amount[2] or ""


def _one_unit(units: Iterable[str]) -> tuple[Mapping[str, float] | None, str]:
    """What each unit is multiplied by to be the one of the column; None where they do not go
    together."""
    written = set(units)
    if len(written) == 1:
        unit = next(iter(written))
        return {unit: 1.0}, unit
    for base, family in FAMILIES:
        if written <= set(family):
            return family, base
    return None, ""


def _said(
    response: str, unit: str, read: Mapping[str, tuple[float, str]], status: pd.Series
) -> Iterable[Message]:
    units = sorted({own for _, own in read.values()})
    if len(units) > 1:
        yield _(
            "The cells of {response} are in several units ({units}), all are converted to {unit}.",
            response=repr(response),
            units=", ".join(units),
            unit=unit,
        )
    elif unit:
        yield _("The cells of {response} are in {unit}.", response=repr(response), unit=unit)
    if n := int(status.notna().sum()):
        yield ngettext(
            "{n:count} cell of {response} is a word for a failure ({words}), and its status.",
            "{n:count} cells of {response} are words for a failure ({words}), and their status.",
            n=n,
            response=repr(response),
            words=", ".join(status.dropna().unique()),
        )
