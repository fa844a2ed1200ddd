from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from deadzone import capacity, load_run
from deadzone.errors import TableError
from deadzone.language.messages import speaking
from notebooks.executed import Executed
from notebooks.load_runs import pool_run


@pytest.mark.night
def test_the_smallest_pool_that_was_planted_is_the_verdict(tmp_path):
    folder = pool_run(tmp_path, per_second=30).folder
    with Executed("load_test", source=str(folder)) as executed:
        pool = "Set pool size 8: the smallest that meets all objectives at 320 requests/s"
        assert pool in executed.verdict
        assert "300 requests/s, was not measured" in executed.verdict
        smallest = executed.value(
            "test.by_rate['smallest'].astype(object).where(test.by_rate['smallest'].notna(), "
            "None).tolist()"
        )
        assert smallest == [4, 8, None]
        shown = executed.value("test.by_pool['rate_shown'].fillna(0).to_dict()")
        assert [shown[one] for one in ("2.0", "4.0", "8.0")] == [0, 160, 320]
        missed = executed.value("test.cells['missed'].to_dict()[(320.0, 4.0)]")
        assert missed == "latency_mean_ms, latency_p99_ms"
        threads = executed.value("law['in_flight_a_thread'].tolist()")
        assert min(threads) < 0.5 and max(threads) > 1


def test_the_published_tests_have_no_pool_that_is_shown_to_keep_the_target():
    with Executed("load_test", source="reference") as executed:
        no_pool = "No pool size that was tried meets all objectives at 373 requests/s."
        assert no_pool in executed.verdict
        assert "Nothing was repeated" in executed.verdict
        assert executed.value("test.by_rate['hurts_beyond'].dropna().tolist()") == [32, 32]


def test_it_opens_on_a_run_that_fills_it_and_its_verdict_is_korean_where_the_report_is():
    with Executed("load_test") as executed:
        assert "Set pool size 8" in executed.verdict and "325 requests/s" in executed.verdict
        assert executed.value("len(law) * len(why) * len(warm)") > 0
        with speaking("ko"):
            assert "설정: 풀 크기 8." in executed.value("test.verdict()")
            assert executed.value("dz.Verdict(test).heading") == "결론"


@pytest.mark.night
def test_more_hurts_where_that_was_planted_and_is_not_said_at_the_odds_of_a_coin(tmp_path):
    test = capacity(load_run(pool_run(tmp_path, per_second=20).folder))
    there = {one.rate: one for one in test.reversals}
    for rate in (320.0, 480.0):
        assert there[rate].start in (16, 32) and there[rate].low >= 16 and there[rate].high == 32
    assert "More hurts" in test.where_more_hurts() and "480 requests/s" in test.where_more_hurts()
    vars(test)["reversals"] = tuple(replace(one, probability=0.52) for one in test.reversals)
    said = test.where_more_hurts()
    assert said.startswith("That more hurts is not shown: at ") and "it is 52 % sure" in said
    assert "More hurts" not in said and "A higher rate" in said


def test_a_load_that_no_pool_feels_asks_for_a_higher_one():
    rng = np.random.default_rng(3)
    trials = pd.DataFrame({"workers": [1, 2, 4] * 4, "rate": 5000.0})
    trials["latency_p99_ms"] = 2 * np.exp(0.1 * rng.standard_normal(len(trials)))
    said = capacity(trials, "workers", "rate", response="latency_p99_ms").verdict()
    no_better = "At 5,000 requests/s no setting of workers is shown to be better than another"
    assert said.startswith(no_better)
    assert "Set " not in said


def test_a_load_test_whose_trials_all_failed_says_how():
    trials = pd.DataFrame({"workers": [1, 2], "rate": 5000.0, "latency_p99_ms": np.nan})
    trials = trials.assign(status="failed", error="generator saturated: lower the rate.")
    with pytest.raises(TableError, match="ended well; the first: generator saturated: lower the"):
        capacity(trials, "workers", "rate", response="latency_p99_ms")


@pytest.mark.night
def test_what_an_objective_allows_many_times_over_is_no_harm(tmp_path):
    """The curves that turn back at every rate where 100 ms are allowed; where 5000 are, 400 in
    place of 140 harm nobody."""
    for allowed, turns in ((2000, {480.0}), (5000, set())):
        targets = f"objectives: {{latency_p99_ms: {{at_most: {allowed}}}}}"
        made = pool_run(tmp_path / str(allowed), objectives=targets, per_second=20)
        test = capacity(load_run(made.folder))
        assert {one.rate for one in test.reversals if one.start is not None} == turns
        if not turns:
            assert not any("reversal" in set(one.phases["label"]) for one in test.models.values())


@pytest.mark.night
def test_a_warm_up_is_cut_out_and_how_long_to_warm_up_is_known(tmp_path):
    test = capacity(load_run(pool_run(tmp_path, replicates=2, cold=8.0, per_second=30).folder))
    warm = test.warmups
    assert (warm["begins_s"] > 0).sum() >= 30 and 4 <= warm["discard_s"].quantile(0.9) <= 6
    assert test.smallest(320.0).likely == 8
    assert (test.warmups["first_ms"] > 3 * test.warmups["steady_ms"]).mean() > 0.9


def test_without_objectives_the_verdict_says_so(tmp_path):
    made = pool_run(tmp_path, objectives="", replicates=1, per_second=10)
    plain = capacity(load_run(made.folder))
    assert "names no objectives" in plain.verdict() and plain.confidence.empty
    assert plain.verdict().startswith("At 480 requests/s: Set pool size 16: ")
