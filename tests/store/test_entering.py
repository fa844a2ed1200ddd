import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import TableError
from deadzone.store.entering import entered
from deadzone.store.tables import read_table
from deadzone.study.response_cells import said_of

CELLS = st.none() | st.integers() | st.floats() | st.text(max_size=4) | st.booleans()
ANY = CELLS | st.lists(CELLS, max_size=2) | st.dictionaries(st.text(max_size=2), CELLS, max_size=2)


@given(st.lists(st.tuples(ANY, CELLS), min_size=1, max_size=6))
def test_whatever_enters_has_scalars_alone(rows):
    frame = pd.DataFrame(rows, columns=["odd", "plain"]).astype(object)
    table = entered(frame)
    assert "plain" in table
    assert all(pd.api.types.is_scalar(cell) for name in table for cell in table[name])
    said = "".join(said_of(table, "plain"))
    assert ("'odd'" in said) == ("odd" not in table)


def table_of(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return read_table(path)


LEVELS = "threads,rps\n1,100\n2,195\n4,370\n8,520\n"


@pytest.mark.parametrize(
    ("last", "words"),
    [("Total,1185\n", "threads Total."),
     ("Average,296\nMax,520\n", "threads Average, max."), ("평균,296\n", "threads 평균."),
     ("Grand total:,1185\n", "threads Grand total:."), ("Gesamt,1184.6\n", "threads Gesamt.")],
)  # fmt: skip
def test_rows_that_sum_up_others_are_left_out_by_name(tmp_path, last, words):
    table = table_of(tmp_path, LEVELS + last)
    assert table["threads"].tolist() == [1, 2, 4, 8]
    assert said_of(table, "rps")[0].endswith(words)


@pytest.mark.parametrize(
    "text",
    [LEVELS + "max,500\n", LEVELS + "auto,500\n", "test,rps\nsum,1\nsort,2\n1,3\n",
     "filter,rps\nblur_mean,8\nblur_cv,4\nblur_mean,7\n",
     "name,rps\nBM/1_mean,8\nBM/1_stddev,0.2\nalgo_cv,5\nalgo_mean,6\n"],
)  # fmt: skip
def test_a_word_that_is_a_level_or_a_variant_that_is_named_as_a_statistic_stays(tmp_path, text):
    table = table_of(tmp_path, text)
    assert len(table) == text.count("\n") - 1 and not said_of(table, "rps")


@pytest.mark.parametrize("head", ["# threads rps", "# run 7\n# threads  rps"])
def test_a_head_line_behind_a_mark_of_remarks_is_one(tmp_path, head):
    table = table_of(tmp_path, f"{head}\n1 100\n2 195\n4 370\n")
    assert table.columns.tolist() == ["threads", "rps"] and table["rps"].tolist() == [100, 195, 370]


def test_marks_of_markdown_around_cells_are_taken_off(tmp_path):
    path = tmp_path / "t.md"
    rows = "| **25** | **2,798.6 ns** |\n| **50** *(default)* | 5 ns |\n| 2 * 3 * 4 | 6 ns |\n"
    path.write_text(f"| **n** | t |\n| --- | --- |\n{rows}")
    table = read_table(path)
    assert table["n"].tolist() == ["25", "50 (default)", "2 * 3 * 4"]
    assert table["t"].str.strip().tolist() == ["2,798.6 ns", "5 ns", "6 ns"]


def test_a_cell_that_is_merged_over_as_many_rows_as_others_stands_for_each(tmp_path):
    table = table_of(tmp_path, "n,kind,ms\n2^16,a,1\n,b,2\n2^20,a,3\n,b,4\n")
    assert table["n"].tolist() == ["2^16", "2^16", "2^20", "2^20"]
    assert said_of(table, "ms") == ["An empty cell of n stands for the one above it."]
    numbers = table_of(tmp_path, "n,kind,ms\n1,a,1\n,b,2\n4,a,3\n,b,4\n")
    assert numbers["n"].tolist() == [1, 1, 4, 4]
    lists = pd.DataFrame({"at": [np.array([1, 2]), np.array([3])], "ms": [1, 2]})
    assert entered(lists).columns.tolist() == ["ms"]
    uneven = table_of(tmp_path, "n,kind,ms\n1,a,1\n,b,2\n,c,2\n4,a,3\n,b,4\n")
    assert uneven["n"].isna().sum() == 3 and not said_of(uneven, "ms")


@pytest.mark.parametrize(
    "text",
    ["warmup,threads,ms\nTrue,1,12\n,1,8\nTrue,2,9\n,2,4.1\n",
     "status,kind,ms\nfailed,a,\n,b,4.1\ntimeout,a,\n,b,2.0\n",
     "cold,kind,ms\nyes,a,12\n,b,8\nyes,a,9\n,b,4.1\n",
     "cpu_limit,run,ms\n1,1,8\n,1,3.1\n2,2,4.1\n,2,3.0\n",
     "limit,ms\n1 GB,8\n,3.1\n2 GB,4.1\n,3.0\n"],
)  # fmt: skip
def test_a_flag_that_is_not_set_and_a_missing_level_stay_empty(tmp_path, text):
    table = table_of(tmp_path, text)
    assert table.iloc[:, 0].isna().tolist() == [False, True, False, True]
    assert not said_of(table, "ms")


def test_trials_beside_warm_up_trials_are_counted(fit_of):
    times = [(1, 12, 8.0), (2, 9, 4.1), (4, 5, 2.0), (8, 3, 1.1)]
    rows = "".join(f"True,{n},{first}\n,{n},{time}\n" for n, first, time in times)
    said = fit_of(f"warmup,threads,time_s\n{rows}", "threads", "time_s")
    assert said.out.startswith("Set 8 threads: 1.09 s"), said


def test_a_null_of_a_record_is_no_merged_cell(tmp_path, deadzone):
    rows = [
        {"limit": limit, "kind": kind, "ms": 8 / at if limit else 3}
        for at in (1, 2, 4, 8)
        for limit, kind in ((at, "own"), (None, "all"))
    ]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(rows))
    assert read_table(path)["limit"].isna().sum() == 4
    said = deadzone("fit", path, "--knob", "limit", "--response", "ms")
    assert said.out.startswith("Set limit 8"), said


@pytest.mark.parametrize(
    ("levels", "left"),
    [("1 2 4 Durchschnitt", 3), ("1 2 4 平均", 3), ("1 2 4 Overall", 3),
     ("a_mean a_median a_stddev b_mean", 3),
     ("a_mean a_stddev a_cv b_mean b_cv", 3)],
)  # fmt: skip
def test_rows_of_statistics_are_no_levels(tmp_path, levels, left):
    rows = "".join(f"{level},{i + 3}\n" for i, level in enumerate(levels.split()))
    table = table_of(tmp_path, f"n,ms\n{rows}")
    assert len(table) == left and "Rows that sum up others" in said_of(table, "ms")[0]


@pytest.mark.parametrize(
    ("text", "way_out"),
    [("10,232.1,mysql\n20,232.2,mysql\n", r"echo a,b,c; tail -n \+1 \S*t.csv\) >"),
     ("Results of March,\nthreads,secs\n1,2\n", r"`tail -n \+2 \S*t.csv >"),
     ("Results of March\nthreads,secs\n1,2\n", r"`tail -n \+2 \S*t.csv >"),
     ("# host a\n\nResults of March\n\nthreads,secs\n1,2\n", r"`tail -n \+5 \S*t.csv >"),
     ("# host a\nResults,\n\nthreads,secs\n1,2\n", r"`tail -n \+4 \S*t.csv >"),
     ("# host a\n\n10,2.1,mysql\n20,2.2,mysql\n", r"a,b,c; tail -n \+3 \S*t.csv\) >")],
)  # fmt: skip
def test_a_first_line_that_is_no_head_line_is_refused_with_a_way_out(tmp_path, text, way_out):
    with pytest.raises(TableError, match=way_out):
        table_of(tmp_path, text)


@pytest.mark.parametrize("title", ["March,host a", "March,7"])
def test_a_title_with_as_many_cells_is_told_by_the_head_line_below_it(tmp_path, fit_of, title):
    rows = "threads,secs\n1,2\n2,1.1\n4,0.6\n"
    for text, first in ((f"{title}\n{rows}", 2), (f"# host a\n\n{title}\n\n{rows}", 5)):
        said = fit_of(text, "threads", "secs")
        assert said.code and f"`tail -n +{first} {tmp_path / 't.csv'} > table.csv`" in said.err


@pytest.mark.parametrize(
    ("text", "columns", "response"),
    [("1,2,4,8\n10.0,5.1,2.7,2.0\n10.2,5.2,2.6,2.1\n", "1,2,4,8", "secs"),
     ("tool,RPS n=3,Mean n=3,RPS n=8,Mean n=8,RPS n=12,Mean n=12\na,9,3,17,2,20,1\n",
      "RPS n=3,RPS n=8,RPS n=12", "RPS")],
    ids=["levels alone", "levels behind a name"],
)  # fmt: skip
def test_levels_as_columns_are_told_how_to_become_rows(fit_of, text, columns, response):
    said = fit_of(text, "n", response).err
    assert f"`--wide '{columns}' --name KNOB --knob KNOB --response" in said
    assert fit_of(text, "n", response, "--wide", columns, "--name", "n").code == 0
