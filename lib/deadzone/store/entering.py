"""What of a table is no column and no trial: cells that are lists, a row of units below the head
line, and rows that sum up others."""

import re

import numpy as np
import pandas as pd

from deadzone.language.messages import Message, _
from deadzone.store.table import COLUMNS, IDENTITY
from deadzone.study.quantity import level_amount
from deadzone.study.response_cells import LEFT_OUT, UNITS_OF, is_amount, is_unit, level_names
from deadzone.study.scales import MISSING, NO_LIMIT, level_name

STATISTICS = {
    "total", "sum", "mean", "average", "avg", "median", "std", "stdev", "stddev", "geomean",
    "overall", "합계", "총계", "평균", "중앙값", "표준편차", "durchschnitt", "mittelwert", "gesamt",
    "summe", "平均", "平均值", "合计", "总计", "中位数", "标准差",
}  # fmt: skip
"""Words that sum up other rows."""

REPEATED = {
    "min": {"min", "minimum", "최소"},
    "max": {"max", "maximum", "최대"},
}
"""Words that do so where the row repeats that statistic of the others: `max` may be no limit."""

SPREAD_OF_REPEATS = re.compile(r"(.+)_(?:stddev|cv)")
"""A row of google-benchmark that says how its repeats scatter."""

BESIDE_SPREADS = ({"_mean", "_median"}, {"_stddev", "_cv"})
"""Of which both stand there of the same name; one alone may be the name of a variant."""

CLOSE = 1e-3
"""By so much, rounded, a row may differ from the sum of the others."""

FEWEST_NUMBERS = 3
"""Levels that are numbers, beside which a word may sum them up."""


def entered(table: pd.DataFrame, may_be_merged: bool = False) -> pd.DataFrame:
    """The table without columns whose cells are no scalars, and without rows that are units or sum
    up others; all are said by name in `table.attrs[LEFT_OUT]`.

    may_be_merged: whether an empty cell may be a part of the one above it, as people draw tables.
    """
    texts = texts_of(table)
    objects = (name for name in texts if table[name].dtype == object)
    nested = [name for name in objects if not table[name].map(pd.api.types.is_scalar).all()]
    kept, said = table.drop(columns=nested), list[Message]()
    if may_be_merged:
        kept, said = _filled_down(kept)
    if nested:
        said.append(
            _("Columns of lists are left out: {names}.", names=", ".join(map(repr, nested)))
        )
    if units := _units_below(kept):
        said.append(
            _("The line below the head line holds units: {units}.", units=", ".join(units.values()))
        )
        kept = kept[1:].reset_index(drop=True).apply(as_numbers)
    for name in kept.columns.intersection(texts):
        names = level_names(kept[name])
        is_sum = _sums_up(kept, names)
        if is_sum.any():
            said.append(
                _(
                    "Rows that sum up others are left out: {name} {words}.",
                    name=name,
                    words=", ".join(names[is_sum].unique()),
                )
            )
            kept = kept[~is_sum].reset_index(drop=True)
            kept[name] = as_numbers(kept[name])
    if said:
        kept.attrs = {**table.attrs, LEFT_OUT: tuple(said), UNITS_OF: units}
    return kept


def _filled_down(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Message]]:
    """The table with the cells of its first column that are merged, and what is said of it: each is
    another level, over rows that another column tells apart, in the same way for all. Any other
    empty cell may be a flag that is not set, or a level that was not."""
    names = table.iloc[:, 0] if len(table.columns) else pd.Series(dtype=object)
    is_text = names.dtype.kind == "O"
    begins = (level_names(names).ne(MISSING) if is_text else names.notna()).to_numpy(bool)
    rows = np.diff(np.flatnonzero(np.append(begins, True)))
    is_even = len(rows) > 1 and rows[0] > 1 and np.ptp(rows) == 0 and bool(begins[0])
    is_level = names.name not in COLUMNS and names[begins].is_unique
    is_merged = is_even and is_level and not table.columns.has_duplicates
    if not (is_merged and any(_tells_apart(table[name], rows[0]) for name in table.columns[1:])):
        return table, []
    said = _("An empty cell of {name} stands for the one above it.", name=names.name)
    return table.assign(**{str(names.name): names.where(begins).ffill()}), [said]


def _tells_apart(column: pd.Series, n: int) -> bool:
    """Whether each n rows of a column have the same n values."""
    groups = level_names(column).to_numpy().reshape(-1, n)
    return len({*groups[0]} - {MISSING}) == n and bool((groups == groups[0]).all())


def _units_below(table: pd.DataFrame) -> dict[str, str]:
    """The units in the line below the head line, by column; empty where it holds anything else."""
    first = ((str(name), *map(level_name, cells)) for name, cells in table.head(1).items())
    units = {
        name: unit for name, *cells in first for cell in cells if (unit := cell.strip("()[]-"))
    }
    is_one = all(map(is_unit, units.values()))
    is_one = is_one and all(table[name][1:].map(is_amount).all() for name in units)
    return units if is_one and len(table) > 1 else {}


def texts_of(table: pd.DataFrame) -> list[str]:
    """The columns that may hold text."""
    return [str(name) for name, column in table.items() if column.dtype.kind == "O"]


def _sums_up(table: pd.DataFrame, names: pd.Series) -> pd.Series:
    """Which rows sum up the others, by the names of the levels of one column: by a word, or because
    their value is the sum."""
    known = {*names.unique()}
    spreads = {
        name
        for name in known
        if (repeats := SPREAD_OF_REPEATS.fullmatch(name))
        and any({repeats[1] + end for end in ends} <= known for ends in BESIDE_SPREADS)
    }
    if spreads:
        return names.isin(spreads)
    is_number = names.map({name: level_amount(name) is not None for name in names.unique()})
    if not 0.5 < is_number.mean() < 1 or names[is_number].nunique() < FEWEST_NUMBERS:
        return pd.Series(False, names.index)
    words = names.str.lower().str.findall(r"\w+")
    words = words.map(lambda own: {*own} if len(own) <= 2 else set())  # a remark is none
    is_sum = ~words.map(STATISTICS.isdisjoint)
    measured = table.drop(columns=table.columns.intersection([*IDENTITY])).select_dtypes("number")
    others = measured[is_number]
    varying = others.columns[others.nunique() > 1]
    for statistic, known in REPEATED.items():
        alike = measured[varying].eq(others[varying].agg(statistic)).mean(axis=1) > 0.5
        is_sum |= ~words.map(known.isdisjoint) & alike
    amounts = others.columns[(others > 0).all()]
    total = others[amounts].sum()
    is_total = (measured[amounts] - total).abs().le(CLOSE * total).mean(axis=1) >= 0.5
    return ~is_number & (is_sum | (is_total & ~names.duplicated(keep=False)))


def as_numbers(column: pd.Series) -> pd.Series:
    """A column of text as numbers where all of its cells are some, beside words for no limit, which
    pandas would make infinite; else as it is."""
    is_word = column.map(lambda cell: isinstance(cell, str) and cell.strip().lower() in NO_LIMIT)
    try:
        numbers = pd.to_numeric(column[~is_word])
    except (TypeError, ValueError):
        return column
    return column.where(is_word, numbers.astype(object)) if is_word.any() else numbers
