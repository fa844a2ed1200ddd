"""What of a table is no column and no trial: cells that are lists, and rows that sum up others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.language.messages import _
from deadzone.study.quantity import level_amount
from deadzone.study.response_cells import LEFT_OUT
from deadzone.study.scales import level_name

if TYPE_CHECKING:
    import pandas as pd

STATISTICS = {
    "total", "sum", "mean", "average", "avg", "median", "std", "stddev", "geomean",
    "합계", "평균", "중앙값", "표준편차",
}  # fmt: skip
"""Words that sum up other rows."""

EXTREMES = {"min": "min", "minimum": "min", "최소": "min", "max": "max", "maximum": "max", "최대": "max"}  # fmt: skip  # noqa: E501
"""The same where the row repeats the smallest or largest value; `max` alone may be no limit."""

FEWEST_NUMBERS = 3
"""Levels that are numbers, beside which a word may sum them up."""


def entered(table: pd.DataFrame) -> pd.DataFrame:
    """The table without columns whose cells are no scalars, and without rows that sum up others;
    both are said by name in `table.attrs[LEFT_OUT]`."""
    import pandas as pd

    texts = texts_of(table)
    nested = [name for name in texts if not table[name].map(pd.api.types.is_scalar).all()]
    kept, said = table.drop(columns=nested), []
    if nested:
        said.append(
            _("Columns of lists are left out: {names}.", names=", ".join(map(repr, nested)))
        )
    for name in kept.columns.intersection(texts):
        names = kept[name].map(level_name)
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
        kept.attrs = {**table.attrs, LEFT_OUT: tuple(said)}
    return kept


def texts_of(table: pd.DataFrame) -> list[str]:
    """The columns that may hold text."""
    return [str(name) for name, column in table.items() if column.dtype.kind == "O"]


def _sums_up(table: pd.DataFrame, names: pd.Series) -> pd.Series:
    """Which rows sum up the others, by the names of the levels of one column."""
    words = names.str.lower()
    is_sum = words.isin(STATISTICS)
    extremes = words.map(EXTREMES)
    if not (is_sum.any() or extremes.notna().any()):
        return is_sum
    if sum(level_amount(name) is not None for name in names.unique()) < FEWEST_NUMBERS:
        return is_sum & False
    others = table[~is_sum & extremes.isna()].select_dtypes("number")
    for statistic in ("min", "max"):
        repeats = table[others.columns].eq(others.agg(statistic)).any(axis=1)
        is_sum |= (extremes == statistic) & repeats
    return is_sum


def as_numbers(column: pd.Series) -> pd.Series:
    """A column of text as numbers where all of its cells are some; else as it is."""
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except (TypeError, ValueError):
        return column
