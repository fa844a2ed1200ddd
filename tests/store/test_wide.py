import json

import numpy as np
import pandas as pd
import pytest

import deadzone as dz
from deadzone.errors import EXIT_USAGE, TableError
from deadzone.store.tables import long_table, read_table, repeats_in
from deadzone.study.response_cells import unit_in

RUNS = pd.DataFrame(
    {"threads": [1, 2, 4, 8], "run 1": [8.1, 4.1, 2.1, 2.0], "run 2": [8.0, 4.2, 2.2, 2.1]}
)
CODECS = pd.DataFrame({"level": [1, 2, 3], "zstd": [8.1, 9.0, 12.0], "lz4": [3.0, 3.1, 3.3]})


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.csv"
    RUNS.to_csv(path, index=False)
    return path


def test_columns_of_runs_become_repeats():
    table = long_table(RUNS, "run *", "wall_s")
    assert list(table) == ["threads", "replicate", "wall_s"]
    assert table["replicate"].tolist() == [1] * 4 + [2] * 4
    assert table["wall_s"].tolist() == [8.1, 4.1, 2.1, 2.0, 8.0, 4.2, 2.2, 2.1]


def test_columns_of_levels_become_a_factor():
    table = long_table(CODECS, "zstd, lz4", "ratio", "codec")
    assert table.groupby("codec")["ratio"].max().to_dict() == {"lz4": 3.3, "zstd": 12.0}


@pytest.mark.parametrize(
    ("wide", "response", "words"),
    [("zsd,lz4", "ratio", "Did you mean `zstd`"), ("zstd", "ratio", "a wide table has several"),
     ("zstd,lz4", "level", "there is a column 'level'")],
)  # fmt: skip
def test_what_is_no_wide_table_is_refused(wide, response, words):
    with pytest.raises(TableError, match=words):
        long_table(CODECS, wide, response)
    with pytest.raises(TableError, match=r"No column is 'runs \*'. Did you mean `run \*`\?"):
        long_table(RUNS, "runs *", "wall_s")


@pytest.mark.parametrize(
    ("columns", "pattern"),
    [(("run 1", "run 2"), "run *"), (("t0 (ms)", "t1 (ms)", "t2 (ms)"), "t* (ms)"),
     (("latency_p50_ms", "latency_p99_ms"), None), (("run 1", "size"), None)],
)  # fmt: skip
def test_repeats_are_numbered_and_percentiles_are_none(columns, pattern):
    table = pd.DataFrame({name: [1.0, 2.0] for name in columns})
    assert [*repeats_in(table)] == ([pattern] if pattern else [])


def test_the_command_and_the_verb_read_the_same(deadzone, runs):
    asked = ("--knob", "threads", "--response", "wall_s", "--wide", "run *", "--json")
    printed = deadzone("fit", runs, *asked)
    table = dz.read_table(runs, wide="run *", response="wall_s")
    model = dz.fit_phases(table, "threads", "wall_s")
    assert f'"n_trials": {len(model.trials)}' in printed.out and len(model.trials) == 8
    assert "run * of 4 rows is wall_s of 8 trials" in printed.err


@pytest.mark.parametrize(
    ("response", "words"),
    [(("run 1",), "look like repeats; --wide 'run *'"),
     (("time_s",), "read them with `--wide 'run *'`"),
     (("run 1", "run 2"), "--wide 'run 1,run 2'")],
)  # fmt: skip
def test_a_wide_table_is_recognised(deadzone, runs, response, words):
    options = [part for name in response for part in ("--response", name)]
    assert words in deadzone("fit", runs, "--knob", "threads", *options).err


def test_the_knob_may_be_the_index(tmp_path):
    tidy = long_table(RUNS, "run *", "wall_s")
    usual = dz.fit_phases(tidy, "threads", "wall_s")
    assert dz.fit_phases(tidy.set_index("threads"), "threads", "wall_s").levels.equals(usual.levels)
    path = tmp_path / "indexed.parquet"
    tidy.set_index("threads").to_parquet(path)
    assert dz.fit_phases(dz.read_table(path), "threads", "wall_s").levels.equals(usual.levels)


@pytest.mark.parametrize(("k", "largest"), [(1000, 4000), (1024, 4096), (None, 4096)])
def test_what_k_stands_for_can_be_said(k, largest):
    table = pd.DataFrame({"size": ["512", "1K", "2K", "4K"] * 2, "t": [1.0, 2.0, 4.0, 8.1] * 2})
    assert dz.fit_phases(table, "size", "t", k=k).levels["level"].max() == largest


def test_two_wide_tables_are_compared(deadzone, runs, tmp_path):
    slower = tmp_path / "slower.csv"
    times = RUNS.set_index("threads")
    (1.5 * times).to_csv(slower)
    how = ("--wide", "run *", "--response", "wall_s", "--by", "threads")
    printed = json.loads(deadzone("compare", runs, slower, *how, "--json").out)
    assert printed["overall"][0]["ratio"] == pytest.approx(1.5)
    result = dz.compare(runs, slower, "wall_s", by="threads", wide="run *")
    assert result.overall["ratio"][0] == pytest.approx(1.5)
    refused = deadzone("compare", runs, slower, "--wide", "run *")
    assert refused.code == EXIT_USAGE and "name it with `--response`" in refused.err


def test_the_other_verbs_take_a_knob_that_is_the_index():
    threads, pool, repeat = np.meshgrid([1, 2, 4, 8], [1, 2, 4], range(3))
    tidy = pd.DataFrame({"threads": threads.ravel(), "pool": pool.ravel()})
    tidy["wall_s"] = 8 / (tidy["threads"] * tidy["pool"]) * (1 + 0.01 * repeat.ravel())
    indexed = tidy.set_index(["threads", "pool"])
    asked = {"knob": "threads", "response": "wall_s", "by": "pool"}
    assert dz.examine(indexed, **asked) == dz.examine(tidy, **asked)
    changed = dz.compare(indexed, 2 * indexed, "wall_s", by=("threads", "pool"))
    assert changed.overall["ratio"][0] == pytest.approx(2)


def test_levels_that_stand_several_times_in_the_head_line_are_one(tmp_path, deadzone):
    table = "file,1,1,2,2,4,4,8,8\n" + "".join(
        f"{name},8.0,8.1,4.0,4.1,2.0,2.1,1.9,2.0\n" for name in "abc"
    )
    (tmp_path / "t.csv").write_text(table)
    asked = ("--wide", "1,1.1,2,2.1,4,4.1,8,8.1", "--name", "threads", "--knob", "threads")
    said = deadzone("fit", tmp_path / "t.csv", *asked, "--response", "ms", "--json", code=0).out
    assert {one["setting"] for one in json.loads(said)["settings"]} == {1, 2, 4, 8}


def test_a_unit_below_the_head_line_holds_for_the_repeats(tmp_path):
    (tmp_path / "t.csv").write_text("n,run 1,run 2\n,req/s,req/s\n1,10,11\n2,19,20\n4,40,41\n")
    frame = long_table(read_table(tmp_path / "t.csv"), "run *", "value")
    assert unit_in(frame, "value") == "req/s"


def test_halves_in_a_head_line_are_levels_of_their_own():
    frame = pd.DataFrame([[8.0, 6.0, 4.0, 3.5]], columns=["1", "1.5", "2", "2.5"])
    assert [*long_table(frame, "1,1.5,2,2.5", "ms", "n")["n"]] == ["1", "1.5", "2", "2.5"]
