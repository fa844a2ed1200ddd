"""Tables as text, in the forms that people have."""

import gzip
import io
import json
import sys

import pandas as pd
import pytest

from deadzone.errors import TableError
from deadzone.store.tables import read_table
from deadzone.verbs.tables import read_table as verb

TABLE = pd.DataFrame({"n": [512, 1024, 1536], "ms": [138.5, 898.25, 1945.0]})


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.csv", "n,ms\n512,138.5\n1024,898.25\n1536,1945\n"),
     ("t.csv", "  n, ms\n 512, 138.5\n 1024, 898.25\n 1536, 1945\n"),
     ("t.csv", "    n;  ms;  \n  512;  138.5;  \n 1024;  898.25;  \n 1536;  1945;  \n"),
     ("t.csv", "n;ms\n512;138,5\n1024;898,25\n1536;1945\n"),
     ("t.csv", "n\tms\n512\t138.5\n1024\t898.25\n1536\t1945\n"),
     ("t.tsv", "n\tms\n512\t138,5\n1024\t898,25\n1536\t1945\n"),
     ("t.csv", "n     ms\n512   138.5\n1024  898.25\n1536  1945\n"),
     ("t.csv", "n,ms\n512,138.5,\n1024,898.25,\n1536,1945,\n"),
     ("t.md", "| n | ms |\n| ---: | --- |\n| 512 | 138.5 |\n| 1024 | 898.25 |\n| 1536 | 1945 |\n"),
     ("t.csv", "# two sockets\n# turbo off\nn,ms\n512,138.5\n1024,898.25\n1536,1945\n"),
     ("t.csv", "n     ms\n----  ------\n512   138.5\n1024  898.25\n1536  1945\n"),
     ("t.md",
      "+------+--------+\n| n    | ms     |\n+------+--------+\n|  512 |  138.5 |\n"
      "| 1024 | 898.25 |\n| 1536 |   1945 |\n+------+--------+\n")],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_each_form_gives_the_same_table(tmp_path, name, text, encoding):
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    pd.testing.assert_frame_equal(read_table(path), TABLE, check_dtype=False)


def test_a_header_may_begin_with_the_mark_of_a_remark(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# turbo off\n#n,ms\n512,138.5\n")
    assert list(read_table(path)) == ["#n", "ms"] and len(read_table(path)) == 1


def test_other_kinds_of_files_give_it_too(tmp_path):
    text = TABLE.to_csv(index=False)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    TABLE.to_json(tmp_path / "t.json", orient="records")
    TABLE.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    TABLE.to_feather(tmp_path / "t.feather")
    for path in tmp_path.iterdir():
        pd.testing.assert_frame_equal(verb(path), TABLE, check_dtype=False)


def test_standard_input_is_a_table_in_the_form_that_it_begins_with(tmp_path, monkeypatch):
    TABLE.to_parquet(tmp_path / "t.parquet")
    for content in (
        TABLE.to_csv(index=False, sep="\t").encode(),
        json.dumps(TABLE.to_dict("records")).encode(),
        (tmp_path / "t.parquet").read_bytes(),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        pd.testing.assert_frame_equal(verb("-"), TABLE, check_dtype=False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"n,ms\n")))
    with pytest.raises(TableError, match=r"^standard input: the table has no rows"):
        verb("-")


def test_rows_that_are_longer_than_the_first_line_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,ms\n512,138.5,7\n1024,898.25,8\n")
    with pytest.raises(TableError, match="its rows have more cells than its first line"):
        read_table(path)
