"""The guideline that follows from a fit, on curves whose answer is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases
from deadzone.reports.published.guideline import guideline_table, rules
from deadzone.store.reference import load_reference


@pytest.fixture(scope="module")
def published():
    model = fit_phases(load_reference("ffmpeg-threads", "limit-equals-threads"), "cpu_limit", "wall_s")
    return model, model.recommend()


def test_scarce_takes_all_a_dead_zone_stays_below_and_plenty_stops_at_the_best(published):
    found = [(rule.resources, rule.low, rule.high, rule.setting) for rule in rules(*published)]
    assert found == [
        ("scarce", 1, 4, None),
        ("middling", 5, 6, 4),
        ("middling", 7, 11, None),
        ("plenty", 12, 16, 12),
    ]


def test_every_rule_says_what_to_expect_and_why(published):
    table = guideline_table(*published)
    assert [row[0] for row in table.rows] == ["scarce", "middling", "middling", "plenty"]
    assert "dead zone 4-6" in table.rows[1][-1]
    assert "breakthrough 10-12" in table.rows[2][-1]
    assert table.rows[3][2] == "12" and "plateau" in table.rows[3][-1]


def test_a_flat_curve_needs_the_least_setting():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"threads": np.repeat([1, 2, 4, 8, 16], 5)})
    frame["wall_s"] = 10 * np.exp(rng.normal(0, 0.005, len(frame)))
    model = fit_phases(frame, "threads", "wall_s")
    found = rules(model, model.recommend())
    assert {rule.setting for rule in found} <= {1.0, None} and found[-1].setting == 1.0


def test_a_curve_that_always_pays_takes_everything():
    levels = np.repeat([1, 2, 4, 8, 16], 3)
    frame = pd.DataFrame({"threads": levels, "wall_s": 16 / levels * np.tile([0.99, 1, 1.01], 5)})
    model = fit_phases(frame, "threads", "wall_s")
    found = rules(model, model.recommend())
    assert found[-1].resources == "plenty" and found[-1].setting == 16
    assert all(rule.setting is None for rule in found[:-1])


def test_a_throughput_is_maximised():
    levels = np.repeat([1, 2, 4, 8, 16, 32], 3)
    rate = np.minimum(levels, 8) * 100.0 * np.tile([0.995, 1, 1.005], 6)
    model = fit_phases(
        pd.DataFrame({"workers": levels, "requests_per_s": rate}), "workers", "requests_per_s", goal="max"
    )
    assert [
        (rule.low, rule.setting) for rule in rules(model, model.recommend()) if rule.resources == "plenty"
    ] == [(8, 8)]
