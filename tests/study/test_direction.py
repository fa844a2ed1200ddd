"""Which way a response is better, from its name, its unit or its cells."""

import pytest

from deadzone.analysis.phases.quantities import axis_label, exact_response, plain_name, response
from deadzone.study.direction import direction_of, known_goal


@pytest.mark.parametrize("name", [
    "wall_s", "latency_p99_ms", "Mean (ns)", "token_ms", "request_s", "time_min", "ms/t", "s/it",
    "ns/op", "B/op", "allocs/op", "us_per_op", "cache_misses", "errors_per_s", "error_rate",
    "cache_hit_latency_ms", "recall_time (s)", "success_cost", "hit_memory_mb", "precision_bytes",
     "timeouts/s", "max_rss_bytes", "energy_joules",
    "평균응답시간", "平均耗时", "오류율", "错误率", "Laufzeit", "ping under load",
    "timeOfOneLCAOMinimize(s)", "cpu_cycles", "p99", "Time/ms", "Latency p99/us",
])  # fmt: skip
def test_less_of_a_time_or_of_anything_per_thing_is_better(name):
    assert known_goal(name) == "min"


@pytest.mark.parametrize("name", [
    "tok_s", "req_s", "msgs_s", "MiB_s", "req/s", "t/s", "c/s real", "GB/s", "fps", "QPS", "tps",
    "throughput", "Mops", "GFLOPS", "kc_per_s", "Requests/sec", "ops/us", "it/s", "hit_rate",
    "achieved_rate", "speed_x", "tokens_per_joule", "req/s per core", "Memory bandwidth (MB/s)",
    "avg_ts", "throughput_p95", "Success %", "cache hit %", "tok/J", "NOPM", "ops/kWh", "MB/J",
    "처리량", "평균 처리량", "Durchsatz", "parallel efficiency", "S t/s", "S_PP t/s",
    "RPS</br>Single", "/s", "/sec", "吞吐量", "加速比", "유효 대역폭", "성공률", "Scaling",
    "Performance (ns/day)", "Latency Improvement",
])  # fmt: skip
def test_more_per_time_is_better(name):
    assert known_goal(name) == "max"


@pytest.mark.parametrize("name", ["value", "score", "result", "Mean", "steps", "maps", "count", ""])
def test_of_other_names_nothing_is_known(name):
    assert known_goal(name) is None


def test_what_was_asked_comes_first_then_the_name_the_unit_and_the_cells():
    assert direction_of("tok_s", "min", "1/s") == ("min", "asked")
    assert direction_of("errors", None, "1/s") == ("min", "name")
    assert direction_of("result", None, "frames/s", "ms") == ("max", "unit")
    assert direction_of("Mean", None, None, "ns") == ("min", "cells")
    assert direction_of("score", None, "points") == ("min", "assumed")


def test_the_same_rule_gives_the_printed_unit():
    assert response(60.3, "tok_s") == "60.3 tok/s"
    assert response(17.7, "t/s") == "17.7 t/s"
    assert response(3.5, "build_s") == "3.50 s" and response(687, "Time/ms") == "687 ms"
    assert response(2, "S t/s") == "2.00 t/s" and response(2, "Total tok/s") == "2.00 tok/s"
    assert response(0.1, "Mean ms</br>Single") == "0.100"
    assert exact_response(5e9, "throughput_bytes_s") == "5 GB/s"
    assert axis_label("t/s") == "t/s" and axis_label("scan_s") == "scan (s)"
    assert response(2730, "mean_tps") == "2,730 tps" and response(2, "steps") == "2.00"
    assert [response(2.07, name) for name in ("Time(s)", "Mean [s]")] == ["2.07 s", "2.07 s"]
    assert response(2, "Rate (rows/s)") == "2.00 rows/s" and response(2, "time (all)") == "2.00"
    assert axis_label("Time (s)") == "Time (s)" and axis_label("tps") == "tps"
    assert axis_label("time(s)", of_cells="ms") == "time (ms)"
    others = ("thread(s)", "latency (min)", "hit (yes/no)", "total_flop", "stops", "steps")
    assert [response(2, name) for name in others] == ["2.00"] * len(others)


def test_a_name_in_capitals_is_printed_as_it_is_written():
    assert plain_name("OMP_NUM_THREADS") == "OMP_NUM_THREADS"
    assert plain_name("pool_size") == "pool size"
