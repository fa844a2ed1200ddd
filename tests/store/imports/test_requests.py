"""What is written a line a request: hey's CSV and JMeter's JTL."""

import numpy as np
import pandas as pd
import pytest

from deadzone.errors import FormatError
from store.imports.samples import imported, sample


def test_requests_are_summed_up_in_one_row():
    lines = pd.read_csv(sample("hey.csv"))
    row = imported("hey", sample("hey.csv")).iloc[0]
    assert row["requests"] == len(lines)
    assert row["latency_p99_ms"] == pytest.approx(np.percentile(lines["response-time"] * 1e3, 99))
    assert row["latency_max_ms"] == pytest.approx(lines["response-time"].max() * 1e3)
    assert row["wall_s"] == pytest.approx((lines["offset"] + lines["response-time"]).max())
    assert "coordinated omission" in row["note"] and "leaves out requests" in row["note"]


def test_refusals_are_errors_and_a_file_without_requests_is_refused(tmp_path):
    text, path = sample("hey.csv").read_text(), tmp_path / "hey.csv"
    path.write_text(text.replace(",200,0.1042", ",503,0.1042", 1))
    assert imported("hey", path)["errors"][0] == 1
    path.write_text(text.splitlines()[0] + "\n")
    with pytest.raises(FormatError, match="no request got an answer"):
        imported("hey", path)


SUMMARY = {"samples": 160, "mean": 22, "least": 2, "most": 203, "errors": 80}
"""What JMeter said itself of the recorded test: `summary = 160 ... Avg: 22 Min: 2 Max: 203 Err:
80`."""


def test_a_row_a_label_and_together_they_are_what_jmeter_says_in_its_summary():
    table = imported("jmeter", sample("jmeter.csv"))
    assert list(table["benchmark"]) == ["page", "missing"] and list(table["errors"]) == [0, 80]
    assert (
        table["requests"].sum() == SUMMARY["samples"] and table["errors"].sum() == SUMMARY["errors"]
    )
    assert int(np.average(table["latency_mean_ms"], weights=table["requests"])) == SUMMARY["mean"]
    assert table["latency_min_ms"].min() == SUMMARY["least"]
    assert table["latency_max_ms"].max() == SUMMARY["most"]
    lines = pd.read_csv(sample("jmeter.csv")).query("label == 'page'")
    assert table["latency_p99_ms"][0] == pytest.approx(np.percentile(lines["elapsed"], 99))
    assert table["transferred_bytes"][0] == lines["bytes"].sum()
    assert "coordinated omission" in table["note"][0]


def test_a_message_of_several_lines_is_one_sample(tmp_path):
    path = tmp_path / "out.jtl"
    path.write_text(
        sample("jmeter.csv").read_text().replace("File not found", '"File\nnot, found"')
    )
    assert imported("jmeter", path)["requests"].sum() == SUMMARY["samples"]


def test_xml_and_no_sample_are_refused(tmp_path):
    header, *_ = sample("jmeter.csv").read_text().splitlines()
    path = tmp_path / "out.jtl"
    for text, said in (
        ('<?xml version="1.0"?>\n<testResults version="1.2">', "output_format is xml"),
        (f"{header}\n", "a header and no sample"),
    ):
        path.write_text(text)
        with pytest.raises(FormatError, match=said):
            imported("jmeter", path)


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_cells_may_be_apart_by_other_marks(tmp_path, mark):
    path = tmp_path / "results.jtl"
    path.write_text(sample("jmeter.csv").read_text().replace(",", mark))
    ours, commas = imported("jmeter", path), imported("jmeter", sample("jmeter.csv"))
    columns = ["benchmark", "requests", "latency_p99_ms", "transferred_bytes"]
    assert ours[columns].equals(commas[columns])
