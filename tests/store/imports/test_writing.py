"""Writing and extending a table."""

import pandas as pd
import pytest

from deadzone.errors import FormatError, TableError
from deadzone.store.tables import appended, read_table, write_table
from store.imports.samples import imported, sample


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_a_table_is_written_and_grows(name, tmp_path):
    path = tmp_path / name
    for threads in ("1", "2"):
        write_table(
            appended(path, imported("wrk", sample("wrk_latency.txt"), threads=threads)), path
        )
    assert read_table(path)["threads"].tolist() == [1, 2]
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_other_endings_and_places_are_refused(tmp_path):
    table = pd.DataFrame({"a": [1]})
    with pytest.raises(FormatError, match=r"\.csv or \.parquet"):
        write_table(table, tmp_path / "t.xlsx")
    with pytest.raises(TableError, match="cannot be written"):
        write_table(table, tmp_path / "missing" / "t.csv")
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(TableError, match="cannot be added"):
        appended(tmp_path / "bad.parquet", table)
