"""Figures from public repositories, or in the form that the source of a tool prints; shortened."""

import json

import pandas as pd
import pytest

from deadzone.errors import FormatError
from deadzone.store.imports.registry import read_result, reader_of
from store.imports.samples import changed, imported, sample, written

NO_HEAD = """\
## Proxmox VE
CPU speed:
    events per second: 1716.69
General statistics:
    total time: 10.0004s
    total number of events: 17169
Latency (ms):
    95th percentile: 0.65
## VMware Workstation
CPU speed:
    events per second: 1364.78
General statistics:
    total time: 10.0007s
    total number of events: 13650
Latency (ms):
    95th percentile: 0.89
"""

REDIS_4 = """\
====== SET ======
  50000 requests completed in 1.62 seconds
  50 parallel clients

42.17% <= 1 milliseconds
100.00% <= 3 milliseconds
30883.26 requests per second
"""

REDIS_QUIET = (
    "SET: rps=0.0 (overall: nan) avg_msec=nan (overall: nan)\r"
    "SET: 162866.44 requests per second, p50=0.151 msec                    \n"
    "MSET (10 keys): 128369.70 requests per second, p50=0.327 msec\n"
)

CRITERION = """\
sort/1024               time:   [12.345 µs 12.456 µs 12.567 µs]
                        thrpt:  [81.482 Melem/s 82.208 Melem/s 82.948 Melem/s]
                 change:
                        time:   [-1.2345% +0.1234% +1.3456%] (p = 0.84 > 0.05)
                        thrpt:  [-1.3277% -0.1232% +1.2499%]
                        No change in performance detected.
Found 5 outliers among 100 measurements (5.00%)
  3 (3.00%) high mild
copy/a name that takes a line of its own/2048
                        time:   [1.2345 ms 1.2456 ms 1.2567 ms]
                        thrpt:  [1.0000 GiB/s 1.5000 GiB/s 2.0000 GiB/s]
                        change: [-1.2345% +0.1234% +1.3456%] (p = 0.84 > 0.05)
test of old ... bench:       1,234 ns/iter (+/- 56)
"""

WRK_UNCALIBRATED = """\
Running 5s test @ https://x.example
  2 threads and 2 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     -nanus    -nanus   0.00us    0.00%
 50.000%    0.00us
100.000%    0.00us
  6 requests in 5.08s, 3.47KB read
Requests/sec:      1.18
"""


PRINTED = {
    "wrk": "wrk_latency.txt", "pgbench": "pgbench_select.txt", "sysbench": "sysbench_cpu.txt",
    "redis-benchmark": "redis_benchmark.txt", "go-bench": "go_bench.txt",
    "criterion": "criterion.txt", "gnu-time": "gnu_time.txt",
}  # fmt: skip


@pytest.mark.parametrize("tool", PRINTED)
@pytest.mark.parametrize("margin", ["    ", "\t", "\x1b[1m"])
def test_a_text_in_a_page_or_in_colours_tells_the_same(tmp_path, tool, margin):
    text = sample(PRINTED[tool]).read_text()
    whole = imported(tool, written(tmp_path, text))
    copied = "".join(f"{margin}{line}\r\n" for line in text.splitlines())
    pd.testing.assert_frame_equal(imported(tool, written(tmp_path, copied)), whole)


def test_results_of_sysbench_without_its_first_lines_are_read(tmp_path):
    table = imported("sysbench", written(tmp_path, NO_HEAD))
    assert table["heading"].tolist() == ["Proxmox VE", "VMware Workstation"]
    assert table["requests"].tolist() == [17169, 13650]
    assert table["achieved_rate"].tolist() == [1716.69, 1364.78]


def test_redis_benchmark_before_6_2_and_with_q_is_read(tmp_path):
    path = written(tmp_path, REDIS_4)
    old = imported("redis-benchmark", path).iloc[0]
    assert (old["test"], old["requests"], old["achieved_rate"]) == ("SET", 50000, 30883.26)
    assert any("no percentile" in words for words in reader_of("redis-benchmark")(path).warnings)
    quiet = imported("redis-benchmark", written(tmp_path, REDIS_QUIET))
    assert quiet["test"].tolist() == ["SET", "MSET (10 keys)"]
    assert quiet["achieved_rate"].tolist() == [162866.44, 128369.7]
    assert quiet["latency_p50_ms"].tolist() == [0.151, 0.327]
    lines = imported("redis-benchmark", written(tmp_path, '"SET","74626.87"\n"GET","75471.70"\n'))
    assert lines["test"].tolist() == ["SET", "GET"]
    assert lines["achieved_rate"].tolist() == [74626.87, 75471.7]


def test_criterion_tells_throughput_and_what_changed_since(tmp_path):
    table = imported("criterion", written(tmp_path, CRITERION))
    names = ["sort/1024", "copy/a name that takes a line of its own/2048", "of old"]
    assert table["benchmark"].tolist() == names and "heading" not in table
    assert table["time_per_call_s"].tolist() == pytest.approx([12.456e-6, 1.2456e-3, 1.234e-6])
    assert table["time_per_call_high_s"][0] == pytest.approx(12.567e-6)
    assert table["achieved_rate"][0] == pytest.approx(82.208e6)
    assert table["throughput_bytes_s"][1] == 1.5 * 2**30


def test_a_metric_alone_in_the_json_of_perf_stat_is_passed_over(tmp_path):
    text = sample("perf_stat.ndjson").read_text()
    more = '{"metric-value" : "14.6", "metric-unit" : "%  tma_bad_speculation"}\n'
    assert len(imported("perf-stat", written(tmp_path, text + more))) == 1


def test_a_sweep_of_vllm_is_a_list_of_results(tmp_path):
    one = json.loads(sample("vllm_bench.json").read_text())
    path = written(tmp_path, json.dumps([one, {**one, "max_concurrency": 64}]), "summary.json")
    assert imported("vllm-bench", path)["max_concurrency"].tolist() == [32, 64]


def test_percentiles_of_zero_beside_a_mean_are_missing(tmp_path):
    def change(document):
        document |= {"percentiles1": {"total": 0}, "minResponseTime": {"total": 0}}

    row = imported("gatling", changed(tmp_path, "gatling.json", change)).iloc[0]
    assert row["latency_mean_ms"] == 41
    assert not {"latency_p50_ms", "latency_min_ms"} & {*row.dropna().index}


def test_latencies_that_are_all_zero_are_missing(tmp_path):
    path = written(tmp_path, WRK_UNCALIBRATED)
    row = imported("wrk", path).iloc[0]
    assert row["requests"] == 6 and "latency_p50_ms" not in row and "latency_max_ms" not in row
    assert any("of zero were not measured" in words for words in reader_of("wrk")(path).warnings)


def test_latencies_that_fio_did_not_count_are_missing(tmp_path):
    nothing = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}

    def reduced(document):
        for side in document["jobs"][0].values():
            if isinstance(side, dict) and "clat_ns" in side:
                side |= {"clat_ns": nothing, "lat_ns": nothing}

    path = changed(tmp_path, "fio_seqw_direct_4k.json", reduced)
    assert "latency_mean_ms" not in imported("fio", path)


def google(tmp_path, *entries):
    every = [{"time_unit": "ns", "iterations": 5, **entry} for entry in entries]
    return written(tmp_path, json.dumps({"benchmarks": every}))


def test_a_google_benchmark_that_was_skipped_took_no_time_of_zero(tmp_path):
    skipped = {"name": "A", "skipped": True, "skip_message": "later", "real_time": 0.0}
    path = google(tmp_path, skipped, {"name": "B", "real_time": 5.0, "Bytes": 7.0})
    table = imported("google-benchmark", path)
    assert table["status"].tolist() == ["failed", "ok"] and table["error"][0] == "skipped: later"
    assert table["time_per_call_s"].tolist()[1:] == pytest.approx([5e-9])
    assert table["time_per_call_s"].isna()[0] and table["bytes"][1] == 7


def test_the_fits_of_an_old_google_benchmark_are_no_runs(tmp_path):
    path = google(tmp_path, {"name": "A", "real_time": 5}, {"name": "A_BigO"}, {"name": "A_RMS"})
    assert imported("google-benchmark", path)["benchmark"].tolist() == ["A"]


def test_what_google_benchmark_prints_is_refused_with_one_way_out(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("Benchmark      Time    CPU  Iterations\nBM_x/1   100 ns   100 ns   7000\n")
    with pytest.raises(FormatError, match="printed it") as refused:
        read_result("google-benchmark", path)
    assert str(refused.value).count("--benchmark_out=FILE") == 1


def test_aggregates_alone_are_refused_with_the_option(tmp_path):
    path = google(tmp_path, {"name": "A_mean", "run_type": "aggregate", "real_time": 5})
    with pytest.raises(FormatError, match="without --benchmark_report_aggregates_only"):
        imported("google-benchmark", path)


def test_what_a_person_adds_to_a_pytest_benchmark_has_a_column(tmp_path):
    def with_threads(document):
        document["benchmarks"][0]["extra_info"] = {"threads": 4, "codec": "lz4", "notes": [1]}

    row = imported("pytest-benchmark", changed(tmp_path, "pytest_benchmark.json", with_threads))
    assert (row["threads"][0], row["codec"][0]) == (4, "lz4") and "notes" not in row


@pytest.mark.parametrize("between", ["", "\n", " \n\n"])
def test_several_documents_in_a_file_are_read(tmp_path, between):
    for tool, name in (("oha", "oha_q200.json"), ("hyperfine", "hyperfine.json")):
        once = imported(tool, sample(name))
        text = sample(name).read_text().strip()
        twice = imported(tool, written(tmp_path, f"{text}{between}{text}"))
        assert len(twice) == 2 * len(once)


JTL = "timeStamp,elapsed,label,success\n{}\n{}\n"


def test_a_jtl_may_have_no_bytes_and_have_been_in_a_spreadsheet(tmp_path):
    lines = ("1704103200000,120,Home,TRUE", "1704103200100,130,Home,false")
    row = imported("jmeter", written(tmp_path, JTL.format(*lines))).iloc[0]
    assert (row["requests"], row["errors"], row["wall_s"]) == (2, 1, pytest.approx(0.23))
    assert "transferred_bytes" not in row


def test_percentiles_that_locust_was_not_asked_for_are_missing(tmp_path):
    head = "Type,Name,Request Count,Failure Count,Median Response Time,Requests/s,50%,95%\n"
    row = imported("locust", written(tmp_path, f"{head}GET,/,100,5,12,10.0,12,18\n")).iloc[0]
    assert (row["latency_p95_ms"], row["errors"]) == (18, 5) and "latency_p99_ms" not in row
