"""The notebook of profiles: what changed, by which cause, and what must not get worse, on recorded
profiles of a Go server."""

from __future__ import annotations

import pandas as pd
import pytest

import deadzone as dz
from deadzone.errors import ProfileError
from notebooks.executed import Executed
from notebooks.profiled_run import STUDY, TRIALS, profiled_run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return profiled_run(tmp_path_factory.mktemp("runs")).folder


def test_the_verdict_names_change_cause_and_what_is_not_decided(made):
    with Executed("profiles", source=str(made)) as executed:
        assert "cpu changes by -50.3 %. mDNS saves most: 17.97 ms per stream." in executed.verdict
        assert "Not decided: frames lost" in executed.verdict
        assert executed.value("judged['verdict'].tolist()") == ["supported", "not_measured"]
        assert executed.value("alone.table['option'].tolist()") == ["NACK", "mDNS"]
        assert "the interaction is" in executed.sentences
        shown = executed.value("table.loc[table['status'] == 'vanished', 'name'].tolist()")
        assert "mediaserver/nack.(*History).Remember" in shown


def test_totals_are_per_unit_of_the_load_and_causes_add_up_exactly(made):
    profiles = dz.diff_profiles(dz.load_run(made))
    pair = profiles["cpu"].pair
    assert (
        pair.unit == "nanoseconds per stream"
        and len(pair.before.profiles) == len(pair.after.profiles) == 3
    )
    assert profiles.totals.loc["cpu", "before"] == pytest.approx(
        (3.45e9 + 3.39e9 + 3.35e9) / 3 / 64, rel=0.01
    )
    assert profiles.kinds == ("cpu", "heap", "goroutine")
    attribution = profiles.attribution("cpu")
    assert sum(attribution.exact.values()) == attribution.total
    assert any("all counted, not sampled" in doubt for doubt in profiles.warnings)
    trials = profiles.trials
    assert set(trials["slice"]) == {"streams 64", "streams 16", "streams 32", "streams 48"}
    assert trials.loc[trials["slice"] == "streams 64", "cpu"].median() > 2e7


def test_one_load_is_projected_in_proportion_and_several_by_a_line(made):
    projected = dz.diff_profiles(dz.load_run(made)).projections(100)
    before, after = projected.loc["before"], projected.loc["after"]
    assert before["method"] == "proportional" and pd.isna(before["low"])
    assert after["method"] == "line" and after["low"] < after["expected"] < after["high"]
    assert "an assumption, not a measurement" in before["doubts"]


def test_what_got_worse_forbids_shipping(tmp_path):
    study = STUDY.replace("latency_p99_ms: {margin: 0.1}", "latency_p99_ms: {margin: 0.0001}")
    folder = profiled_run(
        tmp_path, study.replace("  frames_lost: {margin: 1, absolute: true}\n", "")
    ).folder
    with Executed(
        "profiles", source=str(folder), causes={"hmac": "*hmac*"}, kind="heap"
    ) as executed:
        assert (
            "Do not ship: response time (p99)" in executed.verdict
            and "heap changes by" in executed.verdict
        )


def test_a_single_pair_of_trials_is_judged_by_its_samples(tmp_path):
    alone = ("without-nack", 64, ("without-nack",))
    made = profiled_run(
        tmp_path, trials=[("before", 64, ("before-1",)), ("after", 64, ("after-1",)), alone]
    )
    profiles = dz.diff_profiles(dz.load_run(made.folder))
    assert profiles["cpu"].method == "sampling" and len(profiles.ablations("cpu").table) == 1


def test_the_published_tables_are_shown_where_no_run_is_named():
    with Executed("profiles") as executed:
        assert "cpu changes by -31.8 %. nack saves most: 20.49 s." in executed.verdict
        assert (
            "How much they scatter" in executed.verdict
            or "how much they scatter" in executed.verdict
        )


@pytest.mark.parametrize(
    ("study", "trials", "said"),
    [
        (STUDY[: STUDY.index("profiles:")], TRIALS[:2], "took no profiles"),
        (STUDY, TRIALS[:1], "no trial at build = after"),
    ],
)
def test_what_cannot_be_compared_is_said(tmp_path, study, trials, said):
    run = dz.load_run(profiled_run(tmp_path, study, trials).folder)
    with pytest.raises(ProfileError, match=said):
        dz.diff_profiles(run)
    with pytest.raises(ProfileError, match="one before the change and one after, or a run"):
        dz.diff_profiles("only-one.pb.gz")
