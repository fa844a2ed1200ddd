"""What the published load test shows: pools, reversals, and targets that were not measured."""

from __future__ import annotations

import numpy as np
import pytest

from deadzone.reports.figures.heat_map import grid, heat_map
from deadzone.reports.thread_pool import published as thread_pool


@pytest.fixture(scope="module")
def study():
    return thread_pool.load()


@pytest.fixture(scope="module")
def judged(study):
    return {one.name: one for one in study.judged}


def test_inbound_is_best_at_32_and_turns_back_beyond_it_under_load(study):
    assert study.inbound.chosen == 32
    assert study.inbound.reversals() == {373.0: 32.0, 513.0: 32.0}
    assert study.inbound.best_at(373.0) == study.inbound.best_at(513.0) == [32.0]
    assert 8 in study.inbound.best_at(171.0)


def test_outbound_is_best_at_16_and_turns_back_from_2800_on(study):
    assert study.outbound.chosen == 16
    assert study.outbound.reversals() == {2800.0: 16.0, 4200.0: 16.0}
    assert study.outbound.best_at(2800.0) == study.outbound.best_at(4200.0) == [16.0]


def test_the_inbound_target_is_missed_at_the_rate_above_and_was_not_measured(study, judged):
    assert study.inbound.around() == (171.0, 373.0)
    assert study.inbound.smallest_meeting(373.0) is None
    assert "113 ms at 373 requests/s" in study.said("target", "inbound")
    assert (
        judged["inbound-target"].verdict == "undecided" and "not measured" in judged["inbound-target"].found
    )


def test_the_outbound_target_is_met_on_both_sides_and_missed_at_4200(study, judged):
    assert judged["outbound-target"].verdict == "partly"
    assert "missed at 4,200" in judged["steady"].found
    assert study.outbound.smallest_meeting(2800.0) == 16


def test_what_was_not_measured_is_not_decided(judged):
    assert {judged[name].verdict for name in ("cause", "mean", "cold-start")} == {"undecided"}


def test_the_knee_of_the_spike_test_is_at_200_a_second(study, judged):
    last = study.spike.phases.iloc[-1]
    assert (last["label"], last["start"]) == ("reversal", 200.0)
    assert judged["spike"].verdict == "supported"


def test_the_guideline_prefers_a_pool_that_keeps_the_target(study):
    rows = study.table("guideline").rows
    assert [(row[2], row[3]) for row in rows] == [
        ("171", "8"), ("373", "32"), ("513", "32"), ("290, 700 and 1,400", "16"), ("2,800", "16"), ("4,200", "16"),
    ]  # fmt: skip
    assert "no pool keeps the target" in rows[1][-1]


def test_a_heat_map_shows_every_cell_and_leaves_missing_ones_out(study):
    cells = grid(study.outbound.rows, "pool_size", "rate", "latency_max_ms")
    assert cells.shape == (5, 4) and np.isnan(cells.loc[4200.0, 4])
    figure = heat_map(cells, "A caption.", "A description.", "map", inside=cells <= 100)
    assert figure.svg.startswith("<svg") and figure.id == "map"
