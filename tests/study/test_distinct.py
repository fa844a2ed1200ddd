"""Each distinct value is asked for once, whatever a column holds."""

import numpy as np
import pandas as pd
import pytest

from deadzone.study.response_cells import by_distinct, level_names
from deadzone.study.scales import level_name

COLUMNS = {
    "whole": [4, 2, 4, 1], "fractions": [0.25, np.nan, 0.25, np.inf],
    "words": ["none", None, " Auto", "64MB", ""], "truth": [True, False, True],
    "mixed": [1, True, 1.0, "1", None], "numbers": [1, 2.5, None], "lists": [[1], [1, 2]],
}  # fmt: skip


@pytest.mark.parametrize("kind", COLUMNS)
def test_names_are_those_of_each_cell(kind):
    column = pd.Series(COLUMNS[kind], name="knob", index=range(5, 5 + len(COLUMNS[kind])))
    names = level_names(column)
    assert names.tolist() == [level_name(cell) for cell in column]
    assert names.index.equals(column.index) and names.name == "knob"


@pytest.mark.parametrize("dtype", ["Int64", "string", "category", "boolean"])
def test_types_of_pandas_have_names_too(dtype):
    cells = [True, None, True] if dtype == "boolean" else ["1", None, "1"]
    column = pd.Series(cells, dtype="string" if dtype == "Int64" else dtype).astype(dtype)
    assert level_names(column).tolist() == [level_name(cell) for cell in column]


def test_a_value_is_asked_for_once():
    asked = []
    by_distinct(pd.Series([3, 3, 1, 3]), lambda value: asked.append(value) or value, 0)
    assert asked == [3, 1]
