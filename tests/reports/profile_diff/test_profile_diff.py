"""What two published profiles show: totals, parts that do not add up, and what was not measured."""

from __future__ import annotations

import pytest

from deadzone.reports.profile_diff import published as profile_diff


@pytest.fixture(scope="module")
def study():
    return profile_diff.load()


@pytest.fixture(scope="module")
def judged(study):
    return {one.name: one for one in study.judged}


def test_totals_fall_as_published(study):
    assert study.facts()["saved"] == pytest.approx(26.04)
    assert study.facts()["heap_saved"] == pytest.approx(222.16)


def test_the_listed_savings_exceed_the_total_and_leave_the_rest_growing(study):
    facts = study.facts()
    assert (facts["rest_before"], facts["rest_after"]) == pytest.approx((5.79, 30.39))
    assert facts["listed_saved"] == pytest.approx(50.64)
    assert facts["listed_saved"] - facts["rest_gained"] == pytest.approx(facts["saved"])
    text = study.said("savings")
    assert "49.36 s" in text and "26.04 s" in text and "cannot decide" in text


def test_the_sum_of_causes_is_not_decided_from_tables_alone(judged):
    assert judged["savings"].verdict == "undecided"
    assert judged["freed"].verdict == "contradicted" and "43.0 %" in judged["freed"].found


def test_a_sampled_time_scatters_like_a_count(study):
    collector = next(row for row in study.table("parts").rows if row[0] == "garbage collector")
    assert collector[1:3] == ["0.72", "1.05"]
    assert study.facts()["error"] == pytest.approx(1.96 * 0.01 * (72 + 105) ** 0.5)
    assert collector[4] == f"± {1.96 * 0.01 * (72 + 105) ** 0.5:.2f}"
    assert study.facts(before=0, after=0)["error"] == 0


def test_the_saving_per_stream_rests_on_the_number_of_streams(study):
    assert study.facts()["even"] == pytest.approx(64 * 45.52 / 31.07)


def test_the_projection_is_proportional_and_warned_of(study):
    rows = study.table("projection").rows
    assert [row[3:5] for row in rows] == [["71.1", "71"], ["48.5", "49"]]
    assert any(block.style == "warnings" for block in study.projection() if hasattr(block, "style"))


def test_no_quality_was_measured(study, judged):
    assert {row[-1] for row in study.table("gates").rows} == {"not measured"}
    assert judged["function"].verdict == "undecided"


def test_parts_that_do_not_exceed_the_total_are_told_as_such(study):
    assert "within the 100.00 s" in study.said("savings", cpu_before=200.0, cpu_after=100.0)
