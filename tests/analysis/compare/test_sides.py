"""A and B as a person names them."""

from __future__ import annotations

import pytest

from analysis.compare.tables import table
from deadzone.analysis.compare.samples import ComparisonSide, differing_circumstances, load_side
from deadzone.errors import StoreError, TableError


def test_a_table_is_named_by_its_file(tmp_path):
    table().to_csv(tmp_path / "old.csv", index=False)
    side = load_side(str(tmp_path / "old.csv"), tmp_path)
    assert (side.name, side.factors, side.response, len(side.trials)) == ("old.csv", (), "", 24)


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(TableError, match="no such table"):
        load_side(str(tmp_path / "old.csv"), tmp_path)
    with pytest.raises(StoreError, match="There is no run"):
        load_side("probe/latest", tmp_path)


def test_only_circumstances_that_both_know_and_that_differ_are_told():
    one, other = (
        ComparisonSide(
            "x", table(), circumstances={"host": "a", "kernel": kernel, "cpu_model": model}
        )
        for kernel, model in (("6.1", None), ("6.2", "EPYC"))
    )
    assert differing_circumstances(one, other) == ["The runs differ in kernel: 6.1 against 6.2."]
