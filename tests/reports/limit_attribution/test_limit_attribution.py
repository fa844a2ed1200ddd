"""What the published search for a cause shows, by arithmetic worked out by hand."""

from __future__ import annotations

import pytest

from deadzone.reports.limit_attribution import published as limit_attribution


@pytest.fixture(scope="module")
def study():
    return limit_attribution.load()


@pytest.fixture(scope="module")
def facts(study):
    return study.facts()


def test_the_pod_is_32_to_33_times_slower(facts):
    assert facts["wall_ratio"] == pytest.approx(148.263 / 4.539)
    assert f"{facts['wall_ratio']:.2f}" == "32.66"
    assert f"{facts['ratio']:.2f}" == "32.47"


def test_lifting_the_limits_restores_nearly_all(facts):
    assert facts["left"] == pytest.approx(4.718 / 4.584 - 1)
    assert 0.99 < facts["restored"] < 1


def test_one_core_of_twenty_cannot_explain_a_factor_of_32(study):
    assert study.facts()["more_work"] == pytest.approx(148.835 / (20 * 4.584))
    assert "at least 1.6 times the CPU time" in study.said("limit_alone")
    assert "can explain" in study.said("limit_alone", cores=64.0)


def test_the_time_to_the_first_byte_may_be_the_upload(study):
    assert study.facts()["upload_rate"] == pytest.approx(22.7e6 / 0.209851)
    assert "108 MB/s" in study.said("request_times.first_byte")


def test_only_the_limit_is_supported_and_the_others_stay_open(study):
    rows = {row[0]: row[1:3] for row in study.table("hypotheses").rows}
    assert rows["CPU limit"] == ["confirmed", "supported by removal"]
    for name in ("disk input and output", "memory pressure", "network"):
        assert rows[name] == ["excluded", "undecided"]
    assert rows["client"] == ["excluded", "excluded"]


def test_the_missing_table_is_shown_as_missing(study):
    table = study.table("experiment-1")
    assert [row[0] for row in table.rows] == ["A", "B", "C"]
    assert {cell for row in table.rows for cell in row[1:]} == {"not in the document"}


def test_what_was_not_measured_is_a_gap_in_the_guideline(study):
    rows = study.table("guideline").rows
    assert [row[2] for row in rows] == ["148.835", "-", "4.718"]
    assert rows[1][3] == "not measured"


def test_the_times_are_those_of_the_document(facts):
    assert facts["limited"] == 148.835 and facts["wall_container"] == 4.539
    assert facts["client_ms"] == pytest.approx(21)


def test_by_the_rules_for_runs_one_request_each_decides_nothing_but_the_client(study):
    assert study.result.named("excluded") == ("client",)
    assert study.result.confirmed == ()
    assert study.result.ratio == pytest.approx(148.835 / 4.584)
    rows = study.rules_table().rows
    assert "throttling was not counted" in rows[0][2]


def test_nearly_all_of_the_request_lies_after_what_was_counted_as_the_first_byte(study):
    assert "148.63 of 148.84 s" in study.said("request_times.after_first_byte")
