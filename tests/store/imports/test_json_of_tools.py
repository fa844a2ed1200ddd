import json

import pandas as pd
import pytest

from store.imports.samples import changed, imported, sample


def test_seconds_become_milliseconds():
    row = imported("oha", sample("oha_q200.json")).iloc[0]
    assert row["latency_p99_ms"] == pytest.approx(939.116787)
    assert row["latency_max_ms"] == pytest.approx(1000.197896)
    assert (row["requests"], row["achieved_rate"]) == (3883, 195.1150361562252)
    assert row["wall_s"] > 0
    assert "does not say whether it corrected" in row["note"]


def test_requests_that_the_end_cut_off_are_no_errors_and_refusals_are(tmp_path):
    def refuse(document):
        document["statusCodeDistribution"] = {"200": 10, "503": 3}
        document["errorDistribution"] = {"aborted due to deadline": 20, "connection refused": 2}

    row = imported("oha", changed(tmp_path, "oha_q200.json", refuse)).iloc[0]
    assert (row["requests"], row["errors"], row["unfinished"]) == (13, 5, 20)


def test_a_test_in_which_nothing_was_answered_has_no_latencies(tmp_path):
    def nothing(document):
        document["summary"].update(average=None, fastest=None, slowest=None)
        document["latencyPercentiles"] = dict.fromkeys(document["latencyPercentiles"])
        document["statusCodeDistribution"] = {}
        document["errorDistribution"] = {"connection refused": 40}

    row = imported("oha", changed(tmp_path, "oha_q200.json", nothing)).iloc[0]
    assert (row["requests"], row["errors"]) == (0, 40)
    assert "latency_p50_ms" not in row


def test_every_run_is_a_trial():
    table = imported("hyperfine", sample("hyperfine.json"))
    runs = table.groupby("command", sort=False)["wall_s"]
    commands = ("sha256sum /usr/bin/git", "md5sum /usr/bin/git")
    assert runs.size().to_dict() == dict.fromkeys(commands, 20)
    assert table["wall_s"].iloc[0] == 0.008495883000000001
    assert runs.median().tolist() == pytest.approx([0.0085026005, 0.005818893])
    assert list(table["replicate"][:3]) == [1, 2, 3]
    assert set(table["status"]) == {"ok"}


def test_parameters_are_factors_with_numbers_as_numbers(tmp_path):
    def with_parameters(document):
        for threads, result in zip(("4", "16"), document["results"], strict=True):
            result["parameters"] = {"threads": threads, "mode": "fast", "wall_s": "1"}

    table = imported("hyperfine", changed(tmp_path, "hyperfine.json", with_parameters))
    assert table["threads"].dtype == "Int64" and set(table["threads"]) == {4, 16}
    assert set(table["mode"]) == {"fast"}
    assert set(table["parameter_wall_s"]) == {1}


def test_a_program_that_failed_or_was_killed_is_a_failed_trial(tmp_path):
    codes = {"exit_codes": [1, None] + [0] * 18}
    path = changed(tmp_path, "hyperfine.json", lambda d: d["results"][0].update(codes))
    table = imported("hyperfine", path)
    assert list(table["status"][:3]) == ["failed", "failed", "ok"]
    assert table["exit_code"][0] == 1 and pd.isna(table["exit_code"][1])


def test_results_without_single_times_are_a_row_a_command(tmp_path):
    """As old releases wrote them, and people who leave the times out with jq."""
    results = [
        {"command": "make -j4", "mean": 2.5, "min": 2.25, "user": 8.0, "parameter": 4},
        {"command": "make -j8", "mean": 1.5, "median": 1.25, "parameter": 8},
    ]
    path = tmp_path / "h.json"
    path.write_text(json.dumps({"results": results}))
    table = imported("hyperfine", path)
    assert table["wall_s"].tolist() == [2.5, 1.25] and table["parameter"].tolist() == [4, 8]
    assert table["wall_min_s"][0] == 2.25 and "replicate" not in table
