import re
from pathlib import Path

import pytest

from deadzone.errors import FormatError
from deadzone.store.imports.registry import RESPONSES, printed_by, reader_of
from deadzone.store.imports.result import FIRST, MEASURED, plausible
from store.imports.samples import imported, sample, written

CODEBOOK = (Path(__file__).resolve().parents[3] / "data" / "imported.md").read_text()


def test_a_level_that_the_file_does_not_tell_is_set():
    table = imported("wrk", sample("wrk_latency.txt"), threads="4", host="a")
    assert table["threads"].tolist() == [4] and table["threads"].dtype == "Int64"
    assert table["host"].tolist() == ["a"]
    assert list(table.columns).index("threads") < list(table.columns).index("wall_s")


def test_what_the_file_tells_is_not_set_to_something_else():
    with pytest.raises(FormatError, match="contradicts the file, which says 4"):
        imported("fio", sample("fio_seqw_direct_4k.json"), iodepth="8")
    assert len(imported("fio", sample("fio_seqw_direct_4k.json"), iodepth="4")) == 1


def test_the_codebook_explains_every_column():
    for name in (*FIRST, *MEASURED):
        row = re.search(rf"^\| `{name}` \| (.+) \| (.+) \|$", CODEBOOK, re.MULTILINE)
        assert row, f"data/imported.md lacks {name}"


NO_EVENT = """\
sysbench 0.4.12:  multi-threaded system evaluation benchmark
Number of threads: 16
    total time:                          0.0008s
    total number of events:              0
         min:                            18446744073709.55ms
         avg:                                  0.00ms
"""
ONE = NO_EVENT.replace("events:              0", "events:              10")
ONE = ONE.replace("0.00ms", "890ms")


def test_a_run_without_an_event_is_failed_and_is_no_best_setting(deadzone, tmp_path):
    paths = [
        written(tmp_path, ONE.replace("threads: 16", f"threads: {n}"), f"{n}.txt")
        for n in (1, 4, 8)
    ]
    table = imported("sysbench", *paths, written(tmp_path, NO_EVENT))
    assert table["status"].tolist() == ["ok", "ok", "ok", "failed"]
    assert table["latency_mean_ms"].isna().tolist() == [False, False, False, True]
    table.to_csv(tmp_path / "all.csv", index=False)
    knob = ("--knob", "client_threads", "--response", "latency_mean_ms")
    assert "client threads 16: 0 ms" not in deadzone("fit", tmp_path / "all.csv", *knob).out


def test_the_largest_number_of_nanoseconds_is_no_latency(tmp_path):
    results = reader_of("sysbench")(written(tmp_path, ONE))
    assert results.rows[0]["latency_min_ms"] is None
    assert results.rows[0]["latency_mean_ms"] == 890
    assert any("latency_min_ms 1.844674407e+13" in words for words in results.warnings)


@pytest.mark.parametrize(
    ("row", "missing"),
    [({"latency_min_ms": 90.0, "latency_p50_ms": 2.0, "latency_max_ms": 8.0}, "latency_min_ms"),
     ({"latency_p50_ms": 50.0, "latency_p99_ms": 9.0, "latency_max_ms": 60.0}, None),
     ({"latency_mean_ms": 50.0, "latency_max_ms": 9.0}, "latency_mean_ms"),
     ({"latency_p50_ms": -1.0, "latency_max_ms": 9.0}, "latency_p50_ms"),
     ({"requests": 5, "achieved_rate": 0.0}, "achieved_rate"),
     ({"latency_p99_ms": 110.0, "latency_max_ms": 107.0}, "")],
)  # fmt: skip
def test_figures_that_cannot_be_are_missing(row, missing):
    (kept,), said = plausible([row])
    gone = [name for name in row if kept[name] is None]
    assert len(gone) == (0 if missing == "" else 1) and len(said) == len(gone)
    assert not missing or gone == [missing]


def test_percentiles_of_too_few_requests_are_said():
    _, said = plausible([{"requests": 360, "latency_p99_ms": 5.0, "latency_p99_9_ms": 6.0}])
    assert len(said) == 1 and said[0].startswith("p99.9 of 360 requests rests on none or one")


@pytest.mark.parametrize(
    ("tool", "text", "said"),
    [("sysbench", NO_EVENT, "no request or event"),
     ("jmeter", "speed 2.5 fast\n", r"^what the program printed: is no CSV of JMeter")],
)  # fmt: skip
def test_a_trial_whose_program_did_nothing_or_printed_no_result_fails(tool, text, said):
    with pytest.raises(FormatError, match=said):
        printed_by(tool, text)


def test_a_trial_gets_what_its_program_printed_and_it_does_not_measure_itself():
    found = printed_by("pgbench", sample("pgbench_select.txt").read_text())
    assert found["achieved_rate"] == 1714.597008 and found["errors"] == 0
    assert "wall_s" not in found and set(found) <= set(RESPONSES)


def test_repeats_are_their_median_and_several_benchmarks_are_refused():
    text = sample("go_bench.txt").read_text()
    repeats = "\n".join(line for line in text.splitlines() if "Sort/n=100-" in line)
    median_s = (38060e-9 + 16939e-9) / 2
    assert printed_by("go-bench", repeats)["time_per_call_s"] == pytest.approx(median_s)
    with pytest.raises(FormatError, match="holds 3 results, and a trial is one"):
        printed_by("go-bench", text)
