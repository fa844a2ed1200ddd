"""Cells of a response as people write them: `12.5 ms`, `10m43s`, `38:50:07`, `28,893.18`, `45 %`,
`timeout`.

One column has one unit. Cells in several units of one family become that of the family: ms and
min become s, KB and MiB become bytes.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from statistics import median
from typing import Any

import pandas as pd

from deadzone.language.messages import Message, _, ngettext
from deadzone.study.direction import kind_of, words_of
from deadzone.study.quantity import (
    MULTIPLES,
    PRINTED_SECONDS,
    REMARK,
    SECONDS,
    UNITS,
    Quantity,
    family_of,
    read_quantity,
)
from deadzone.study.scales import MISSING, level_name

READ_AS = "deadzone_cells"
"""Of a frame's attributes: by column, what was said when its cells were read."""

SPREADS = "deadzone_spreads"
"""Of a frame's attributes: by column, the typical spread in its cells, a share."""

UNITS_OF = "deadzone_units"
"""Of a frame's attributes: by column, the unit of its cells once they are numbers."""

LEFT_OUT = "deadzone_left_out"
"""Of a frame's attributes: what was said when columns and rows of it were left out."""

WRITTEN = UNITS.keys() | SECONDS.keys() | {"%"}
"""Units that are no names too."""


IN_NAMES = {unit.lower() for unit in WRITTEN}
"""As the words of a column's name have them."""

DECIMALS = re.compile(r"(?<![\d,])(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))(?![\d,])")
"""A number whose comma is no mark between thousands."""

NO_DECIMALS = re.compile(r"\.|\d,\d+,\d")
"""What a number does not have where commas stand for decimals."""

BEHIND = re.compile(r"\(|±|\+/?-")
"""What begins behind the number of a cell."""

FAR = 30
"""By this factor away from all others, the one cell with a unit may be in another than they are."""

NO_VALUE = {"n/a", "na", "none", "-", "--", "—", "?"}

STATUSES = {
    "timeout": ("timeout", "timed out", "time out", "timed_out", "dnf"),
    "oom_killed": ("oom", "oom killed", "oom_killed", "oomkilled", "out of memory"),
    "failed": ("fail", "failed", "failure", "error", "err", "crash", "crashed"),
}
STATUS_OF = {word: status for status, words in STATUSES.items() for word in words}
IN_BRACKETS = re.compile(rf"\([^()]*\b({'|'.join(STATUS_OF)})\b[^()]*\)$")
"""A word for a failure behind a number: `300 s (timeout)`."""


def with_numbers(frame: pd.DataFrame, response: str) -> pd.DataFrame:
    """A table of trials with the cells of its response as numbers, and words for a failure in the
    column `status`; the table itself where they are numbers, or where a cell cannot be read.

    What is to be said of it stands in `frame.attrs[READ_AS][response]`.
    """
    column = frame[response] if (frame.columns == response).sum() == 1 else None
    if column is None or pd.api.types.is_numeric_dtype(column) or not len(column):
        return frame
    names = column.map(level_name).str.strip()
    words = names.str.lower()
    status = words.str.extract(IN_BRACKETS, expand=False).fillna(words).map(STATUS_OF)
    is_value = (names != MISSING) & ~names.str.lower().isin(NO_VALUE) & status.isna()
    texts = _with_points(names[is_value].unique())
    read = {name: cell for name, text in texts.items() if (cell := read_quantity(text))}
    if not texts or texts.keys() - read.keys():
        return frame
    is_of_first = _is_of_all(read)
    units = {own.unit for own in read.values() if own.unit or (own.value and not is_of_first)}
    family = family_of(units) if len(units) > 1 else (max(units, default=""), {})
    family = ("", MULTIPLES) if units <= MULTIPLES.keys() else family
    if {"m", "s"} <= units <= PRINTED_SECONDS.keys():  # 42m beside 1h02m
        family = ("s", PRINTED_SECONDS)
    if family is None:
        return frame
    unit, factors = _of_the_middle(read, *family)
    amounts = {name: own.value * factors.get(own.unit, 1.0) for name, own in read.items()}
    numbers = {name: float(f"{amount:.15g}") for name, amount in amounts.items()}
    changed = frame.assign(**{response: names.where(is_value).map(numbers).astype(float)})
    if status.notna().any():
        changed["status"] = status.where(status.notna(), frame.get("status", "ok"))
    said = _said(response, read, texts, status, unit)
    now: dict[str, Any] = {READ_AS: tuple(said), UNITS_OF: unit or unit_in(frame, response)}
    if spreads := [own.spread for own in read.values() if own.spread]:
        now[SPREADS] = median(spreads)
    told: dict[Any, Any] = {
        key: {**frame.attrs.get(key, {}), response: one} for key, one in now.items()
    }
    changed.attrs = {**frame.attrs, **told}
    return changed


def _with_points(cells: Iterable[str]) -> dict[str, str]:
    """The texts of cells, with points for decimals where a comma stands for them in a number that
    no thousands have: 72,973 beside 78,39. Remarks stay as they are."""
    texts = {cell: cell for cell in cells}
    numbers = [BEHIND.split(cell)[0] for cell in texts]
    if not any(map(DECIMALS.search, numbers)) or any(map(NO_DECIMALS.search, numbers)):
        return texts
    for cell in texts:
        end = remark.start() if (remark := REMARK.search(cell)) else len(cell)
        texts[cell] = cell[:end].replace(",", ".") + cell[end:]
    return texts


def _is_of_all(read: Mapping[str, Quantity]) -> bool:
    """Whether the unit of the first cell is that of all: it is written, the others have none, and
    the first is no number far from theirs."""
    (text, first), *others = read.items()
    sizes = [abs(own.value) for _, own in others if own.value]
    if not sizes or first.unit not in text or any(own.unit for _, own in others):
        return False
    low, high = sorted((abs(first.value), sizes[0]))
    is_outside = low > 0 and not min(sizes) <= abs(first.value) <= max(sizes)
    return is_unit(first.unit) and not (is_outside and high > FAR * low)


def _of_the_middle(
    read: Mapping[str, Quantity], unit: str, factors: Mapping[str, float]
) -> tuple[str, Mapping[str, float]]:
    """The unit of a time that numbers are in, and how many of it each other one is: that of the
    middle cell where it is shorter than a second."""
    sizes = {own.value * factors.get(own.unit, 1.0): own.unit for own in read.values()}
    own = sizes[sorted(sizes)[len(sizes) // 2]]
    if unit != "s" or not (size := SECONDS.get(own, 1.0)) < 1:
        return unit, factors
    return own, {name: factor / size for name, factor in factors.items()}


def spread_of(frame: pd.DataFrame, response: str) -> float | None:
    """The typical spread that stood in the cells of a response, a share; None without any."""
    return dict(frame.attrs.get(SPREADS, {})).get(response)


def unit_in(frame: pd.DataFrame, response: str) -> str:
    """The unit that stood in the cells of a response, or in a column of units, where its name has
    none; empty without one, and where there are several, or of another kind than the name says."""
    if unit := dict(frame.attrs.get(UNITS_OF, {})).get(response):
        return str(unit)
    named = [name for name in frame if str(name).lower() in ("unit", "units")]
    beside = {unit for name in named for unit in frame[name].unique() if isinstance(unit, str)}
    unit = beside.pop() if len(beside) == 1 else ""
    *_, last = "", *words_of(response)
    is_other = last in IN_NAMES or (kind_of(response) and kind_of(response) != kind_of(unit))
    return unit if is_unit(unit) and not is_other else ""


def is_unit(text: str) -> bool:
    """Whether a word is a unit: one that is known, or a rate of such, as `req/s` and `ns/op`."""
    return text in WRITTEN or ("/" in text and not WRITTEN.isdisjoint(text.split("/")))


def said_of(frame: pd.DataFrame, response: str) -> list[Message]:
    """What is to be said of how a table and the cells of a response were read."""
    return [*frame.attrs.get(LEFT_OUT, ()), *frame.attrs.get(READ_AS, {}).get(response, ())]


def is_amount(cell: object) -> bool:
    """Whether a cell is a number, with or without a unit."""
    return read_quantity(level_name(cell)) is not None


def _said(
    response: str,
    read: Mapping[str, Quantity],
    texts: Mapping[str, str],
    status: pd.Series,
    unit: str,
) -> Iterable[Message]:
    for cell, text in texts.items():
        if text != cell and read_quantity(cell) != read[cell]:
            yield _(
                "A comma in {response} stands for decimals: {cell} is read as {text}.",
                response=repr(response),
                cell=cell,
                text=text,
            )
            break
    units = sorted({own.unit for own in read.values() if own.unit})
    if units and MULTIPLES.keys() >= {*units}:
        yield _(
            "{units} in the cells of {response}: k is 1,000, M and G are the next.",
            units=", ".join(units),
            response=repr(response),
        )
    elif len(units) > 1:
        yield _(
            "The cells of {response} are in several units ({units}), all are converted to {unit}.",
            response=repr(response),
            units=", ".join(units),
            unit=unit,
        )
    elif units and any(own.value and not own.unit for own in read.values()):
        yield _(
            "Only the first cell of {response} has a unit, {unit}, which all are taken to be in.",
            response=repr(response),
            unit=unit,
        )
    if any(own.spread is not None for own in read.values()):
        yield _(
            "The spread behind ± in {response}, or half of a range, is taken for the noise of "
            "settings without an order that were measured once, and ignored elsewhere.",
            response=repr(response),
        )
    if any(own.remark for own in read.values()):
        yield _("Remarks behind numbers in {response} are left out.", response=repr(response))
    if any(own.is_rounded for own in read.values()):
        yield _(
            "Cells of {response} with ~ are rounded by hand; of a range the middle counts.",
            response=repr(response),
        )
    if n := int(status.notna().sum()):
        yield ngettext(
            "{n:count} cell of {response} is a word for a failure ({words}), and its status.",
            "{n:count} cells of {response} are words for a failure ({words}), and their status.",
            n=n,
            response=repr(response),
            words=", ".join(status.dropna().unique()),
        )


def by_distinct(column: pd.Series, answer: Callable[[Any], Any], missing: Any) -> pd.Series:
    """The answer for each cell of a column; each distinct value is asked for once:
    a table of ten million trials has a dozen levels.

    missing: the answer for an empty cell.
    """
    if pd.api.types.infer_dtype(column).startswith("mixed"):
        return column.map(answer)  # 1 and True are one value to pandas, and lists are none
    row, values = pd.factorize(column)
    answers = pd.Series([*map(answer, values), missing])  # the row of an empty cell is -1: the last
    return pd.Series(answers.array.take(row), index=column.index, name=column.name)


def level_names(column: pd.Series) -> pd.Series:
    """The levels in a column as they are written, row by row; MISSING for an empty cell."""
    return by_distinct(column, level_name, MISSING)
