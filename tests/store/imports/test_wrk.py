"""wrk's text, with and without percentiles."""

import json

import pytest

from deadzone.errors import FormatError
from store.imports.samples import imported, sample, written

TEXT = sample("wrk_latency.txt").read_text()


def test_units_of_the_text_become_ours():
    """190.00us, 165.79ms, 1.01s; 178.75MB is 178.75 * 1024 * 1024 bytes."""
    row = imported("wrk", sample("wrk_latency.txt")).iloc[0]
    assert (row["latency_p50_ms"], row["latency_p90_ms"], row["latency_p99_ms"]) == (
        0.19,
        165.79,
        907.06,
    )
    assert (row["latency_mean_ms"], row["latency_max_ms"]) == (57.94, 1010.0)
    assert (row["requests"], row["wall_s"], row["achieved_rate"]) == (1452991, 20.03, 72537.81)
    assert row["transferred_bytes"] == round(178.75 * 2**20)
    assert (row["client_threads"], row["client_connections"], row["errors"]) == (2, 20, 0)


def test_the_text_agrees_with_the_figures_that_a_script_prints():
    row = imported("wrk", sample("wrk_script.txt")).iloc[0]
    exact = json.loads(sample("wrk_script.txt").read_text().split("JSON ")[1])
    assert row["requests"] == exact["requests"]
    assert row["latency_p99_ms"] == pytest.approx(exact["p99_us"] / 1e3, rel=0.005)
    assert row["latency_max_ms"] == pytest.approx(exact["max_us"] / 1e3, rel=0.005)


def test_without_latency_there_are_no_percentiles_and_it_is_said(tmp_path):
    start, end = TEXT.index("  Latency Distribution"), TEXT.index("  1452991")
    table = imported("wrk", written(tmp_path, TEXT[:start] + TEXT[end:]))
    assert "latency_p50_ms" not in table and table["latency_mean_ms"][0] == 57.94
    assert "--latency" in table["note"][0]


def test_the_closed_loop_is_said_and_not_of_wrk2(tmp_path):
    assert "coordinated omission" in imported("wrk", sample("wrk_latency.txt"))["note"][0]
    wrk2 = TEXT.replace(
        "Latency Distribution", "Latency Distribution (HdrHistogram - Recorded Latency)"
    )
    wrk2 = wrk2.replace(" 99%  907.06ms", " 99.000%  907.06ms\n 99.900%    0.95s ")
    table = imported("wrk", written(tmp_path, wrk2))
    assert "coordinated omission" not in table["note"][0]
    assert (table["latency_p99_ms"][0], table["latency_p99_9_ms"][0]) == (907.06, 950.0)


def test_errors_are_added_up(tmp_path):
    said = (
        "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: "
        "5\nRequests/sec:"
    )
    assert (
        imported("wrk", written(tmp_path, TEXT.replace("Requests/sec:", said)))["errors"][0] == 15
    )


def test_several_tests_in_one_file_are_several_rows(tmp_path):
    assert len(imported("wrk", written(tmp_path, TEXT + TEXT))) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [(TEXT[:200], "was cut off"), ("hello", "write it with `wrk --latency"),
     (TEXT.replace("20.03s", "20.03x"), "known where a time stands")],
)  # fmt: skip
def test_other_and_cut_texts_are_refused(tmp_path, text, message):
    with pytest.raises(FormatError, match=message):
        imported("wrk", written(tmp_path, text))
