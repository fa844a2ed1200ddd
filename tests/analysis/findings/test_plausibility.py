"""Figures that cannot be, or contradict each other, are said; a setting is not chosen by them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.findings.made import sound_trials
from deadzone import fit_phases
from deadzone.analysis.findings.examining import examine
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.settings.answering import answer

LATENCY = pd.DataFrame(
    {
        "mb": [128, 128, 256, 256, 512, 512, 1024, 1024, 2048, 2048],
        "latency_p99_ms": [41, 42, 34, 33, 29, 29.5, 25, 24, -1, -1],
    }
)


def found(table, knob, response, goal="min"):
    return {one.key: one for one in examine(Experiment(table, knob, response, goal))}


@pytest.mark.parametrize(
    ("response", "goal"),
    [
        ("latency_p99_ms", "min"),
        ("time_s", "min"),
        ("wall_s", "min"),
        ("achieved_rate", "max"),
        ("requests", "max"),
        ("MB_per_s", "max"),
    ],
)
def test_a_number_below_zero_is_a_failed_measurement(response, goal):
    table = LATENCY.rename(columns={"latency_p99_ms": response})
    one = found(table, "mb", response, goal)["impossible_numbers"]
    assert one.levels == (2048,) and "below zero in 2 trials" in one.sentence
    assert "too_short" not in found(table, "mb", response, goal)
    model = fit_phases(table, "mb", response, goal)
    assert "2 of 10 trials have a" in " ".join(model.warnings)
    assert 2048 not in model.recommend().tied and -1 not in set(model.levels["mean"])
    assert answer(table, "mb", response, goal).recommend().setting == model.recommend().setting


def test_what_may_be_below_zero_is_left_as_it_is():
    for response in ("temperature", "change_ms", "gain"):
        table = LATENCY.rename(columns={"latency_p99_ms": response})
        assert "impossible_numbers" not in found(table, "mb", response)


def test_more_in_flight_than_connections_is_doubted():
    rates, means = [5000, 9800, 19000], [6.0, 0.204, 0.21]
    table = pd.DataFrame(
        {"connections": [1, 2, 4], "achieved_rate": rates, "latency_mean_ms": means}
    )
    one = found(table, "connections", "latency_mean_ms")["contradicting_numbers"]
    assert one.levels == (1,) and "30 requests in flight" in one.sentence
    table["latency_mean_ms"] = [0.2, 0.204, 0.21]
    assert "contradicting_numbers" not in found(table, "connections", "latency_mean_ms")


def test_a_time_that_a_tool_divides_by_the_threads_is_doubted():
    n = np.array([1, 2, 4, 8, 16])
    divided = pd.DataFrame({"threads": n, "real_time_ns": 1e7 / n**2, "iterations": n})
    assert (
        "iterations is threads"
        in found(divided, "threads", "real_time_ns")["contradicting_numbers"].sentence
    )
    faster = divided.drop(columns="iterations")
    assert "256" in found(faster, "threads", "real_time_ns")["contradicting_numbers"].sentence
    scaling = faster.assign(real_time_ns=1e7 / n**1.05)
    assert "contradicting_numbers" not in found(scaling, "threads", "real_time_ns")


def test_a_program_that_runs_for_a_set_time_is_named():
    table = sound_trials(2).drop(columns="items")
    wall = 2.03 + 0.004 * (table["wall_s"] - table["wall_s"].mean())
    fixed = table.assign(wall_s=wall, user_s=0.4 * table["n"], sys_s=0.01)
    one = found(fixed, "n", "wall_s")["fixed_duration"]
    assert "differs by a factor of 7.83" in one.sentence and one.severity == "doubts"
    assert "fixed_duration" not in found(table, "n", "wall_s")
    assert "fixed_duration" not in found(table.assign(user_s=0.4 * table["n"]), "n", "wall_s")
