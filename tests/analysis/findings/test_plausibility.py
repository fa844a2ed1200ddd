import numpy as np
import pandas as pd
import pytest

from analysis.findings.made import found, sound_trials
from deadzone import fit_phases
from deadzone.analysis.settings.answering import answer

LATENCY = pd.DataFrame({"mb": np.repeat([128, 256, 512, 1024, 2048], 2)})
LATENCY["latency_p99_ms"] = [41, 42, 34, 33, 29, 29.5, 25, 24, -1, -1]


@pytest.mark.parametrize(
    ("response", "goal"),
    [("latency_p99_ms", "min"), ("time_s", "min"), ("wall_s", "min"), ("achieved_rate", "max"),
     ("requests", "max"), ("MB_per_s", "max")],
)  # fmt: skip
def test_a_number_below_zero_is_a_failed_measurement(response, goal):
    table = LATENCY.rename(columns={"latency_p99_ms": response})
    told = found(table, response, goal, knob="mb")
    one = told["impossible_numbers"]
    assert one.levels == (2048,) and "below zero at mb 2048 (trials: 2)" in one.sentence
    assert "too_short" not in told
    model = fit_phases(table, "mb", response, goal)
    assert "2 of 10 trials, with a" in " ".join(model.warnings)
    assert 2048 not in model.recommend().tied and -1 not in set(model.levels["mean"])
    assert answer(table, "mb", response, goal).recommend().setting == model.recommend().setting


def test_what_may_be_below_zero_is_left_as_it_is():
    for response in ("temperature", "change_ms", "gain"):
        table = LATENCY.rename(columns={"latency_p99_ms": response})
        assert not found(table, response, knob="mb", only="impossible_numbers")


def test_a_time_that_a_tool_divides_by_the_threads_is_doubted():
    n = np.array([1, 2, 4, 8, 16])
    divided = pd.DataFrame({"threads": n, "real_time_ns": 1e7 / n**2, "iterations": n})
    faster = divided.drop(columns="iterations")
    for table, words in ((divided, "iterations is threads"), (faster, "256")):
        one = found(table, "real_time_ns", knob="threads")["contradicting_numbers"]
        assert words in one.sentence
    scaling = faster.assign(real_time_ns=1e7 / n**1.05)
    assert "contradicting_numbers" not in found(scaling, "real_time_ns", knob="threads")


def set_time(table, seconds, scatter, cores=8):
    """Trials of so many seconds, on as many cores as the knob says and there are."""
    late = scatter * (table["wall_s"] / table.groupby("n")["wall_s"].transform("median") - 1)
    wall = seconds * (1 + late)
    busy = wall * np.minimum(table["n"], cores)
    return table.assign(wall_s=wall, user_s=busy, sys_s=0.01)


def test_a_program_that_runs_for_a_set_time_is_named():
    table = sound_trials(2).drop(columns="items")
    fixed = set_time(table, 2.03, 0.1)
    suspect = found(fixed, only="fixed_duration")["fixed_duration"]
    assert "differs by a factor of 7.9" in suspect.sentence and suspect.severity == "doubts"
    for other in (table, table.assign(user_s=0.4 * table["n"])):
        assert not found(other, only="fixed_duration")


@pytest.mark.parametrize(
    ("seconds", "scatter", "cores", "is_set"),
    [
        (10.0, 1.0, 8, True),  # typed, on a busy machine
        (10.06, 0.2, 8, True),  # typed, and time to start and to end
        (1.0, 0.2, 4, True),  # cores that are all used from 4 on
        (7.31, 0.01, 8, True),  # the same time to a thousandth
        (7.31, 1.0, 8, False),  # as long as the work takes
        (10.0, 0.2, 1, False),  # the same work, however many threads
    ],
)
def test_a_plateau_is_a_set_time_where_a_clock_ends_it_and_its_work_grows_with_the_knob(
    seconds, scatter, cores, is_set
):
    table = sound_trials(2).drop(columns="items")
    findings = found(set_time(table, seconds, scatter, cores), only="fixed_duration")
    assert bool(findings) == is_set


def test_threads_that_wait_for_a_core_are_no_more_work():
    table = set_time(sound_trials(2).drop(columns="items"), 1.0, 0.2, cores=1)
    waiting = table.assign(ready_s=table["wall_s"] * (table["n"] - 1))
    assert not found(waiting, only="fixed_duration"), "the CPU time is the same"


def test_more_in_flight_than_connections_is_doubted():
    load = {"connections": [1, 2, 4], "achieved_rate": [5000, 9800, 19000]}
    table = pd.DataFrame({**load, "latency_mean_ms": [6.0, 0.204, 0.21]})
    one = found(table, "latency_mean_ms", knob="connections")["contradicting_numbers"]
    assert one.levels == (1,) and "30.0 requests in flight" in one.sentence
    table["latency_mean_ms"] = [0.2, 0.204, 0.21]
    assert "contradicting_numbers" not in found(table, "latency_mean_ms", knob="connections")
