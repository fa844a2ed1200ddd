"""Formats that a table describes, each against recorded output of the program."""

from __future__ import annotations

import pytest

from deadzone.errors import FormatError
from deadzone.store.imports.described import ALL
from store.imports.samples import imported, sample

FIRST_ROWS = {
    "pgbench": (
        "pgbench_select.txt",
        {"achieved_rate": 1714.597008, "latency_mean_ms": 2.333, "client_connections": 4},
    ),
    "sysbench": (
        "sysbench_memory.txt",
        {"achieved_rate": 772101.66, "throughput_bytes_s": 754.01 * 2**20},
    ),
    "redis-benchmark": (
        "redis_benchmark.txt",
        {"test": "SET", "achieved_rate": 11897.68, "latency_p95_ms": 4.103},
    ),
    "go-bench": (
        "go_bench.txt",
        {"n": 100, "gomaxprocs": 2, "time_per_call_s": 38060e-9, "allocated_bytes": 896},
    ),
    "pytest-benchmark": ("pytest_benchmark.json", {"benchmark": "test_b.py::test_sort"}),
    "pyperf": ("pyperf.json", {"calls": 20, "time_per_call_s": 0.0001734508197264617}),
    "google-benchmark": (
        "google_benchmark.json",
        {"time_per_call_s": 1.9513285982372177e-05, "calls": 80998},
    ),
    "jmh": ("jmh.json", {"benchmark": "b.B.fill", "n": 100, "achieved_rate": 220991.55788495837}),
    "criterion": (
        "criterion.txt",
        {"benchmark": "sort 1000", "time_per_call_s": 76.897e-6, "time_per_call_low_s": 67.389e-6},
    ),
    "vegeta": (
        "vegeta.json",
        {"latency_p99_ms": 5.141293, "wall_s": 2.980656679, "success_share": 1},
    ),
    "perf-stat": (
        "perf_stat.ndjson",
        {"task_clock_s": 0.938390674, "context_switches": 404, "page_faults": 11268},
    ),
    "gnu-time": ("gnu_time.txt", {"wall_s": 13.13, "user_s": 0.95, "max_rss_bytes": 30140 * 1024}),
}


@pytest.mark.parametrize("tool", FIRST_ROWS)
def test_the_first_row_is_what_the_program_printed(tool):
    name, expected = FIRST_ROWS[tool]
    row = imported(tool, sample(name)).iloc[0]
    assert {key: row[key] for key in expected} == pytest.approx(expected)
    assert row["note"]


@pytest.mark.parametrize("description", ALL, ids=lambda one: one.tool)
def test_each_names_the_version_that_was_recorded_and_has_a_trap(description):
    assert description.version and description.traps


def test_units_that_change_with_size_are_one_unit_afterwards(tmp_path):
    path = tmp_path / "google.json"
    path.write_text(sample("google_benchmark.json").read_text())
    times = imported("google-benchmark", path)
    assert times["time_per_call_s"].max() == pytest.approx(0.007578455)  # 7.58 ms printed in ns
    assert times.set_index("benchmark")["time_per_call_s"]["BM_Ms"].iloc[0] == pytest.approx(
        1.93e-3, rel=0.01
    )
    path = tmp_path / "jmh.json"
    path.write_text(sample("jmh.json").read_text().replace('"us/op"', '"ms/op"'))
    milli, micro = (
        imported("jmh", one)["time_per_call_s"].max() for one in (path, sample("jmh.json"))
    )
    assert milli == pytest.approx(1000 * micro)


def test_a_clock_is_seconds(tmp_path):
    path = tmp_path / "time.txt"
    path.write_text(sample("gnu_time.txt").read_text().replace("0:13.13", "1:02:03"))
    assert imported("gnu-time", path)["wall_s"][0] == 3723


def test_a_counter_that_is_not_supported_is_missing_and_not_zero():
    assert "cycles" not in imported("perf-stat", sample("perf_stat.ndjson"))


def test_redis_benchmark_is_read_from_its_csv_too():
    assert list(imported("redis-benchmark", sample("redis_benchmark.csv"))["achieved_rate"]) == [
        15797.79,
        20920.5,
    ]


def test_an_unknown_unit_is_said(tmp_path):
    path = tmp_path / "jmh.json"
    path.write_text(sample("jmh.json").read_text().replace('"us/op"', '"fortnights/op"'))
    with pytest.raises(FormatError, match="'fortnights', a unit that jmh is not known to use"):
        imported("jmh", path)


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        (
            "pgbench",
            "transaction type: TPC-B (sort of)\nlatency average: 9.188 ms\ntps = 108.830105\n",
            {"latency_mean_ms": 9.188},
        ),
        (
            "sysbench",
            "sysbench 0.5:  multi-threaded system evaluation benchmark\nNumber of threads: 8\n"
            "    total time:  60.0207s\n    total number of events:  35517\n"
            "         approx.  99 percentile:              27.20ms\n",
            {"latency_p99_ms": 27.20, "requests": 35517},
        ),
        ("go-bench", "BenchmarkMutex  200  9787629 ns/op\n", {"gomaxprocs": 1}),
        ("go-bench", "BenchmarkMutex-16  200  9787629 ns/op\n", {"gomaxprocs": 16}),
    ],
)
def test_labels_of_other_versions_are_read(tmp_path, tool, text, expected):
    path = tmp_path / "result.txt"
    path.write_text(text)
    row = imported(tool, path).iloc[0]
    assert {key: row[key] for key in expected} == expected


def test_output_that_was_cut_off_is_said(tmp_path):
    path = tmp_path / "pgbench.txt"
    path.write_text(sample("pgbench_select.txt").read_text().split("tps")[0])
    with pytest.raises(FormatError, match="no complete result of pgbench: it has no achieved_rate"):
        imported("pgbench", path)
