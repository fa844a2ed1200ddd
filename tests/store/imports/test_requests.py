import numpy as np
import pandas as pd
import pytest

from store.imports.samples import imported, sample, written


def test_requests_are_summed_up_in_one_row():
    lines = pd.read_csv(sample("hey.csv"))
    row = imported("hey", sample("hey.csv")).iloc[0]
    assert row["requests"] == len(lines)
    assert row["latency_p99_ms"] == pytest.approx(np.percentile(lines["response-time"] * 1e3, 99))
    assert row["latency_max_ms"] == pytest.approx(lines["response-time"].max() * 1e3)
    assert row["wall_s"] == pytest.approx((lines["offset"] + lines["response-time"]).max())
    assert "coordinated omission" in row["note"] and "leaves out requests" in row["note"]


def test_refusals_of_the_server_are_errors(tmp_path):
    text = sample("hey.csv").read_text().replace(",200,0.1042", ",503,0.1042", 1)
    assert imported("hey", written(tmp_path, text))["errors"][0] == 1


SUMMARY = {"samples": 160, "mean": 22, "least": 2, "most": 203, "errors": 80}
"""What JMeter said itself of the recorded test: `summary = 160 ... Avg: 22 Min: 2 Max: 203 Err:
80`."""


def test_a_row_a_label_and_together_they_are_what_jmeter_says_in_its_summary():
    table = imported("jmeter", sample("jmeter.csv"))
    assert list(table["benchmark"]) == ["page", "missing"] and list(table["errors"]) == [0, 80]
    assert table["requests"].sum() == SUMMARY["samples"]
    assert table["errors"].sum() == SUMMARY["errors"]
    assert int(np.average(table["latency_mean_ms"], weights=table["requests"])) == SUMMARY["mean"]
    assert table["latency_min_ms"].min() == SUMMARY["least"]
    assert table["latency_max_ms"].max() == SUMMARY["most"]
    lines = pd.read_csv(sample("jmeter.csv")).query("label == 'page'")
    assert table["latency_p99_ms"][0] == pytest.approx(np.percentile(lines["elapsed"], 99))
    assert table["transferred_bytes"][0] == lines["bytes"].sum()
    assert "coordinated omission" in table["note"][0]


def test_a_message_of_several_lines_is_one_sample(tmp_path):
    text = sample("jmeter.csv").read_text().replace("File not found", '"File\nnot, found"')
    table = imported("jmeter", written(tmp_path, text))
    assert table["requests"].sum() == SUMMARY["samples"]


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_cells_may_be_apart_by_other_marks(tmp_path, mark):
    text = sample("jmeter.csv").read_text().replace(",", mark)
    ours = imported("jmeter", written(tmp_path, text))
    commas = imported("jmeter", sample("jmeter.csv"))
    columns = ["benchmark", "requests", "latency_p99_ms", "transferred_bytes"]
    assert ours[columns].equals(commas[columns])
