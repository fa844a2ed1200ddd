import gzip
import json

import pytest
from store.imports.samples import changed, imported, sample, written

from deadzone.errors import FormatError

SUMMARY = "k6_summary_export.json"


def test_the_summary_is_one_trial():
    row = imported("k6", sample(SUMMARY)).iloc[0]
    assert (row["requests"], row["iterations"], row["vus_max"]) == (3868, 3868, 183)
    assert row["achieved_rate"] == 190.31024431970766
    assert row["latency_p99_ms"] == 955.9955694699999 and row["latency_max_ms"] == 1005.152916
    assert row["wall_s"] == pytest.approx(3868 / 190.31024431970766)
    assert (row["transferred_bytes"], row["sent_bytes"]) == (498972, 270760)
    assert row["dropped"] == 133 and "dropped 133 of 4,001 iterations" in row["note"]


def test_in_a_summary_export_true_means_crossed(tmp_path):
    table = imported("k6", sample(SUMMARY))
    assert table["thresholds_crossed"][0] == 2
    assert "avg<40" in table["note"][0]

    def keep(document):
        document["metrics"]["http_req_duration"]["thresholds"] = {"avg<40": False}

    assert imported("k6", changed(tmp_path, SUMMARY, keep))["thresholds_crossed"][0] == 0


def test_for_handle_summary_ok_means_kept(tmp_path):
    trend, counter = {"type": "trend", "contains": "time"}, {"type": "counter"}
    crossed = {"avg<40": {"ok": True}, "max<1": {"ok": False}}
    measured = {"avg": 5.0, "med": 4.0, "p(99.9)": 9.0}
    metrics = {
        "http_req_duration": {**trend, "values": measured, "thresholds": crossed},
        "http_reqs": {**counter, "contains": "default", "values": {"count": 100, "rate": 5.0}},
        "queue": {**trend, "values": {"avg": 2.0}},
    }
    document = {"state": {"testRunDurationMs": 20000.0}, "metrics": metrics}
    row = imported("k6", written(tmp_path, json.dumps(document), "s.json")).iloc[0]
    assert (row["thresholds_crossed"], row["wall_s"], row["latency_p99_9_ms"]) == (1, 20.0, 9.0)
    assert row["queue_mean_ms"] == 2.0
    assert "max<1" in row["note"] and "avg<40" not in row["note"]


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


@pytest.mark.parametrize(
    "line",
    ['{"type":"Metric","data":{"name":"http_reqs","type":"counter"},"metric":"http_reqs"}',
     '{"metric":"http_reqs","type":"Point","data":{"value":1,"tags":{"scenario":"open"}}}',
     "metric_name,timestamp,metric_value,check,error"],
)  # fmt: skip
def test_a_stream_of_points_is_refused_with_the_way_out(tmp_path, line):
    path = tmp_path / "points.gz"
    path.write_bytes(gzip.compress(f"{line}\n".encode() * 2))
    with pytest.raises(FormatError, match="--summary-export=FILE and import that"):
        imported("k6", path)


@pytest.mark.parametrize(
    ("name", "said"), [("k6_stdout.txt", "--summary-export"), ("oha_q200.json", "k6")]
)
def test_what_is_printed_and_a_json_of_something_else_are_refused(name, said):
    with pytest.raises(FormatError, match=said):
        imported("k6", sample(name))
