"""oha's JSON."""

import pytest

from deadzone.errors import FormatError
from store.imports.samples import changed, imported, sample


def test_seconds_become_milliseconds():
    row = imported("oha", sample("oha_q200.json")).iloc[0]
    assert row["latency_p99_ms"] == pytest.approx(939.116787)
    assert row["latency_max_ms"] == pytest.approx(1000.197896)
    assert (row["requests"], row["achieved_rate"]) == (3883, 195.1150361562252)


def test_latencies_may_not_be_corrected():
    assert (
        "does not say whether it corrected" in imported("oha", sample("oha_q200.json"))["note"][0]
    )


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


def test_another_tools_json_is_refused():
    with pytest.raises(FormatError, match="oha"):
        imported("oha", sample("hyperfine.json"))
