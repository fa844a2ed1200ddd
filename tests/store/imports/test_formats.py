import io
import json
import math

import pandas as pd
import pytest

from deadzone.errors import EXIT_PARTLY_READ, FormatError
from deadzone.store.imports.formats import JsonFormat, TextFormat
from deadzone.store.imports.registry import FORMATS, reader_of
from store.imports.samples import imported, sample, written

FIRST_ROWS = {
    "pgbench": ("pgbench_select.txt",
                {"achieved_rate": 1714.597008, "latency_mean_ms": 2.333, "client_connections": 4}),
    "sysbench": ("sysbench_memory.txt",
                 {"achieved_rate": 772101.66, "throughput_bytes_s": 754.01 * 2**20}),
    "redis-benchmark": ("redis_benchmark.txt",
                        {"test": "SET", "achieved_rate": 11897.68, "latency_p95_ms": 4.103}),
    "go-bench": ("go_bench.txt",
                 {"n": 100, "gomaxprocs": 2, "time_per_call_s": 38060e-9, "allocated_bytes": 896}),
    "pytest-benchmark": ("pytest_benchmark.json", {"benchmark": "test_b.py::test_sort"}),
    "pyperf": ("pyperf.json", {"calls": 20, "time_per_call_s": 0.0001734508197264617}),
    "google-benchmark": ("google_benchmark.json",
                         {"time_per_call_s": 1.9513285982372177e-05, "calls": 80998}),
    "jmh": ("jmh.json", {"benchmark": "b.B.fill", "n": 100, "achieved_rate": 220991.55788495837}),
    "criterion": ("criterion.txt",
                  {"benchmark": "sort 1000", "time_per_call_s": 76.897e-6,
                   "time_per_call_low_s": 67.389e-6}),
    "vegeta": ("vegeta.json",
               {"latency_p99_ms": 5.141293, "wall_s": 2.980656679, "success_share": 1}),
    "perf-stat": ("perf_stat.ndjson",
                  {"task_clock_s": 0.938390674, "context_switches": 404, "page_faults": 11268}),
    "llama-bench": ("llama_bench.json",
                    {"achieved_rate": 7100.002165, "wall_s": 0.07213564, "threads": 8,
                     "prompt_tokens": 512}),
    "iperf3": ("iperf3.json",
               {"throughput_bytes_s": 232953986.6989724, "streams": 1, "retransmits": 1154}),
    "vllm-bench": ("vllm_bench.json",
                   {"max_concurrency": 32, "achieved_rate": 0.2121, "mean_ttft_ms": 7279.56,
                    "wall_s": 150.87}),
    "gatling": ("gatling.json",
                {"requests": 446069, "errors": 29, "latency_p99_ms": 827,
                 "achieved_rate": 743.448}),
    "ycsb": ("ycsb.txt", {"wall_s": 20.892, "read_p99_ms": 7.0, "requests": 1_000_000}),
    "wrk": ("wrk_latency.txt",
            {"latency_p50_ms": 0.19, "latency_p90_ms": 165.79, "latency_p99_ms": 907.06,
             "latency_mean_ms": 57.94, "latency_max_ms": 1010.0, "requests": 1452991,
             "wall_s": 20.03, "achieved_rate": 72537.81, "client_threads": 2,
             "transferred_bytes": round(178.75 * 2**20), "client_connections": 20, "errors": 0}),
    "hey": ("hey.txt",
            {"wall_s": 3.0037, "requests": 1825, "errors": 0, "achieved_rate": 607.592,
             "latency_mean_ms": 6.6, "latency_p10_ms": 2.1, "latency_p99_ms": 16.5}),
    "gnu-time": ("gnu_time.txt", {"wall_s": 13.13, "user_s": 0.95, "max_rss_bytes": 30140 * 1024}),
}  # fmt: skip


@pytest.mark.parametrize("tool", FIRST_ROWS)
def test_the_first_row_is_what_the_program_printed(tool):
    name, expected = FIRST_ROWS[tool]
    row = imported(tool, sample(name)).iloc[0]
    assert {key: row[key] for key in expected} == pytest.approx(expected)
    assert row["note"]


def test_each_says_how_it_is_written_and_has_a_trap():
    formats = [r for r in FORMATS.values() if isinstance(r, JsonFormat | TextFormat)]
    assert len(formats) == 20
    assert all(reader.write and (reader.traps or reader.doubts) for reader in formats)


def test_units_that_change_with_size_are_one_unit_afterwards(tmp_path):
    times = imported("google-benchmark", sample("google_benchmark.json"))
    assert times["time_per_call_s"].max() == pytest.approx(0.007578455)  # 7.58 ms printed in ns
    of_ms = times.set_index("benchmark")["time_per_call_s"]["BM_Ms"].iloc[0]
    assert of_ms == pytest.approx(1.93e-3, rel=0.01)
    jmh, unit = sample("jmh.json").read_text(), '"us/op"'
    micro, milli = (
        imported("jmh", written(tmp_path, jmh.replace(unit, other)))["time_per_call_s"].max()
        for other in (unit, '"ms/op"')
    )
    assert milli == pytest.approx(1000 * micro)
    with pytest.raises(FormatError, match="'fortnights', a unit that is not known where a time"):
        imported("jmh", written(tmp_path, jmh.replace(unit, '"fortnights/op"')))
    text = sample("gnu_time.txt").read_text().replace("0:13.13", "1:02:03")
    assert imported("gnu-time", written(tmp_path, text, "time.txt"))["wall_s"][0] == 3723


def test_a_counter_that_is_not_supported_is_missing_and_not_zero():
    assert "cycles" not in imported("perf-stat", sample("perf_stat.ndjson"))
    rates = imported("redis-benchmark", sample("redis_benchmark.csv"))["achieved_rate"]
    assert rates.tolist() == [15797.79, 20920.5]


def test_a_google_benchmark_that_failed_has_no_time(tmp_path):
    document = json.loads(sample("google_benchmark.json").read_text())
    document["benchmarks"][0] |= {
        "error_occurred": True, "error_message": "no file", "real_time": 0.0,
    }  # fmt: skip
    table = imported("google-benchmark", written(tmp_path, json.dumps(document)))
    assert table["status"].tolist()[:2] == ["failed", "ok"]
    assert table["error"][0] == "no file" and math.isnan(table["time_per_call_s"][0])


def test_aggregates_of_google_benchmark_before_1_5_are_left_out(tmp_path):
    measured = {"iterations": 10, "real_time": 5.0, "cpu_time": 4.0, "time_unit": "us"}
    entries = [{"name": f"BM_A/8{of}", **measured} for of in ("", "_mean", "_stddev")]
    table = imported("google-benchmark", written(tmp_path, json.dumps({"benchmarks": entries})))
    assert table["benchmark"].tolist() == ["BM_A/8"] and table["time_per_call_s"][0] == 5e-6


def test_a_number_at_which_the_file_ends_may_go_on(tmp_path):
    text = "transaction type: TPC-B\ntps = 108.830105\ntransaction type: TPC-B\ntps = 246"
    table = imported("pgbench", written(tmp_path, text))
    assert table["status"].tolist() == ["ok", "failed"]


def test_threads_stand_in_the_name_alone_before_1_5_of_google_benchmark(tmp_path):
    entries = [
        {"name": f"BM_Both/iterations:1/real_time/threads:{n}", "run_type": "iteration",
         "iterations": n, "real_time": 5.011e7 / n, "cpu_time": 1e8 / n, "time_unit": "ns"}
        for n in (1, 2)
    ]  # fmt: skip
    path = written(tmp_path, json.dumps({"benchmarks": entries}))
    assert imported("google-benchmark", path)["threads"].tolist() == [1, 2]
    assert any("divides the time of a call by the threads" in said
               for said in reader_of("google-benchmark")(path).warnings)  # fmt: skip


WRK2_FORK = """\
Running 30s test @ http://node0:8080
  2 threads and 100 connections
  Thread calibration: mean lat.: 0.489ms, rate sampling interval: 10ms
  Thread Stats   Avg      Stdev     99%   +/- Stdev
    Latency   482.58us  192.65us   1.04ms   74.72%
    Req/Sec     1.05k    86.32     1.22k    82.25%
  58912 requests in 30.00s, 13.37MB read
Requests/sec:   1963.55
"""

DIALECTS = [
    (
        "ab",
        """This is ApacheBench, Version 2.3 <$Revision: 1903618 $>
Benchmarking webapp (be patient)
Completed 1000 requests
Server Software:        Kestrel
Document Path:          /
Concurrency Level:      10
Time taken for tests:   10.376 seconds
Complete requests:      1000
Failed requests:        0
Total transferred:      136000 bytes
Requests per second:    96.37 [#/sec] (mean)
Time per request:       103.762 [ms] (mean)
Time per request:       10.376 [ms] (mean, across all concurrent requests)
Transfer rate:          12.80 [Kbytes/sec] received
              min  mean[+/-sd] median   max
Connect:        0    0   0.3      0       2
Total:        101  103   0.6    103     105
  50%    103
  99%    104
 100%    105 (longest request)
""",
        {
            "path": "/",
            "client_connections": 10,
            "requests": 1000,
            "achieved_rate": 96.37,
            "latency_mean_ms": 103.762,
            "latency_min_ms": 101,
            "latency_p50_ms": 103,
            "latency_p99_ms": 104,
            "latency_max_ms": 105,
            "throughput_bytes_s": 12.80 * 1024,
        },
    ),
    (
        "sysbench",
        """sysbench 1.1.0-bbee5d5
Number of threads: 64
    transactions:                        4364960 (7268.30 per sec.)
Throughput:
    events/s (eps):                      7268.3045
    time elapsed:                        600.5472s
    total number of events:              4364960
         avg:                                    8.80
         max:                                 2133.89
        99th percentile:                       27.17
       999th percentile:                      816.63
""",
        {"wall_s": 600.5472, "latency_p99_ms": 27.17, "latency_p99_9_ms": 816.63},
    ),
    (
        "sysbench",
        """sysbench 0.5:  multi-threaded system evaluation benchmark
Number of threads: 8
    total time:  60.0207s
    total number of events:  35517
         approx.  99 percentile:              27.20ms
""",
        {"latency_p99_ms": 27.20, "requests": 35517},
    ),
    (
        "wrk",
        WRK2_FORK,
        {"latency_mean_ms": 0.48258, "latency_p99_ms": 1.04, "latency_max_ms": None},
    ),
    (
        "perf-stat",
        """ Performance counter stats for './cfg small.cfg 1000':
           26,554473 task-clock (msec)       #    0,965 CPUs utilized
          77 375 671 cycles                  #    2,914 GHz
     <not supported> stalled-cycles-backend
""",
        {"task_clock_s": 0.026554473, "cycles": 77375671},
    ),
    (
        "perf-stat",
        """ Performance counter stats for 'curl -s localhost' (50 runs):

              6.14 msec task-clock                #    0.494 CPUs utilized   ( +-  0.59% )
             12.50 Joules power/energy-pkg/                                  ( +-  0.06% )
              2.00 MiB  uncore_imc/data_reads/
          0.012439 +- 0.000141 seconds time elapsed  ( +-  1.13% )
""",
        {"wall_s": 0.012439, "power_energy_pkg_joules": 12.5, "uncore_imc_data_reads_bytes": 2**21},
    ),
    (
        "pgbench",
        "transaction type: TPC-B (sort of)\nlatency average: 9.188 ms\ntps = 108.830105\n",
        {"latency_mean_ms": 9.188},
    ),
    ("go-bench", "BenchmarkMutex  200  9787629 ns/op\n", {"gomaxprocs": 1}),
    ("go-bench", "BenchmarkMutex-16  200  9787629 ns/op\n", {"gomaxprocs": 16}),
    (
        "go-bench",
        "BenchmarkServe/conns=8-4  9  530 ns/op  12.5 p50-ms  904.2 req/s  5 B/op  9 allocs/op\n",
        {"p50_ms": 12.5, "req_per_s": 904.2, "allocations": 9},
    ),
]
"""Of ab, the master of sysbench and an old one, a fork of wrk2 that prints another third column,
perf before 4.20 in French, and others; from public repositories, shortened."""


@pytest.mark.parametrize(
    ("tool", "text", "expected"), DIALECTS, ids=[tool for tool, _, _ in DIALECTS]
)
def test_other_versions_and_dialects_are_read(tmp_path, tool, text, expected):
    row = imported(tool, written(tmp_path, text)).iloc[0]
    assert {key: row.get(key) for key in expected} == expected


WRK = sample("wrk_latency.txt").read_text()


def test_the_text_agrees_with_the_figures_that_a_script_prints():
    row = imported("wrk", sample("wrk_script.txt")).iloc[0]
    exact = json.loads(sample("wrk_script.txt").read_text().split("JSON ")[1])
    assert row["requests"] == exact["requests"]
    assert row["latency_p99_ms"] == pytest.approx(exact["p99_us"] / 1e3, rel=0.005)
    assert row["latency_max_ms"] == pytest.approx(exact["max_us"] / 1e3, rel=0.005)


def test_without_latency_there_are_no_percentiles_and_it_is_said(tmp_path):
    start, end = WRK.index("  Latency Distribution"), WRK.index("  1452991")
    table = imported("wrk", written(tmp_path, WRK[:start] + WRK[end:]))
    assert "latency_p50_ms" not in table and table["latency_mean_ms"][0] == 57.94
    assert "--latency" in table["note"][0]


@pytest.mark.parametrize("head", ["SQL statistics:", "OLTP test statistics:", "CPU speed:"])
def test_the_closed_loop_of_sysbench_is_that_of_its_database_tests(tmp_path, head):
    text = sample("sysbench_cpu.txt").read_text().replace("CPU speed:", head)
    said = " ".join(reader_of("sysbench")(written(tmp_path, text)).warnings)
    assert ("coordinated omission" in said) == (head != "CPU speed:")
    memory = reader_of("sysbench")(sample("sysbench_memory.txt")).warnings
    assert "coordinated omission" not in " ".join(memory)


def test_what_wrk_rounds_is_said_as_it_prints_it():
    """72537.81 requests/s beside 1.01s."""
    warnings = reader_of("wrk")(sample("wrk_latency.txt")).warnings
    [said] = [one for one in warnings if "prints" in one]
    assert "two decimals of their unit" in said


def test_the_closed_loop_is_said_and_not_of_wrk2(tmp_path):
    assert "coordinated omission" in imported("wrk", sample("wrk_latency.txt"))["note"][0]
    head = "Latency Distribution"
    wrk2 = WRK.replace(head, f"{head} (HdrHistogram - Recorded Latency)")
    wrk2 = wrk2.replace(" 99%  907.06ms", " 99.000%  907.06ms\n 99.900%    0.95s ")
    table = imported("wrk", written(tmp_path, wrk2))
    assert "coordinated omission" not in table["note"][0]
    assert (table["latency_p99_ms"][0], table["latency_p99_9_ms"][0]) == (907.06, 950.0)
    fork = imported("wrk", written(tmp_path, WRK2_FORK))
    assert "coordinated omission" not in fork["note"][0]


def test_errors_are_added_up_and_several_tests_in_one_file_are_several_rows(tmp_path):
    assert len(imported("wrk", written(tmp_path, WRK + WRK))) == 2
    said = "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\n"
    text = WRK.replace("Requests/sec:", f"{said}Requests/sec:")
    assert imported("wrk", written(tmp_path, text))["errors"][0] == 15


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


PERF = " Performance counter stats for './a':\n\n   2 cycles\n   0.5 seconds time elapsed\n\n"


@pytest.mark.parametrize(
    ("tool", "text", "line", "runs"),
    [("pgbench", CUT, 5, ["ok", "failed", "ok"]),
     ("perf-stat", PERF * 2 + PERF.split("   2")[0], 11, ["ok", "ok", "failed"])],
    ids=["in the middle", "at the end"],
)  # fmt: skip
def test_a_run_that_was_cut_off_is_failed_and_said_with_its_line(
    deadzone, tmp_path, tool, text, line, runs
):
    said = deadzone("import", tool, written(tmp_path, text), code=EXIT_PARTLY_READ)
    table = pd.read_csv(io.StringIO(said.out))
    assert f"3 runs, 1 incomplete, at line {line}." in said.err
    assert table["status"].tolist() == runs
    assert table["error"].dropna().tolist() == [f"incomplete, at line {line}"]


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


BETWEEN = ["sysbench_cpu", "wrk_latency", "criterion", "go_bench", "redis_benchmark"]


@pytest.mark.parametrize("name", BETWEEN)
def test_what_a_tool_prints_between_its_runs_is_no_heading(tmp_path, name):
    tool = name.removesuffix("_cpu").removesuffix("_latency").replace("_", "-")
    text = sample(f"{name}.txt").read_text() * 2
    assert "heading" not in imported(tool, written(tmp_path, text))


def test_a_benchmark_that_failed_is_a_row(tmp_path):
    text = "BenchmarkA-8  10  5 ns/op\nBenchmarkB-8 \n--- FAIL: BenchmarkC-8\n"
    table = imported("go-bench", written(tmp_path, text))
    assert table["status"].tolist() == ["ok", "failed", "failed"]
    assert table["benchmark"].tolist() == ["A", "B", "C"]


def test_a_file_with_a_failed_run_goes_with_one_without(tmp_path):
    whole = sample("pgbench_select.txt")
    table = imported("pgbench", whole, written(tmp_path, CUT))
    assert table["status"].tolist() == ["ok", "ok", "failed", "ok"]
