"""What is asked of each distinct value of a column, and not of each row: a table of ten million
trials has a dozen levels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from deadzone.study.scales import MISSING, level_name

if TYPE_CHECKING:
    import pandas as pd


def by_distinct(column: pd.Series, answer: Callable[[Any], Any], missing: Any) -> pd.Series:
    """The answer for each cell of a column; each distinct value is asked for once.

    missing: the answer for an empty cell.
    """
    import pandas as pd

    if pd.api.types.infer_dtype(column).startswith("mixed"):
        return column.map(answer)  # 1 and True are one value to pandas, and lists are none
    row, values = pd.factorize(column)
    answers = pd.Series([*map(answer, values), missing])  # the row of an empty cell is -1: the last
    return pd.Series(answers.array.take(row), index=column.index, name=column.name)


def level_names(column: pd.Series) -> pd.Series:
    """The levels in a column as they are written, row by row; MISSING for an empty cell."""
    return by_distinct(column, level_name, MISSING)
