"""Reading tables of measurements from anywhere."""

import json
import re
import time

import pandas as pd
import pytest

from deadzone.errors import TableError
from deadzone.store.tables import read_table

TABLE = pd.DataFrame({"cores": [1, 2], "wall_s": [2.0, 1.0]})


def test_csv_and_parquet_give_the_same_table(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    TABLE.to_parquet(tmp_path / "t.parquet", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), TABLE)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.parquet"), TABLE)


def test_the_first_sheet_of_an_excel_file_is_a_table(tmp_path):
    pytest.importorskip("openpyxl")
    TABLE.to_excel(tmp_path / "t.xlsx", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.xlsx"), TABLE, check_dtype=False)


def test_a_number_that_no_float_holds_is_a_word(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,{'9' * 400}\n2,3\n")
    assert read_table(path)["b"].tolist() == ["9" * 400, 3] or read_table(path)["b"].tolist() == [
        "9" * 400,
        "3",
    ]


def test_a_table_that_lost_its_line_ends_is_refused_at_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",".join(["threads,wall_s 1,2.5"] * 20_000))
    began = time.process_time()
    with pytest.raises(TableError, match="its first line has 59,999 cells"):
        read_table(path)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("level", ["nan", "NaN"])
def test_a_level_that_reads_as_no_number_is_a_word(level, tmp_path, deadzone):
    path = tmp_path / "t.parquet"
    rows = [{"n": one, "y": 5.0 + number % 2} for number in range(3) for one in (level, "1", "2")]
    pd.DataFrame(rows).to_parquet(path)
    said = deadzone("fit", path, "--knob", "n", "--response", "y", "--json")
    assert said.code == 0, said.err
    assert level in [one["setting"] for one in json.loads(said.out)["settings"]]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("t.json", '{"results": [{"command": "a", "times": [1.5]}]}', "`deadzone import hyperfine"),
     ("t.txt", "Running 1s test @ u\n  9 requests in 1s, 1MB read\nRequests/sec: 9\n",
      "`deadzone import wrk"),
     ("t.json", '{"rows": [{"n": 1}, {"n": 2}], "by": "me"}', "looks like rows: `jq .rows"),
     ("t.json", '{"n": 1, "seconds": 2}', "Where each file is a trial: `jq -c ."),
     ("t.json", '{"n": [[1], [2]]}', "`jq -c .")],
)  # fmt: skip
def test_a_result_that_is_no_table_is_told_how_it_becomes_one(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(TableError, match=re.escape(words)):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("trial.csv", None, "there is no such table. Did you mean `trials.csv`?"),
     ("t.txt", b"x", "a table is a file ending in .csv or .parquet or .xlsx"),
     ("t.xlsx", b"x", "cannot be read as xlsx"), ("t.csv", b"", "cannot be read as csv"),
     ("t.csv", b"cores,wall_s\n", "the table has no rows"),
     ("t.csv", b'a,b\n"1,2\n', "cannot be read as csv"),
     ("t.csv", b"a,b\n1,2\n3,4,5,6\n", "cannot be read as csv"),
     ("t.csv", b"caf\xe9,b\n1,2\n", "cannot be read as csv"),
     ("t.parquet", b"PAR1 but no more", "cannot be read as parquet"),
     ("t.parquet", b"", "cannot be read as parquet"),
     ("folder.csv", None, "there is no such table")],
)  # fmt: skip
def test_what_is_no_table_is_refused(tmp_path, name, content, words):
    TABLE.to_csv(tmp_path / "trials.csv", index=False)
    (tmp_path / "folder.csv").mkdir()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError) as refused:
        read_table(tmp_path / name)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
