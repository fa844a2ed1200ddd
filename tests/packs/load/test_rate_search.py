import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.analysis.adaptive.slices import proposer_of
from deadzone.errors import StudyError
from deadzone.study.design import resolve
from deadzone.study.loading import parse_study
from deadzone.study.plan import plan_of
from deadzone.study.workload_spec import GENERATOR
from deadzone_load.rate_search import bounds_of, capacities, searches_in

STUDY = """
study: s
workload: {{kind: load, url: "http://127.0.0.1:9/{{workers}}", rate: {rate}}}
factors: {{workers: {workers}}}
design: {{replicates: {replicates}}}
objectives: {objectives}
"""


def plan(
    rate="{find: capacity}",
    replicates=2,
    objectives="{latency_p99_ms: {at_most: 20}}",
    workers=(1, 2, 4),
):
    text = STUDY.format(rate=rate, replicates=replicates, objectives=objectives, workers=[*workers])
    return plan_of(resolve(parse_study(text, "s.yaml"), 4))


def measured(plan, ask, most=400):
    """The trials that a sweep would make. ask: (workers, rate, number) to latency, or to an error
    of the trial."""
    rows, choose = [], proposer_of(plan)
    while treatments := choose(pd.DataFrame(rows)).treatments:
        assert len(treatments) <= plan.study.design.batch
        for one in treatments:
            workers, rate = one.levels["workers"], one.levels["rate"]
            said = ask(workers, rate, len(rows))
            error = said if isinstance(said, str) else None
            rows.append({
                "trial": len(rows) + 1, "attempt": 1, "workers": workers, "rate": rate,
                "wall_s": 1.0, "warmup": False, "status": "failed" if error else "ok",
                "error": error, "trusted": True, "replicate": 1,
                "latency_p99_ms": math.nan if error else said,
            })  # fmt: skip
        assert len(rows) < most
    return pd.DataFrame(rows)


@pytest.mark.night
@given(
    st.lists(st.floats(1.5, 900_000), min_size=2, max_size=2),
    st.sampled_from([0.02, 0.05, 0.3, 1.0]),
)
def test_the_capacity_is_found_as_near_as_is_asked(truth, within):
    capacity = dict(zip((1, 2), truth, strict=True))
    asked = plan(f"{{find: capacity, within: {within}}}", workers=(1, 2))
    trials = measured(asked, lambda workers, rate, _: 1.0 if rate <= capacity[workers] else 500.0)
    found = capacities(asked.study, trials)
    assert len(found) == 4 and found["limited_by"].eq("latency_p99_ms").all()
    bounds = found[["workers", "capacity_rps", "missed_rps"]]
    for workers, low, high in bounds.itertuples(index=False):
        assert low <= capacity[workers] < high and high <= low * (1 + within) * 1.001
    assert len(trials) <= asked.grid_trials


def test_later_searches_begin_where_the_first_ended():
    trials = measured(
        plan(replicates=3), lambda workers, rate, _: 1.0 if rate <= 5000 * workers else 500.0
    )
    first = trials[trials["workers"] == 1]
    # 100 is doubled to 6400, halved on logarithms to 5 %, and its miss repeated; then two searches
    # of 3 trials each.
    assert first["rate"].iloc[:7].tolist() == [100, 200, 400, 800, 1600, 3200, 6400]
    assert len(first) <= 20


def test_a_stall_of_the_machine_does_not_end_a_search():
    """One trial far below the capacity misses, and none after it."""
    trials = measured(
        plan(), lambda workers, rate, number: 500.0 if number == 4 or rate > 5000 else 1.0
    )
    found = capacities(plan().study, trials)
    assert found["capacity_rps"].between(4750, 5000).all()


def test_a_search_is_the_same_when_it_is_resumed_after_any_trial():
    asked = plan()
    trials = measured(asked, lambda workers, rate, _: 1.0 if rate <= 300 * workers else 500.0)
    choose, at = proposer_of(asked), 0
    while at < len(trials):
        batch = choose(trials.iloc[:at]).treatments
        rows = trials.iloc[at : at + len(batch)]
        assert [dict(one.levels) for one in batch] == rows[["workers", "rate"]].to_dict("records")
        at += len(batch)


def test_a_generator_that_cannot_send_more_is_no_limit_of_the_server():
    said = "generator saturated: late by 9 ms"
    trials = measured(plan(), lambda workers, rate, _: said if rate > 3000 else 1.0)
    found = capacities(plan().study, trials)
    assert found["limited_by"].eq(GENERATOR).all()
    assert found["capacity_rps"].between(2850, 3000).all()


def test_a_server_that_fails_trials_misses_and_one_that_bears_nothing_has_no_capacity():
    def ask(workers, rate, _):
        return "connection refused" if workers == 1 else 1.0 if rate < 50 else 90.0

    trials = measured(plan(), ask)
    found = capacities(plan().study, trials)
    nothing = found[found["workers"] == 1]
    assert nothing["status"].eq("failed").all()
    assert nothing["error"].str.contains("not even 1 requests/s").all()
    assert found[found["workers"] != 1]["capacity_rps"].between(47, 50).all()


def test_an_attempt_that_was_repeated_and_a_trial_that_was_lost_say_nothing():
    asked = plan()
    trials = measured(asked, lambda workers, rate, _: 1.0 if rate <= 700 else 500.0)
    again = trials.iloc[[0]].assign(latency_p99_ms=900.0)
    lost = trials.iloc[[3]].assign(trial=2.5, status="lost", error="the pod went away")
    more = pd.concat([again, lost, trials], ignore_index=True)
    assert len(searches_in(asked.study, more)[0][1]) == len(searches_in(asked.study, trials)[0][1])
    found, known = (capacities(asked.study, one)["capacity_rps"] for one in (more, trials))
    assert found.tolist() == known.tolist()


def test_a_profiler_that_failed_is_no_miss_and_a_server_that_died_limits_by_all_it_missed():
    def ask(workers, rate, number):
        dead = "the service ended with exit code 1" if rate > 700 else 1.0
        return "the cpu profile was not taken: used too little CPU" if number % 9 == 0 else dead

    found = capacities(plan().study, measured(plan(), ask))
    assert found["capacity_rps"].between(660, 700).all()
    assert found["limited_by"].eq("latency_p99_ms").all()


def test_a_capacity_is_trusted_where_both_of_its_trials_are():
    trials = measured(plan(), lambda workers, rate, _: 1.0 if rate <= 700 else 500.0)
    missed = searches_in(plan().study, trials)[0][1][0].missed_at
    trials.loc[missed, "trusted"] = False
    found = capacities(plan().study, trials)
    assert found["trusted"].tolist().count(False) == 1


def test_shares_of_errors_are_objectives_as_well():
    asked = plan(objectives="{error_share: {at_most: 0.01}, workers_are: {at_least: 1}}")
    assert [one.column for one in bounds_of(asked.study)] == ["error_share", "workers_are"]


@pytest.mark.parametrize(
    ("rate", "objectives", "said"),
    [
        ("{find: capacity}", "{}", "has no objectives to meet"),
        ("{find: capacity}", "{rate: {at_least: 300}}", "neither a factor nor an objective"),
        ("{find: capacty}", "{latency_p99_ms: {at_most: 20}}", "capacity"),
        ("{find: capacity, within: 0.001}", "{latency_p99_ms: {at_most: 20}}", "within"),
        ("{from: 10}", "{latency_p99_ms: {at_most: 20}}", "find"),
    ],
)  # fmt: skip
def test_a_search_that_cannot_be_made_is_refused_with_a_sentence(rate, objectives, said):
    with pytest.raises(StudyError, match=said):
        plan(rate, objectives=objectives)
