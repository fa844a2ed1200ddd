import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deadzone
from deadzone.errors import CompareError
from deadzone.language.messages import say, speaking
from deadzone_services.attribution.hypotheses import HYPOTHESES
from deadzone_services.attribution.result import UNMEASURED
from packs.services.attribution.made_trials import FAST, LIMITED, RELAY, SLOW_DISK, trials

PLANTED = {
    "cpu_limit": LIMITED, "network": RELAY, "disk": SLOW_DISK, "memory": {"memory": 0.8},
    "client": {"client": 0.8, "client_waits": True},
}  # fmt: skip

causes = st.sampled_from(sorted(PLANTED))


def others(*names):
    return set(HYPOTHESES) - set(names)


@pytest.mark.parametrize("cause", PLANTED)
def test_the_planted_cause_is_confirmed_and_the_others_are_excluded(cause):
    result = slowed(PLANTED[cause])
    assert result.confirmed == (cause,)
    assert set(result.named("excluded")) == others(cause)
    row = result.of(cause)
    assert row["share_low"] <= 1 <= row["share_high"] or row["share"] == pytest.approx(1, abs=0.03)
    assert result.is_slower and not result.is_same


def slowed(planted, **how):
    """What is found of an environment with a cause planted, beside a fast one."""
    return deadzone.attribute(trials({"slow": planted, "fast": FAST}, **how))


def test_without_a_slowdown_everything_is_excluded_and_nothing_is_explained():
    result = slowed(FAST)
    assert set(result.named("excluded")) == set(HYPOTHESES)
    assert result.is_same and not result.is_slower
    assert "nothing to explain" in result.verdict()


def test_slow_connecting_and_slow_upload_are_the_network():
    for planted in ({"connect": 0.5}, {"upload": 0.9}):
        assert slowed(planted).confirmed == ("network",)


def test_a_slow_upload_is_not_the_networks_where_the_service_was_stopped_meanwhile():
    table = trials({"slow": {"throttled": 2.0, "limit": 0.25}, "fast": FAST})
    slow = table["environment"] == "slow"
    table.loc[slow, "posttransfer_s"] += 0.8  # taken up late by a service that the limit stops
    table.loc[slow, "service_receive_s"] += 0.8
    result = deadzone.attribute(table)
    assert result.measures["difference_s"]["upload_s"] > 0.7
    assert result.confirmed == ("cpu_limit",)
    assert "network" in result.named("excluded")


def test_a_wait_within_the_service_that_nothing_counts_is_nobodys():
    result = slowed({"inside": 0.8})
    assert result.confirmed == ()
    assert result.largest["part"] == "rest_s"
    assert "not accounted for" in result.verdict()


def test_two_causes_are_both_named_with_their_shares():
    result = slowed({"throttled": 0.8, "limit": 0.25, "outside": 0.4}, n=10)
    assert set(result.confirmed) == {"cpu_limit", "network"}
    assert result.of("cpu_limit")["share"] == pytest.approx(2 / 3, abs=0.05)
    assert result.of("network")["share"] == pytest.approx(1 / 3, abs=0.05)


def test_one_trial_each_decides_nothing_but_what_a_whole_count_bounds():
    result = slowed(LIMITED, n=1)
    assert set(result.named("undecided")) == others("client")
    assert set(result.hypotheses["why"]) == {"few", ""}
    assert "with 1 trial in an environment no test can show anything" in result.evidence("disk")


def test_where_trials_are_too_few_the_verdict_says_how_many_can_prove_it():
    said = str(slowed(LIMITED, n=3).verdict())
    assert 'the largest part of the slowdown is "stopped by the CPU limit": 100 %' in said
    assert "; 3 trials of an environment cannot prove it, 5 can (-r 5, " in said


def test_the_smallest_limit_that_costs_next_to_nothing_is_the_one_to_set():
    limits = {"a": (0.25, 1.0), "b": (0.5, 0.4), "c": (1.0, 0.0), "d": (2.0, 0.0)}
    planted = {name: {"limit": limit, "throttled": s} for name, (limit, s) in limits.items()}
    result = deadzone.attribute(trials(planted, n=5))
    assert result.least_limit == "c"
    assert "Set cpu_limit 1: the median there is " in str(result.verdict())
    slow = slowed(SLOW_DISK)
    assert slow.least_limit is None and "Set cpu_limit" not in str(slow.verdict())
    assert "Each CPU limit that was measured costs more than" in str(slowed(LIMITED).verdict())


def test_no_significance_is_no_exclusion():
    noisy = trials({"slow": {"inside": 0.5}, "fast": FAST}, n=5, noise=0.8)
    noisy["client_cpu_s"] *= 40
    result = deadzone.attribute(noisy)
    client = result.of("client")
    assert client["p_confirmed_adjusted"] > 0.05
    assert client["verdict"] == "undecided"


@pytest.mark.parametrize(
    ("gone", "name"),
    [(["throttled_s", "nr_throttled", "nr_periods", "cpu_limit"], "cpu_limit"),
     (["service_disk_wait_s"], "disk"),
     (["service_memory_stall_s", "service_major_faults"], "memory"), (["client_cpu_s"], "client"),
     (["service_s", "user_s", "sys_s"], "network")],
)  # fmt: skip
def test_what_was_not_measured_is_undecided_and_the_report_says_what(gone, name):
    result = slowed(RELAY, drop=gone)
    assert (result.of(name)["verdict"], result.of(name)["why"]) == ("undecided", "unmeasured")
    assert say(UNMEASURED[name]) in result.evidence(name)


def test_equal_connecting_alone_does_not_exclude_the_network():
    known = ["environment", "dns_s", "connect_s", "ttfb_s", "total_s", "client_cpu_s"]
    table = trials({"slow": RELAY, "fast": FAST})[known]
    assert deadzone.attribute(table).of("network")["verdict"] == "undecided"


def test_a_wait_that_the_service_does_not_tell_may_be_the_networks_or_its_own():
    for planted in (RELAY, {"inside": 0.8}):
        row = slowed(planted, drop=["service_s", "service_receive_s"]).of("network")
        assert (row["verdict"], row["why"]) == ("undecided", "outside")


def test_removal_of_the_limit_must_restore_the_response():
    restored = trials({"pod": LIMITED, "container": FAST, "lifted": FAST})
    assert deadzone.attribute(restored, fast="container").confirmed == ("cpu_limit",)
    not_restored = trials({"pod": LIMITED, "container": FAST, "lifted": {"inside": 0.9}})
    row = deadzone.attribute(not_restored, fast="container").of("cpu_limit")
    assert (row["verdict"], row["why"]) == ("undecided", "not_restored")


def test_more_of_the_limit_must_mean_less():
    doses = {f"limit-{q}": {"throttled": 0.35 / q, "limit": q} for q in (0.25, 0.5, 0.75)}
    result = deadzone.attribute(trials({**doses, "none": FAST}))
    assert result.confirmed == ("cpu_limit",)
    assert result.dose < 1e-6
    flat = {name: {**planted, "throttled": 1.4} for name, planted in doses.items()}
    table = trials({**flat, "none": FAST})
    table = table[table["environment"] != "none"]
    row = deadzone.attribute(table, slow="limit-0.25").of("cpu_limit")
    assert row["verdict"] != "confirmed"


def test_throttling_in_both_environments_confirms_no_limit():
    fast = {"throttled": 0.5, "limit": 0.5}
    table = trials({"slow": LIMITED, "fast": fast})
    assert deadzone.attribute(table).of("cpu_limit")["why"] == "throttled_without"


@pytest.mark.parametrize(
    ("seen", "why"),
    [({"service_oom_kills": 3}, "events"), ({"service_memory_peak_bytes": 490e6}, "near_limit")],
)
def test_memory_is_not_excluded_where_it_was_reclaimed_or_near_its_limit(seen, why):
    table = trials({"slow": RELAY, "fast": FAST}).assign(**seen)
    assert deadzone.attribute(table).of("memory")["why"] == why


def test_waits_of_the_whole_machine_can_exclude_but_not_confirm():
    table = trials({"slow": SLOW_DISK, "fast": FAST})
    pressure = table.pop("service_disk_wait_s") / table["wall_s"]
    row = deadzone.attribute(table.assign(io_pressure=pressure)).of("disk")
    assert (row["verdict"], row["why"]) == ("undecided", "machine")
    quiet = trials({"slow": RELAY, "fast": FAST}, drop=["service_disk_wait_s"])
    result = deadzone.attribute(quiet.assign(io_pressure=0.001))
    assert result.of("disk")["verdict"] == "excluded"


@pytest.mark.parametrize("n", [1, 3, 6])
def test_the_parts_add_up_to_the_slowdown(n):
    result = slowed(SLOW_DISK, n=n, noise=0.6)
    table, whole = result.waterfall, result.slowdown
    for name in ("difference_s", "fast_s", "slow_s"):
        assert table[name].sum() == pytest.approx(whole[name], abs=1e-9)
    assert table["share"].dropna().sum() == pytest.approx(1 if whole["difference_s"] > 0 else 0)


@pytest.mark.night
@given(causes, st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_names_of_environments_change_nothing(cause, seed, order):
    table = trials({"slow": PLANTED[cause], "fast": FAST}, n=7, seed=seed)
    rows = list(table.index)
    order.shuffle(rows)
    shuffled = table.loc[rows].replace({"environment": {"slow": "a", "fast": "z"}})
    one, other = deadzone.attribute(table), deadzone.attribute(shuffled)
    assert list(one.hypotheses["verdict"]) == list(other.hypotheses["verdict"])
    np.testing.assert_allclose(one.hypotheses["p_excluded"], other.hypotheses["p_excluded"])
    differences = (made.waterfall["difference_s"] for made in (one, other))
    np.testing.assert_allclose(*differences, atol=1e-12)


@pytest.mark.night
@given(causes, st.integers(0, 10_000), st.sampled_from([10.0, 100.0]))
def test_a_slower_clock_changes_no_verdict(cause, seed, factor):
    table = trials({"slow": PLANTED[cause], "fast": FAST}, n=7, seed=seed)
    scaled = table.copy()
    counts = ("nr_throttled", "nr_periods", "service_read_bytes", "service_written_bytes")
    for name in table.columns:
        if name.endswith("_s") or name in counts:
            scaled[name] = pd.to_numeric(table[name]) * factor
    one, other = deadzone.attribute(table), deadzone.attribute(scaled)
    assert list(one.hypotheses["verdict"]) == list(other.hypotheses["verdict"])
    np.testing.assert_allclose(one.waterfall["share"], other.waterfall["share"], atol=1e-9)


@pytest.mark.night
def test_errors_in_both_directions_are_rare():
    wrong = decided = 0
    # a tenth of 0.46 s and 15.5 ms, the margin: neither holds
    planted = {"inside": 0.4, "outside": 0.0637}
    for seed in range(25):
        result = slowed(planted, seed=seed, noise=0.1)
        wrong += result.of("network")["verdict"] != "undecided"
        decided += set(result.named("excluded")) >= {"cpu_limit", "disk", "memory"}
    assert wrong <= 3
    assert decided == 25


def test_results_are_plain_json_and_read_in_both_languages():
    result = deadzone.attribute(trials({"pod": LIMITED, "free": FAST}))
    back = json.loads(json.dumps(result.to_dict()))
    assert back["hypotheses"][0]["verdict"] == "confirmed"
    assert "Holm" in result.summary() and "TOST" in result.summary()
    with speaking("ko"):
        assert "원인 확인: CPU 제한" in result.summary()
    assert "<table" in result._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"by": "place"}, "no column 'place'"), ({"margin": 0}, "margin"),
     ({"confidence": 2}, "confidence"),
     ({"slow": "slow", "fast": "slow"}, "name two different ones"),
     ({"fast": "fast", "restored": "slow"}, "restored environment is another one"),
     ({"slow": "slow", "fast": "fast", "restored": "fast"}, "restored environment is another one")],
)  # fmt: skip
def test_wrong_questions_are_answered_with_a_sentence(arguments, said):
    with pytest.raises(CompareError, match=said):
        deadzone.attribute(trials({"slow": LIMITED, "fast": FAST}, n=3), **arguments)
    with pytest.raises(CompareError, match="Measure another one"):
        deadzone.attribute(trials({"slow": LIMITED}, n=3))


def test_the_figure_goes_from_the_fast_to_the_slow_environment_and_names_the_largest_part():
    figure = slowed(LIMITED).plot()
    (ax,) = figure.axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert (names[0], names[-1]) == ("fast", "slow")
    assert "stopped by the CPU limit" in names
    assert figure.get_suptitle().startswith("Stopped by the CPU limit: 10")
