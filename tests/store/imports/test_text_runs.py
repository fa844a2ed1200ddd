"""Every run in a text is accounted for."""

import io

import pandas as pd
import pytest

from deadzone.errors import EXIT_PARTLY_READ
from store.imports.samples import imported, sample, written

CUT = """\
transaction type: <builtin: select only>
number of clients: 10
latency average = 0.405 ms
tps = 24650.1 (including connections establishing)
transaction type: <builtin: select only>
number of clients: 50
transaction type: <builtin: select only>
number of clients: 100
latency average = 5.515 ms
tps = 18133.2 (including connections establishing)
"""

SESSION = """\
=== WARMUP ===
pgbench (18.3)
number of clients: 32
duration: 300 s
tps = 3952.07 (without initial connection time)
=== RUN 1 ===
pgbench (18.3)
number of clients: 32
duration: 600 s
tps = 3976.44 (without initial connection time)
"""


def test_a_run_that_was_cut_off_is_failed_and_said_with_its_line(deadzone, tmp_path):
    said = deadzone("import", "pgbench", written(tmp_path, CUT))
    table = pd.read_csv(io.StringIO(said.out))
    assert said.code == EXIT_PARTLY_READ
    assert "3 runs, 1 incomplete, at line 5." in said.err
    assert table["status"].tolist() == ["ok", "failed", "ok"]
    assert table["client_connections"].tolist() == [10, 50, 100]
    assert table["error"][1] == "incomplete, at line 5"


def test_headings_tell_runs_apart_and_a_warm_up_is_marked(tmp_path):
    path = written(tmp_path, SESSION)
    table = imported("pgbench", path)
    assert table["heading"].tolist() == ["WARMUP", "RUN 1"]
    assert table["warmup"][0] and pd.isna(table["warmup"][1])


@pytest.mark.parametrize(
    ("above", "heading"),
    [("$ pgbench -c 4 -T 60 bench", "$ pgbench -c 4 -T 60 bench"), ("## web-01", "web-01"),
     ("web-01:", "web-01"), ("web-01\nstarting vacuum...end.", "web-01")],
)  # fmt: skip
def test_a_heading_is_what_somebody_put_above_a_run(tmp_path, above, heading):
    run = sample("pgbench_select.txt").read_text()
    table = imported("pgbench", written(tmp_path, f"{run}{above}\n{run}"))
    assert table["heading"].tolist()[1] == heading and pd.isna(table["heading"][0])


def test_what_a_tool_prints_between_its_runs_is_no_heading(tmp_path):
    for tool, name in (
        ("sysbench", "sysbench_cpu.txt"),
        ("wrk", "wrk_latency.txt"),
        ("criterion", "criterion.txt"),
        ("go-bench", "go_bench.txt"),
        ("redis-benchmark", "redis_benchmark.txt"),
    ):
        table = imported(tool, written(tmp_path, sample(name).read_text() * 2))
        assert "heading" not in table, tool


def test_a_benchmark_that_failed_is_a_row(tmp_path):
    text = "BenchmarkA-8  10  5 ns/op\nBenchmarkB-8 \n--- FAIL: BenchmarkC-8\n"
    table = imported("go-bench", written(tmp_path, text))
    assert table["status"].tolist() == ["ok", "failed", "failed"]
    assert table["benchmark"].tolist() == ["A", "B", "C"]


def test_a_file_with_a_failed_run_goes_with_one_without(tmp_path):
    whole = sample("pgbench_select.txt")
    table = imported("pgbench", whole, written(tmp_path, CUT))
    assert table["status"].tolist() == ["ok", "ok", "failed", "ok"]
