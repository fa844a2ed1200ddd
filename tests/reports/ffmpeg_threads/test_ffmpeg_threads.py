"""What the published FFmpeg study shows: its phases, where the time goes, and which conclusions stand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deadzone.reports.ffmpeg_threads import cpu_work
from deadzone.reports.ffmpeg_threads import published as ffmpeg_threads
from deadzone.reports.ffmpeg_threads.published import at_limit, gain


@pytest.fixture(scope="module")
def study():
    return ffmpeg_threads.load()


@pytest.fixture(scope="module")
def judged(study):
    return {one.name: one for one in study.judged}


def test_the_authors_five_phases_are_found_again(judged):
    assert judged["phases"].verdict == "supported"
    assert judged["phases"].found.startswith(
        "linear 1-4, dead zone 4-6, linear 6-10, breakthrough 10-12, plateau 12-16"
    )


def test_ten_cores_are_not_ten_times_faster(judged):
    assert judged["scaling"].verdict == "contradicted"
    assert "3.8 times faster" in judged["scaling"].found and "dead zone at 4-6" in judged["scaling"].found


def test_setting_the_threads_does_not_remove_the_dead_zone(judged):
    assert judged["dead-zone"].verdict == "partly"
    assert (
        "4-6 are a dead zone still" in judged["dead-zone"].found
        and "6, 7 and 8 cores" in judged["dead-zone"].found
    )


def test_the_breakthrough_is_less_work_and_not_more_cores(study, judged):
    change = cpu_work.breakthrough(study.model, study.curve)
    assert (change["start"], change["stop"]) == (10, 12)
    assert 1 / change["wall"] == pytest.approx(13.70 / 3.46)
    assert 1 / change["cpu"] == pytest.approx((131.95 + 4.14) / (34.41 + 1.01))
    assert change["wall"] == pytest.approx(change["cpu"] / change["cores"])
    assert change["cpu_share"] > 0.95
    assert judged["parallelism"].verdict == "contradicted"


def test_seven_threads_help_at_four_cores_but_are_not_shown_to_be_best(study, judged):
    four = at_limit(study.counts, 4)
    assert gain(four, 7) > 0.043
    assert 7 in four.advice.tied and len(four.advice.tied) > 5
    assert judged["optimum"].verdict == "partly"


def test_more_threads_do_nothing_at_six_cores_and_the_harm_is_within_a_repeat(judged):
    assert judged["six"].verdict == "partly" and "at most 2.4 %" in judged["six"].found


def test_ten_to_eleven_threads_are_not_told_apart_from_the_rest(judged):
    assert judged["plenty"].verdict == "undecided"
    assert "5.08 s and as 3.72 s" in judged["plenty"].found


def test_the_outliers_work_like_the_runs_beyond_the_breakthrough(study):
    text = study.said("thread_counts.flagged")
    assert "The 3 values" in text and "28.0 to 38.2 s" in text and "78.8 to 159.7 s" in text


def test_the_authors_outliers_are_fitted_with_and_without(study):
    limits = [(count.limit, count.is_without_flagged, len(count.rows)) for count in study.counts]
    assert limits == [(4, False, 21), (4, True, 20), (8, False, 20), (8, True, 18), (11, False, 20), (11, True, 18),
                      (5, False, 6), (6, False, 4)]  # fmt: skip


def test_a_breakthrough_by_more_cores_is_told_as_such(study):
    rows = pd.DataFrame(
        {"cpu_limit": [1, 2], "wall_s": [8.0, 2.0], "user_s": [8.0, 8.0], "sys_s": [0.0, 0.0]}
    )
    change = cpu_work.change(rows, "cpu_limit", 1, 2)
    assert change["cpu_share"] == pytest.approx(0) and change["cores"] == pytest.approx(4)
    assert "more parallelism" in study.said("breakthrough", **cpu_work.facts(change))
    assert "no breakthrough" in study.said("breakthrough", **cpu_work.facts(None))
    assert np.isnan(cpu_work.change(rows.assign(wall_s=8.0), "cpu_limit", 1, 2)["cpu_share"])
