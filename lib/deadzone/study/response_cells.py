"""Cells of a response as people write them: `12.5 ms`, `10m43s`, `38:50:07`, `28,893.18`, `45 %`,
`timeout`.

One column has one unit. Cells in several units of one family become that of the family: ms and
min become s, KB and MiB become bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from deadzone.language.messages import Message, _, ngettext
from deadzone.study.quantity import Quantity, family_of, read_quantity
from deadzone.study.scales import MISSING, level_name

if TYPE_CHECKING:
    import pandas as pd

READ_AS = "deadzone_cells"
"""Of a frame's attributes: by column, what was said when its cells were read."""

LEFT_OUT = "deadzone_left_out"
"""Of a frame's attributes: what was said when columns and rows of it were left out."""

NO_VALUE = {"n/a", "na", "-", "--", "—", "?"}

STATUSES = {
    "timeout": ("timeout", "timed out", "time out", "timed_out", "dnf"),
    "oom_killed": ("oom", "oom killed", "oom_killed", "oomkilled", "out of memory"),
    "failed": ("fail", "failed", "failure", "error", "err", "crash", "crashed"),
}
STATUS_OF = {word: status for status, words in STATUSES.items() for word in words}


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
    read = {name: cell for name in names[is_value].unique() if (cell := read_quantity(name))}
    if not is_value.any() or set(names[is_value]) - set(read):
        return frame
    units = {own.unit for own in read.values()}
    factors: Mapping[str, float] = dict.fromkeys(units, 1.0)
    if len(units) > 1:
        if not (family := family_of(units)):
            return frame
        factors = family[1]
    numbers = {name: float(f"{own.value * factors[own.unit]:.15g}") for name, own in read.items()}
    values = names.where(is_value).map(numbers).astype(float)
    changed = frame.assign(**{response: values})
    if status.notna().any():
        known = frame["status"] if "status" in frame else pd.Series("ok", index=frame.index)
        changed["status"] = status.where(status.notna(), known)
    changed.attrs = {**frame.attrs, READ_AS: {response: tuple(_said(response, read, status))}}
    return changed


def said_of(frame: pd.DataFrame, response: str) -> list[Message]:
    """What is to be said of how a table and the cells of a response were read."""
    return [*frame.attrs.get(LEFT_OUT, ()), *frame.attrs.get(READ_AS, {}).get(response, ())]


def is_amount(cell: object) -> bool:
    """Whether a cell is a number, with or without a unit."""
    return read_quantity(level_name(cell)) is not None


def _said(response: str, read: Mapping[str, Quantity], status: pd.Series) -> Iterable[Message]:
    units = sorted({own.unit for own in read.values()})
    if len(units) > 1:
        yield _(
            "The cells of {response} are in several units ({units}), all are converted to {unit}.",
            response=repr(response),
            units=", ".join(units),
            unit=(family_of(units) or ("",))[0],
        )
    elif units != [""]:
        yield _("The cells of {response} are in {unit}.", response=repr(response), unit=units[0])
    if any(own.has_spread for own in read.values()):
        yield _("The spread behind ± in {response} is left aside.", response=repr(response))
    if any(own.is_rounded for own in read.values()):
        yield _("Cells of {response} with ~ are rounded by hand.", response=repr(response))
    if n := int(status.notna().sum()):
        yield ngettext(
            "{n:count} cell of {response} is a word for a failure ({words}), and its status.",
            "{n:count} cells of {response} are words for a failure ({words}), and their status.",
            n=n,
            response=repr(response),
            words=", ".join(status.dropna().unique()),
        )
