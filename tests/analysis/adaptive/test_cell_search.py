"""A load test with objectives measures the cells at the edge of what meets them."""

import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.adaptive.slices import proposer_of
from deadzone.analysis.objectives.cells import cells_of, objectives_of
from deadzone.analysis.objectives.feasibility import feasibility
from deadzone.study.design import resolve
from deadzone.study.loading import parse_study
from deadzone.study.plan import plan_of

STUDY = """
study: pool
service: {argv: [server, "{port}", "{pool_size}"]}
workload: {kind: load, protocol: http, url: "{service_url}/", duration_s: 2, warmup_s: 1}
factors: {pool_size: [2, 4, 8, 16, 32], rate: [50, 100, 150, 200, 250, 300, 350, 400]}
knob: pool_size
design: {kind: adaptive, replicates: 3}
response: {name: latency_p99_ms, unit: ms}
objectives: {latency_p99_ms: {at_most: 20}, rate: {at_least: 200}}
"""
CAPACITY = {2: 90, 4: 190, 8: 340, 16: 500, 32: 20}
"""Up to which rate each pool holds 20 ms."""


def latency(pool, rate, rng):
    over = rate / CAPACITY[pool]
    return 20 * over**2 * np.exp(0.02 * rng.standard_normal())


def swept(text=STUDY, measure=latency):
    """The table of the whole sweep, its plan and the last thing that was said."""
    plan = plan_of(resolve(parse_study(text, "pool.yaml"), 4))
    choose, rng, rows = proposer_of(plan), np.random.default_rng(3), []
    while (said := choose(pd.DataFrame(rows))).treatments:
        for one in said.treatments:
            pool, rate = one.levels["pool_size"], one.levels["rate"]
            value = measure(pool, rate, rng)
            rows.append({
                "trial": len(rows) + 1, "pool_size": pool, "rate": rate, "latency_p99_ms": value,
                "wall_s": 3.0, "status": "ok" if np.isfinite(value) else "failed",
            })  # fmt: skip
        assert len(rows) < plan.grid_trials
    return pd.DataFrame(rows), plan, said


def test_the_edge_of_every_pool_is_found_with_a_part_of_the_trials():
    table, plan, said = swept()
    bounds, _ = objectives_of(plan.study.objectives, plan.study.factor_names())
    found = feasibility(cells_of(table, "pool_size", "rate", bounds), bounds)
    shown = {pool: found.capacity(pool).shown for pool in CAPACITY}
    assert shown == {2: 50, 4: 150, 8: 300, 16: 400, 32: None}
    assert found.smallest(200).pool == 8 and found.smallest(200).sure[8] > 0.95
    assert len(table) < plan.grid_trials / 2
    assert "8 rates" in said.reason and not said.open


def test_the_load_to_be_borne_comes_first_and_the_middle_of_a_rectangle_is_left_out():
    table, _, _ = swept()
    assert set(table["rate"][:5]) == {200} and set(table["pool_size"][:5]) == set(CAPACITY)
    counts = table.groupby(["pool_size", "rate"]).size()
    assert counts[8, 300] >= 3 and counts[8, 350] >= 3
    assert (8, 50) not in counts.index and (16, 50) not in counts.index


def test_where_the_server_fails_is_missed_and_not_hammered():
    def fails(pool, rate, rng):
        return latency(pool, rate, rng) if rate <= 100 else float("nan")

    table, _, _ = swept(measure=fails)
    failed = table[table["status"] == "failed"]
    assert failed.groupby(["pool_size", "rate"]).size().max() <= 3
    assert set(failed["rate"]) <= {150, 200}


def test_a_cell_on_the_edge_itself_is_left_open_after_twice_the_replicates():
    def on_it(pool, rate, rng):
        return (
            20 * np.exp(0.05 * rng.standard_normal())
            if (pool, rate) == (8, 300)
            else latency(pool, rate, rng)
        )

    table, _, _ = swept(measure=on_it)
    assert table.groupby(["pool_size", "rate"]).size().max() <= 6


@pytest.mark.parametrize(
    "change",
    [
        ("kind: adaptive, ", "kind: adaptive, until: {decide: phases}, "),
        ("objectives: {latency_p99_ms: {at_most: 20}, rate: {at_least: 200}}", ""),
    ],
)
def test_without_objectives_or_where_phases_are_asked_the_curve_decides(change):
    plan = plan_of(resolve(parse_study(STUDY.replace(*change), "pool.yaml"), 4))
    assert len({one.levels["rate"] for one in proposer_of(plan)(pd.DataFrame()).treatments}) == 1
    assert len(proposer_of(plan)(pd.DataFrame()).treatments) < len(CAPACITY)
