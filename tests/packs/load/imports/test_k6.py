"""k6's summaries and streams, and the ways in which they mislead."""

import gzip
import json
import tracemalloc
from datetime import datetime

import pandas as pd
import pytest
from store.imports.samples import changed, imported, sample

from deadzone.errors import FormatError
from deadzone.store.imports.registry import reader_of

SUMMARY = "k6_summary_export.json"


def test_the_summary_is_one_trial():
    row = imported("k6", sample(SUMMARY)).iloc[0]
    assert (row["requests"], row["iterations"], row["vus_max"]) == (3868, 3868, 183)
    assert row["achieved_rate"] == 190.31024431970766
    assert row["latency_p99_ms"] == 955.9955694699999 and row["latency_max_ms"] == 1005.152916
    assert row["wall_s"] == pytest.approx(3868 / 190.31024431970766)
    assert (row["transferred_bytes"], row["sent_bytes"]) == (498972, 270760)


def test_in_a_summary_export_true_means_crossed(tmp_path):
    table = imported("k6", sample(SUMMARY))
    assert table["thresholds_crossed"][0] == 2
    assert "avg<40" in table["note"][0]

    def keep(document):
        document["metrics"]["http_req_duration"]["thresholds"] = {"avg<40": False}

    assert imported("k6", changed(tmp_path, SUMMARY, keep))["thresholds_crossed"][0] == 0


def test_for_handle_summary_ok_means_kept(tmp_path):
    document = {
        "state": {"testRunDurationMs": 20000.0},
        "metrics": {
            "http_req_duration": {
                "type": "trend",
                "contains": "time",
                "values": {"avg": 5.0, "med": 4.0, "p(99.9)": 9.0},
                "thresholds": {"avg<40": {"ok": True}, "max<1": {"ok": False}},
            },
            "http_reqs": {
                "type": "counter",
                "contains": "default",
                "values": {"count": 100, "rate": 5.0},
            },
            "queue": {"type": "trend", "contains": "time", "values": {"avg": 2.0}},
        },
    }
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document))
    row = imported("k6", path).iloc[0]
    assert (row["thresholds_crossed"], row["wall_s"], row["latency_p99_9_ms"]) == (1, 20.0, 9.0)
    assert row["queue_mean_ms"] == 2.0
    assert "max<1" in row["note"] and "avg<40" not in row["note"]


def test_dropped_iterations_are_read_and_said():
    row = imported("k6", sample(SUMMARY)).iloc[0]
    assert row["dropped"] == 133
    assert "dropped 133 of 4,001 iterations" in row["note"]


def test_passes_of_http_req_failed_are_the_failures(tmp_path):
    assert imported("k6", sample(SUMMARY))["errors"][0] == 0

    def fail(document):
        document["metrics"]["http_req_failed"] = {"passes": 7, "fails": 3861, "value": 0.0018}

    assert imported("k6", changed(tmp_path, SUMMARY, fail))["errors"][0] == 7


def test_a_missing_99th_percentile_is_said(tmp_path):
    path = changed(tmp_path, SUMMARY, lambda d: d["metrics"]["http_req_duration"].pop("p(99)"))
    table = imported("k6", path)
    assert "latency_p99_ms" not in table and "summary-trend-stats" in table["note"][0]


def test_metrics_of_the_script_keep_their_names():
    row = imported("k6", sample("k6_ws_summary_export.json")).iloc[0]
    assert (row["ws_rtt_p99"], row["ws_msgs_sent"]) == (2.1688452148437496, 3500)
    assert row["ws_connecting_p99_ms"] == 74.10991713
    assert row["ws_msgs_received_per_s"] == 273.93961643792676


@pytest.mark.parametrize("name", ["k6_points.ndjson", "k6_points.csv"])
def test_a_stream_of_points_becomes_a_row_a_scenario(name):
    row = imported("k6", sample(name)).iloc[0]
    text = sample(name).read_text()
    assert row["scenario"] == "open"
    assert row["dropped"] == 8
    assert row["requests"] == len(
        [line for line in text.splitlines() if is_point(line, "http_reqs")]
    )
    assert row["started_at"].startswith("2026-11-21T05:23:38")


def is_point(line, metric):
    return line.startswith(f"{metric},") or (f'"metric":"{metric}"' in line and '"Point"' in line)


def test_both_streams_tell_the_same(tmp_path):
    points = [json.loads(line) for line in sample("k6_points.ndjson").read_text().splitlines()]
    lines = [
        f"{p['metric']},{datetime.fromisoformat(p['data']['time']).timestamp():.9f},{p['data']['value']},open"
        for p in points
        if p["type"] == "Point"
    ]
    path = tmp_path / "points.csv"
    path.write_text("metric_name,timestamp,metric_value,scenario\n" + "\n".join(lines) + "\n")
    one, other = imported("k6", sample("k6_points.ndjson")).iloc[0], imported("k6", path).iloc[0]
    for column in ("latency_p99_ms", "latency_max_ms", "requests", "dropped", "transferred_bytes"):
        assert one[column] == other[column]
    assert one["wall_s"] == pytest.approx(other["wall_s"], abs=1e-4)


def test_packed_streams_are_read(tmp_path):
    path = tmp_path / "points.json.gz"
    path.write_bytes(gzip.compress(sample("k6_points.ndjson").read_bytes()))
    assert imported("k6", path)["dropped"][0] == 8


def test_a_large_stream_is_read_in_little_memory(tmp_path):
    """20,000 points of some 6 MB: the reader keeps eight bytes of each request."""
    lines = sample("k6_points.ndjson").read_text().splitlines()
    line = next(line for line in lines if is_point(line, "http_req_duration"))
    path = tmp_path / "points.json"
    path.write_text((line + "\n") * 20_000)
    tracemalloc.start()
    try:
        assert imported("k6", path)["latency_p50_ms"][0] == json.loads(line)["data"]["value"]
        assert tracemalloc.get_traced_memory()[1] < path.stat().st_size / 3
    finally:
        tracemalloc.stop()


def test_scenarios_stand_apart(tmp_path):
    text = sample("k6_points.csv").read_text()
    path = tmp_path / "two.csv"
    path.write_text(text + "\n".join(text.splitlines()[1:]).replace(",open,", ",spike,") + "\n")
    table = imported("k6", path)
    assert table["scenario"].tolist() == ["open", "spike"]
    assert table["dropped"].tolist() == [8, 8]


def test_what_k6_prints_on_the_screen_is_refused_with_the_way_out():
    with pytest.raises(FormatError, match="--summary-export"):
        imported("k6", sample("k6_stdout.txt"))


def test_a_line_that_nests_too_deep_is_left_out_and_said(tmp_path):
    path = tmp_path / "deep.json"
    text = sample("k6_points.ndjson").read_text()
    path.write_text(f"{text}{'[' * 100_000}\n")
    assert reader_of("k6")(path).cut_lines == (text.count("\n") + 1,)


def test_a_line_of_a_stream_that_was_cut_off_is_said_and_another_kind_of_line_refused(tmp_path):
    path = tmp_path / "cut.json"
    text = sample("k6_points.ndjson").read_text()[:3000]
    path.write_text(text)
    assert reader_of("k6")(path).cut_lines == (text.count("\n") + 1,)
    path.write_text(text[: text.rindex("\n")] + '\n{"type":"Point"}\n')
    with pytest.raises(FormatError, match=r"line \d+ is no point of k6"):
        imported("k6", path)


def test_a_json_of_something_else_is_refused():
    with pytest.raises(FormatError, match="k6"):
        imported("k6", sample("oha_q200.json"))
    assert pd.notna(imported("oha", sample("oha_q200.json"))["wall_s"][0])
