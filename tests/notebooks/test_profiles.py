import numpy as np
import pandas as pd
import pytest

import deadzone as dz
from deadzone.errors import ProfileError
from notebooks.executed import Executed
from notebooks.profiled_run import PARAMETERS, STUDY, TRIALS, profiled_run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return profiled_run(tmp_path_factory.mktemp("runs")).folder


@pytest.fixture(scope="module")
def executed(made):
    """The notebook of it, executed once."""
    with Executed("profiles", source=str(made), **PARAMETERS) as executed:
        yield executed


def test_the_verdict_names_change_cause_and_what_is_not_decided(executed):
    assert "cpu changes by -50.3 %. mDNS saves most: 17.97 ms per stream." in executed.verdict
    assert "Not decided: frames lost" in executed.verdict
    assert executed.value("judged['verdict'].tolist()") == ["supported", "not_measured"]
    assert executed.value("options.index.tolist()") == ["without-nack", "without-mdns"]
    assert "the interaction is" in executed.sentences
    shown = executed.value("table.loc[table['status'] == 'vanished', 'name'].tolist()")
    assert "mediaserver/nack.(*History).Remember" in shown


def test_totals_are_per_unit_of_the_load(made):
    profiles = dz.diff_profiles(dz.load_run(made))
    pair = profiles["cpu"].pair
    assert pair.unit == "nanoseconds per stream"
    assert len(pair.before.profiles) == len(pair.after.profiles) == 3
    before = (3.45e9 + 3.39e9 + 3.35e9) / 3 / 64
    assert profiles.totals.loc["cpu", "before"] == pytest.approx(before, rel=0.01)
    assert profiles.kinds == ("cpu", "heap", "goroutine")
    assert any("are counted, not sampled" in doubt for doubt in profiles.warnings)
    trials = profiles.trials
    assert set(trials["slice"]) == {"streams 64", "streams 16", "streams 32", "streams 48"}
    assert trials.loc[trials["slice"] == "streams 64", "cpu"].median() > 2e7


def test_causes_add_up_whichever_rule_shares_what_matches_several(executed):
    parts = pd.DataFrame(executed.value("parts.to_dict('list')")).set_index("part")
    whole = executed.value("whole['change']")
    assert parts["change"].sum() == pytest.approx(whole)
    assert parts["shapley_change"].sum() == pytest.approx(whole)
    assert parts["naive_change"].sum() < whole
    assert parts["change"].round(3).to_dict() == {
        "mDNS": -17.969, "NACK": -4.583, "system calls": -4.479, "other": 0.312,
    }  # fmt: skip
    assert parts["shapley_change"].round(3).to_dict() == {
        "mDNS": -10.807, "NACK": -3.255, "system calls": -12.969, "other": 0.312,
    }  # fmt: skip
    ends = parts.loc["NACK", ["change_low", "change_high", "p"]]
    assert ends.tolist() == pytest.approx([-6.333583, -2.833084, 0.007785], rel=1e-4)


def test_each_option_alone_is_set_beside_the_causes_with_the_interaction(executed):
    options = pd.DataFrame(executed.value("options.to_dict('index')")).T
    assert "the interaction is +0.5208" in executed.sentences
    assert options["change"].round(3).to_dict() == {
        "without-nack": -2.604, "without-mdns": -24.635,
    }  # fmt: skip
    alone = options.loc["without-nack"]
    assert alone[["NACK", "mDNS", "system calls", "other"]].sum() == pytest.approx(alone["change"])
    assert alone["NACK"] == pytest.approx(-4.583333) and alone["change_low"] < alone["change_high"]


def test_one_load_is_projected_in_proportion_and_several_by_a_line(executed):
    before, after = executed.value("[rows['before'], rows['after']]")
    assert before["method"] == "proportional" and "low" not in before
    assert before["expected"] == pytest.approx(0.5306, rel=1e-3)
    assert after["method"] == "line" and after["low"] < after["expected"] < after["high"]
    assert (after["low"], after["high"]) == pytest.approx((0.1704, 0.3299), rel=1e-3)


SIMULATED = """[
    [line["low"], line["high"]]
    for x in [pd.Series(np.repeat([16, 32, 48, 64], 3))]
    for noise in np.random.default_rng(7).normal(0, 2, (1000, len(x)))
    for line in [projected(x, 3 + 0.5 * x + noise, 80)]
]"""
"""Prediction intervals at a load of 80, of a line with normal noise."""


@pytest.mark.night
def test_the_prediction_interval_holds_as_often_as_stated(executed):
    low, high = np.array(executed.value(SIMULATED)).T
    measured = np.random.default_rng(8).normal(3 + 0.5 * 80, 2, len(low))
    assert 0.93 <= ((low <= measured) & (measured <= high)).mean() <= 0.97


def test_what_got_worse_forbids_shipping(tmp_path):
    study = STUDY.replace("by_at_most: 0.1", "by_at_most: 0.0001")
    study = study[: study.index("  - {name: frames")]
    folder = profiled_run(tmp_path, study).folder
    with Executed("profiles", source=str(folder), causes={"hmac": "hmac"}, kind="heap") as executed:
        assert "Do not ship: response time (p99)" in executed.verdict
        assert "heap changes by" in executed.verdict


def test_a_single_pair_of_trials_is_judged_by_its_samples(tmp_path):
    alone = ("without-nack", 64, ("without-nack",))
    pair = [("before", 64, ("before-1",)), ("after", 64, ("after-1",))]
    made = profiled_run(tmp_path, trials=[*pair, alone])
    profiles = dz.diff_profiles(dz.load_run(made.folder))
    assert profiles["cpu"].method == "sampling" and [*profiles.others("cpu")] == ["without-nack"]
    assert not profiles.others("heap")
    with Executed("profiles", source=str(made.folder), **PARAMETERS) as executed:
        assert "change_low" not in executed.value("[*parts.columns]")


def test_parts_are_packages_where_no_stack_matches_a_cause(made):
    with Executed("profiles", source=str(made)) as executed:
        assert "mediaserver/mdns" in executed.value("parts['part'].tolist()")


def test_it_opens_on_a_run_that_fills_it():
    with Executed("profiles") as executed:
        assert "cpu changes by -71.0 %. names saves most" in executed.verdict
        assert executed.value("len(stacks)") > 0
        mean = "trials[trials['rate'] == 930].groupby('side')['amount'].mean().to_dict()"
        held = executed.value(mean)
        assert held == pytest.approx(executed.value("whole[['before', 'after']].to_dict()"))
        taken = executed.value("{side: row['expected'] for side, row in rows.items()}")
        assert 0.8 < taken["before"] < 1.2 and 0.1 < taken["after"] < 0.5  # cores at twice the load


def test_published_tables_are_shown_too():
    with Executed("profiles", source="reference") as executed:
        assert "cpu changes by -31.8 %. nack saves most: 20.49 s." in executed.verdict
        assert "how much they scatter" in executed.verdict.lower()


@pytest.mark.parametrize(
    ("study", "trials", "said"),
    [(STUDY[: STUDY.index("profiles:")], TRIALS[:2], "took no profiles"),
     (STUDY, TRIALS[:1], "no trial at build = after")],
)  # fmt: skip
def test_what_cannot_be_compared_is_said(tmp_path, study, trials, said):
    run = dz.load_run(profiled_run(tmp_path, study, trials).folder)
    with pytest.raises(ProfileError, match=said):
        dz.diff_profiles(run)
    with pytest.raises(ProfileError, match="one before the change and one after, or a run"):
        dz.diff_profiles("only-one.pb.gz")
