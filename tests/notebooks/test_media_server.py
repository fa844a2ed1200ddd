"""What two published profiles show: totals, parts that do not add up, and what was not measured."""

import pytest

from notebooks.executed import Executed


@pytest.fixture(scope="module")
def notebook():
    with Executed("published/media_server") as executed:
        yield executed


def test_every_conclusion_has_its_verdict(notebook):
    assert notebook.value("verdicts") == {
        "CPU 31.7 % and memory 87.9 % less": "in part",
        "four savings explain the CPU time": "not shown",
        "NACK and mDNS freed 48.99 %": "contradicted",
        "the times are flat": "not shown",
        "the garbage collector is relieved": "not shown",
        "31 % less CPU a stream": "not shown",
        "the old build is near its limit": "not shown",
        "no function was lost": "not shown",
        "the same conditions": "not shown",
    }


def test_totals_fall_as_published(notebook):
    assert notebook.value("saved") == pytest.approx(26.04)
    assert notebook.value("heap_saved.sum() + unlisted") == pytest.approx(222.16)
    assert "31.8 % and 87.9 % between these two profiles" in notebook.sentences


def test_the_listed_savings_exceed_the_total_and_leave_the_rest_growing(notebook):
    assert notebook.value("rest[both].tolist()") == pytest.approx([5.79, 30.39])
    assert notebook.value("listed") == pytest.approx(50.64)
    assert notebook.value("listed - parts['change_s']['not listed'] - saved") == pytest.approx(0)
    assert "add up to 49.36 s, 1.9 times the 26.04 s" in notebook.sentences


def test_savings_that_do_not_exceed_the_total_are_told_as_such(notebook):
    assert "**In part.**" in notebook.again('"four savings explain', "saved = 100.0")


def test_shares_that_were_said_to_free_half_free_43_percent(notebook):
    assert "add up to 43.0 %" in notebook.sentences


def test_a_sampled_time_scatters_like_a_count(notebook):
    collector = notebook.value("parts.loc['gc_scanobject'].to_dict()")
    assert (collector["baseline"], collector["optimised"]) == (0.72, 1.05)
    assert collector["error_s"] == pytest.approx(1.96 * 0.01 * (72 + 105) ** 0.5)


def test_the_saving_per_stream_rests_on_the_number_of_streams(notebook):
    assert notebook.value("even") == pytest.approx(64 * 45.52 / 31.07)


def test_the_projection_is_proportional(notebook):
    assert notebook.value("projected['cpu_percent'].astype(float).round(1).tolist()") == [
        71.1,
        48.5,
    ]


def test_no_quality_was_measured(notebook):
    assert notebook.value("len(quality)") == 0
    assert "Without NACK lost packets are not sent again" in notebook.sentences


def test_only_figures_that_do_not_come_out_are_listed(notebook):
    assert notebook.value("readings.to_dict()") == {"agrees": 122, "a rounding away": 7, "wrong": 5}
    wrong = notebook.value(
        "arithmetic.query(\"reading == 'wrong'\")['recomputed'].round(2).tolist()"
    )
    assert wrong == [-24.98, -18.01, 49.36, 42.99, 20.54]
