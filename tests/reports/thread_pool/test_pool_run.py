"""The report of a load test's run: what was planted is what it says, in English and Korean."""

from __future__ import annotations

import re

import pytest

from deadzone.errors import StoreError
from deadzone.language.catalogue import speak
from deadzone.reports.document.display import Figure, Table
from deadzone.reports.thread_pool import pool_report as thread_pool
from deadzone.reports.thread_pool.pool_report import ConnectionRun, PoolRunReport
from reports.thread_pool.load_runs import pool_run, ramp_run, spike_run

SECTIONS = (
    "title",
    "conclusions",
    "response",
    "capacity",
    "connections",
    "cold_start",
    "guideline",
    "limits",
    "details",
    "origin",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return thread_pool.load(str(pool_run(tmp_path_factory.mktemp("runs")).folder))


def shown(report, section: str, kind: type, identity: str):
    return next(b for b in getattr(report, section)() if isinstance(b, kind) and b.id == identity)


def test_the_smallest_pool_that_was_planted_is_named_with_its_confidence(report):
    assert isinstance(report, PoolRunReport) and report.run.judged_rate == 320
    smallest = report.run.feasible.smallest(320.0)
    assert smallest.pool == 8 and smallest.sure[8] > 0.95
    assert report.run.feasible.smallest(160.0).pool == 4 and report.run.feasible.smallest(480.0).pool is None
    said = str(report.title()[0])
    assert "8 is the smallest pool size that meets all targets at 320 requests/s" in said
    assert "300 requests/s, was not measured" in said


def test_the_reversal_has_its_interval(report):
    there = {one.rate: one for one in report.run.turning}
    for rate in (320.0, 480.0):
        one = there[rate]
        assert one.start in (16, 32) and one.low >= 16 and one.high == 32
        assert one.probability > 0.95 and one.worse > 0.8
    assert there[160.0].start in (16, 32) and set(there) == {160.0, 320.0, 480.0}
    assert "More hurts: beyond" in str(report.title()[0])


def test_what_lies_far_inside_its_target_is_no_harm(tmp_path):
    """The curves that turn back at every rate where 100 ms are allowed; where 5000 are, 400 in place of 140 harm nobody."""
    for allowed, turns in ((2000, {480.0}), (5000, set())):
        targets = f"objectives: {{latency_p99_ms: {{at_most: {allowed}}}}}"
        run = thread_pool.load(
            str(pool_run(tmp_path / str(allowed), objectives=targets, per_second=20).folder)
        ).run
        assert {one.rate for one in run.turning if one.start is not None} == turns
        if not turns:
            assert not any("reversal" in set(model.phases["label"]) for model in run.models.values())


def test_every_cell_says_which_target_it_misses(report):
    rows = {(row[0], row[1]): row for row in shown(report, "details", Table, "cells").rows}
    assert "mean response time and response time (p99)" in rows["320", "4"][-2]
    assert rows["320", "8"][-2] == "none"
    figure = shown(report, "response", Figure, "map")
    assert "outlined" in figure.caption and "320" in figure.description


def test_capacity_and_littles_law_agree_with_what_was_planted(report):
    rows = {row[0]: row for row in shown(report, "capacity", Table, "capacity").rows}
    assert rows["2"][1] == "below 160" and rows["4"][1] == "160" and rows["8"][1] == "320"
    law = shown(report, "capacity", Table, "law")
    assert {"overrun", "idle"} <= {row[-1] for row in law.rows}


def test_the_settings_name_the_load_to_be_borne_first(report):
    rows = shown(report, "guideline", Table, "settings").rows
    assert rows[0][0].startswith("load to be borne: 320") and rows[0][1] == "pool size 8"


def test_a_warm_up_is_cut_out_and_how_long_to_warm_up_is_said(tmp_path):
    report = thread_pool.load(str(pool_run(tmp_path, replicates=2, cold=8.0, per_second=30).folder))
    assert len(report.run.cold.reaching_in) >= 30
    assert report.run.feasible.smallest(320.0).likely == 8
    said = " ".join(map(str, report.cold_start()))
    assert re.search(r"Warm up for [456] s; the study does for 2 s", said)


def test_without_targets_or_repeats_the_report_says_so(tmp_path):
    plain = thread_pool.load(
        str(pool_run(tmp_path / "plain", objectives="", replicates=1, per_second=10).folder)
    )
    assert "names no targets" in str(plain.title()[0])
    single = thread_pool.load(str(pool_run(tmp_path / "single", replicates=1, per_second=10).folder))
    assert "No treatment was repeated" in str(single.title()[0])


@pytest.fixture(scope="module")
def made_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("both")
    return pool_run(folder, replicates=2, per_second=20), spike_run(folder), ramp_run(folder)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_section_can_be_shown_in_both_languages(made_runs, lang):
    for made in made_runs:
        report = thread_pool.load(str(made.folder), lang)
        for section in SECTIONS:
            assert all(repr(block) for block in getattr(report, section)())
    speak("en")


def test_a_spike_test_names_knee_and_failures(tmp_path):
    report = thread_pool.load(str(spike_run(tmp_path).folder))
    assert isinstance(report, ConnectionRun)
    assert "Beyond 200 new connections a second" in report.found()
    assert "fail from 400 a second on (3" in report.found()


def test_a_ramp_names_the_last_good_count_and_how_it_ended(tmp_path):
    report = thread_pool.load(str(ramp_run(tmp_path).folder))
    assert "held 4,805 connections (4,790 to 4,812 over 3 trials)" in report.found()
    assert "the kernel killed it for memory (3)" in report.found()
    assert shown(report, "guideline", Table, "settings").rows[0][1] == "3,832"


def test_a_run_that_does_not_exist_is_said(tmp_path):
    with pytest.raises(StoreError, match="no run"):
        thread_pool.load("no-such-run-anywhere")
