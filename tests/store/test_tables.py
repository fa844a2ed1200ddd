import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time

import pandas as pd
import pytest

from deadzone.errors import FormatError, TableError
from deadzone.store.tables import appended, read_table, write_table
from deadzone.study.direction import direction_of
from deadzone.study.response_cells import said_of, unit_in
from deadzone.verbs.tables import read_table as verb
from store.imports.samples import imported, sample

FORMS = pd.DataFrame({"n": [512, 1024, 1536], "ms": [138.5, 898.25, 1945.0]})


def test_the_first_sheet_of_an_excel_file_is_a_table(tmp_path):
    pytest.importorskip("openpyxl")
    FORMS.to_excel(tmp_path / "t.xlsx", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.xlsx"), FORMS, check_dtype=False)


def test_a_number_that_no_float_holds_is_a_word(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n1,{'9' * 400}\n2,3\n")
    assert read_table(path)["b"].tolist() in (["9" * 400, 3], ["9" * 400, "3"])


def test_a_table_that_lost_its_line_ends_is_refused_at_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",".join(["threads,wall_s 1,2.5"] * 20_000))
    began = time.process_time()
    with pytest.raises(TableError, match="its first line has 60,000 cells"):
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


@pytest.fixture
def mended(tmp_path):
    """Of a text that is refused: the commands that are told to mend it, and the table that the last
    one gives."""

    def mended(text):
        path, taken = tmp_path / "t.md", tmp_path / "table.csv"
        path.write_text(text)
        with pytest.raises(TableError) as refused:
            read_table(path)
        told = re.findall(r"`(.*?) > table.csv`", str(refused.value))
        taken.write_bytes(subprocess.check_output(shlex.split(told[-1])))
        return [one.removesuffix(f" {path}") for one in told], read_table(taken)

    return mended


RASPBERRY = "| n | ms |\n| -- | -- |\n| 1 | 53 |\n| 2 | 32 |\n"


def test_of_several_drawn_tables_one_is_taken_as_it_is_told(mended):
    """Two machines under two headings: rows of both would be a mixture."""
    other = RASPBERRY.replace("53", "23")
    told, table = mended(f"# One\n\nof a b | c\n\n{RASPBERRY}\n# Other\n{other}")
    assert told == ["sed -n 5,8p", "sed -n 11,14p"]
    assert table["ms"].tolist() == [23, 32]


def test_rows_without_the_first_bar_of_their_head_line_are_not_read_shifted(mended):
    rows = "|---|---|---|---|---|\nread | 4 | 9\nwrite | 8 | 7\n"
    _, table = mended(f"# SSD\n\n| test | size | MB |\n{rows}")
    assert (table["size"].tolist(), table["MB"].tolist()) == ([4, 8], [9, 7])


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.md", "| n | t/s |\n|--:|--:|\n| 1 | 9.5 |\n| n | t/s |\n| 2 | 18.1 |\n"),
     ("t.csv", "n,t/s\n1,9.5\nn,t/s\n2,18.1\n")],
)  # fmt: skip
def test_a_head_line_that_stands_again_is_no_row(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    table = read_table(tmp_path / name)
    assert (table["n"].tolist(), table["t/s"].tolist()) == ([1, 2], [9.5, 18.1])


@pytest.mark.parametrize(
    ("text", "column", "cells"),
    [("Config        p50      Made\nNo Pool       22-28ms  100\nPool size=1   8-9ms    1\n",
      "p50", ["22-28ms", "8-9ms"]),
     ("n  tps lat\n1  100 200\n2  190 210\n", "lat", [200, 210]),
     ("Benchmark  Cnt      Score      Error  Units\na.b         10  80853,876 ± 6291,685  ops/s\n"
      "a.c         10  25100,214 ±  799,070  ops/s\n", "Score", [80853.876, 25100.214])],
)  # fmt: skip
def test_blanks_part_a_text_where_most_columns_are_numbers(tmp_path, text, column, cells):
    (tmp_path / "t.txt").write_text(text)
    assert read_table(tmp_path / "t.txt")[column].tolist() == cells


@pytest.mark.parametrize(
    "text",
    ["n,rate,wall\n,req/s,ms\n1,10,90\n2,19,48\n",
     "n  rate   wall\n-  [req/s] [ms]\n1  10  90\n2  19  48\n"],
)  # fmt: skip
def test_a_line_of_units_below_the_head_line_is_read_as_units(tmp_path, text):
    (tmp_path / "t.txt").write_text(text)
    table = read_table(tmp_path / "t.txt")
    assert table["wall"].tolist() == [90, 48] and unit_in(table, "wall") == "ms"
    assert direction_of("rate", unit_in_cells=unit_in(table, "rate")).goal == "max"
    assert "holds units: req/s, ms." in str(said_of(table, "wall")[0])


def test_a_column_of_units_says_the_unit():
    table = pd.DataFrame({"score": [1.5, 2.5], "Units": ["ops/s", "ops/s"]})
    assert unit_in(table, "score") == "ops/s"
    assert unit_in(table.assign(Units=["ops/s", None]), "score") == "ops/s"
    for none in (["ops/s", "B/op"], [4, 4], [None, None]):
        assert unit_in(table.assign(Units=none), "score") == ""


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("t.txt", "Run on (96 X 2000 MHz)\n-----\nBenchmark   Time   CPU Iterations\n-----\n"
      "BM/threads:1   626 ns   626 ns 1115\nBM/threads:2   838 ns   631 ns 887\n",
      "run it again with `--benchmark_out=FILE --benchmark_out_format=json`."),
     ("t.json", '{"results": [{"command": "a", "times": [1.5]}]}', "`deadzone import hyperfine"),
     ("t.txt", "Running 1s test @ u\n  9 requests in 1s, 1MB read\nRequests/sec: 9\n",
      "`deadzone import wrk"),
     ("t.json", '{"rows": [{"n": 1}, {"n": 2}], "by": "me"}', "looks like rows: `jq .rows"),
     ("t.json", '{"id": 7, "details": {"tuning": {"runs": [{"n": 1}, {"n": 2}]}}}',
      "Its details.tuning.runs looks like rows: `jq .details.tuning.runs"),
     ("t.json", '{"id": 7, "runs": [{"of": "me", "rows": [{"n": 1}, {"n": 2}]}]}',
      "`jq '.[\"runs\"][0][\"rows\"]'"),
     ("t.json", '{"config": [{"env": [{"os": 1}]}], "results": [{"n": 1}, {"n": 2}]}',
      "Its results looks like rows: `jq .results"),
     ("t.json", '{"config": [{"env": [{"os": 1}]}]}', "Its config.0.env looks like rows"),
     ("table.csv", "Results of March,\nthreads,secs\n1,2\n", "table.csv > table2.csv`"),
     ("table.csv", ",,\nthreads,secs,x\n1,2,1\n", "table.csv > table2.csv`"),
     ("t.md", "  | bert |  \n-- | -- | --\nbatch | qps | ms\n1 | 1089 | 1.7\n2 | 921 | 2.0\n",
      "its first line is a title, 'bert'. Leave it out: `tail -n +3"),
     ("t.txt", "Table of ratio in %:\nlevel\tzstd\n1\t17.6\n2\t17.8\n",
      "its first line is a title. Leave it out: `tail -n +2"),
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
     ("trials.txt", None, "there is no such table. Did you mean `trials.csv`?"),
     ("t.txt", b"x", "a table is a file ending in .csv or .parquet or .xlsx"),
     ("t.txt", b"a b\nc d\nhello world\n", "or a text in columns"),
     ("t.txt", b"Memory Duration Cost\n\n128 MB\n\n11.7 s\n\n$0.02\n",
      "or a text in columns"),
     ("t.log", b"10:00:01 INFO started\n10:00:02 INFO started\n10:00:03 INFO ended\n",
      "or a text in columns"),
     ("t.xlsx", b"x", "cannot be read as xlsx"), ("t.csv", b"", "cannot be read as csv"),
     ("t.csv", b"cores,wall_s\n", "the table has no rows"),
     ("t.csv", b'a,b\n"1,2\n', "cannot be read as csv"),
     ("t.csv", b"a,b\n1,2\n3,4,5,6\n", "cannot be read as csv"),
     ("t.csv", b"a,b\n1,2,3\n4,5,6\n", "its rows have more cells than its first line"),
     ("t.csv", b"caf\xe9,b\n1,2\n", "cannot be read as csv"),
     ("t.parquet", b"PAR1 but no more", "cannot be read as parquet"),
     ("t.parquet", b"", "cannot be read as parquet"),
     ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9], "cannot be read as csv.gz"),
     ("t.csv.gz", gzip.compress(b"1,2\n3,4\n", mtime=0), "zcat "),
     ("x" * 300 + ".csv", None, "there is no such table"),
     ("folder.csv", None, "there is no such table")],
)  # fmt: skip
def test_what_is_no_table_is_refused(tmp_path, name, content, words):
    FORMS.to_csv(tmp_path / "trials.csv", index=False)
    (tmp_path / "folder.csv").mkdir()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError) as refused:
        read_table(tmp_path / name)
    assert words in str(refused.value) and "a result of" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.csv", "n,ms\n512,138.5\n1024,898.25\n1536,1945\n"),
     ("t.csv", "  n, ms\n 512, 138.5\n 1024, 898.25\n 1536, 1945\n"),
     ("t.csv", "    n;  ms;  \n  512;  138.5;  \n 1024;  898.25;  \n 1536;  1945;  \n"),
     ("t.csv", "n;ms\n512;138,5\n1024;898,25\n1536;1945\n"),
     ("t.csv", "n\tms\n512\t138.5\n1024\t898.25\n1536\t1945\n"),
     ("t.tsv", "n\tms\n512\t138,5\n1024\t898,25\n1536\t1945\n"),
     ("t.csv", "n     ms\n512   138.5\n1024  898.25\n1536  1945\n"),
     ("t.log", "n     ms\n512   138.5\n1024  898.25\n1536  1945\n"),
     ("t.dat", "# n ms\n512 138.5\n1024 898.25\n1536 1945\n"),
     ("t.csv", "n,ms\n512,138.5,\n1024,898.25,\n1536,1945,\n"),
     ("t.md", "| n | ms |\n| ---: | --- |\n| 512 | 138.5 |\n| 1024 | 898.25 |\n| 1536 | 1945 |\n"),
     ("t.txt", "Two sockets, turbo off\n\n| n | ms |\n|---|---|\n| 512 | 138.5 |\n"
      "| 1024 | 898.25 |\n| 1536 | 1945 |\n\nbuild: 8c933b7 (1546)\n"),
     ("t.csv", "# two sockets\n# turbo off\nn,ms\n512,138.5\n1024,898.25\n1536,1945\n"),
     ("t.csv", "# turbo off\n#n,ms\n512,138.5\n1024,898.25\n1536,1945\n"),
     ("t.csv", "n     ms\n----  ------\n512   138.5\n1024  898.25\n1536  1945\n"),
     ("t.md",
      "+------+--------+\n| n    | ms     |\n+------+--------+\n|  512 |  138.5 |\n"
      "| 1024 | 898.25 |\n| 1536 |   1945 |\n+------+--------+\n")],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_each_form_gives_the_same_table(tmp_path, name, text, encoding):
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    pd.testing.assert_frame_equal(read_table(path), FORMS, check_dtype=False)


def test_other_kinds_of_files_give_it_too(tmp_path):
    text = FORMS.to_csv(index=False)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    FORMS.to_json(tmp_path / "t.json", orient="records")
    FORMS.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    FORMS.to_feather(tmp_path / "t.feather")
    FORMS.to_parquet(tmp_path / "t.parquet")
    for path in tmp_path.iterdir():
        pd.testing.assert_frame_equal(verb(path), FORMS, check_dtype=False)


def test_standard_input_is_a_table_in_the_form_that_it_begins_with(monkeypatch):
    for content in (
        FORMS.to_csv(index=False, sep="\t").encode(),
        json.dumps(FORMS.to_dict("records")).encode(),
        FORMS.to_parquet(),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        pd.testing.assert_frame_equal(verb("-"), FORMS, check_dtype=False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"n,ms\n")))
    with pytest.raises(TableError, match=r"^standard input: the table has no rows"):
        verb("-")


def test_a_pipe_is_a_table_too(tmp_path):
    """As `deadzone fit <(zcat old.csv.gz)` names one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(FORMS.to_csv(index=False),))
    writer.start()
    pd.testing.assert_frame_equal(verb(pipe), FORMS, check_dtype=False)
    writer.join()


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_a_table_is_written_and_grows(name, tmp_path):
    path = tmp_path / name
    for threads in ("1", "2"):
        more = imported("wrk", sample("wrk_latency.txt"), threads=threads)
        write_table(appended(path, more), path)
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
