import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.phases.summary import shape
from deadzone.language.messages import speaking

THREADS = np.repeat([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], 5)


def amdahl(share):
    return share + (1 - share) / THREADS


def usl(contention, coherency):
    return (1 + contention * (THREADS - 1) + coherency * THREADS * (THREADS - 1)) / THREADS


def fitted(truth, seed=3, noise=0.02, goal="min"):
    wall_s = 100 * truth * np.exp(noise * np.random.default_rng(seed).standard_normal(len(truth)))
    frame = pd.DataFrame({"threads": THREADS, "y": wall_s if goal == "min" else 1 / wall_s})
    return fit_phases(frame, "threads", "y", goal)


@cache
def of_amdahl(seed):
    return fitted(amdahl(0.1), seed)


@cache
def of_usl(seed):
    return fitted(usl(0.05, 0.004), seed)


def law(model, name):
    return model.laws.set_index("law").loc[name]


def held(models, column, name, value):
    """In how many of the models the interval of a parameter holds its value."""
    rows = [law(model, name) for model in models]
    return sum(row[f"{column}_low"] <= value <= row[f"{column}_high"] for row in rows)


def test_a_law_is_known_by_its_own_data_and_its_parameters_lie_in_their_intervals():
    models = [of_amdahl(seed) for seed in range(8)]
    assert all(model.smooth_probability > 0.95 for model in models)
    assert held(models, "share", "Amdahl's law", 0.1) >= 5
    models = [of_usl(seed) for seed in range(8)]
    name = "Universal Scalability Law"
    assert all(np.exp(law(model, name)["log_probability"]) > 0.95 for model in models)
    assert held(models, "share", name, 0.05) >= 5
    assert held(models, "coherency", name, 0.004) >= 5


def test_the_true_curve_of_a_law_lies_in_the_intervals_of_its_steps():
    truth = np.log(amdahl(0.1)[::5])
    true = -np.diff(truth) / np.diff(np.log(THREADS[::5]))
    steps = [of_amdahl(seed).steps for seed in range(8)]
    inside = [(one["elasticity_low"] <= true) & (true <= one["elasticity_high"]) for one in steps]
    assert np.mean(inside) >= 0.8


@pytest.mark.parametrize(("share", "goal"), [(0.05, "min"), (0.2, "max")])
def test_amdahls_law_has_no_threshold_and_its_serial_share_is_told(share, goal):
    inside = said = 0
    for seed in range(8):
        told = shape(fitted(amdahl(share), seed, goal=goal))
        if told is None:
            continue
        assert "The gain fades smoothly" in told, told
        said += 1
        ends = re.search(r"interval ([\d.]+) % to ([\d.]+) %", told).groups()
        low, high = (float(end) / 100 for end in ends)
        inside += low - 0.005 <= share <= high + 0.005
    assert said >= 6 and inside >= 0.8 * said


def test_the_universal_scalability_law_is_told_by_its_contention():
    told = [shape(of_usl(seed)) for seed in range(5)]
    assert sum("Universal Scalability Law" in (one or "") for one in told) >= 4


def test_a_threshold_leaves_no_law_a_share():
    assert fitted(np.maximum(1 / THREADS, 1 / 8)).smooth_probability < 1e-3
    corners, ends = np.log([1, 4, 8, 32, 64]), [10, 2.5, 2.5, 1.0, 1.0]
    dead_zone = np.exp(np.interp(np.log(THREADS), corners, ends))
    for seed in range(5):
        assert "No smooth law fits as well" in shape(fitted(dead_zone, seed))


def test_a_straight_line_has_no_thresholds_to_speak_of():
    assert shape(fitted(1 / THREADS, 1)) is None


def test_a_law_is_said_in_korean():
    with speaking("ko"):
        assert "암달의 법칙처럼" in shape(of_amdahl(1))


def test_a_throughput_is_taken_as_its_reciprocal():
    down, up = of_amdahl(3), fitted(amdahl(0.1), goal="max")
    pd.testing.assert_frame_equal(down.laws, up.laws)


def test_one_spoiled_trial_does_not_move_a_law():
    spoiled = np.where(np.arange(len(THREADS)) == 12, 30, 1)
    model = fitted(amdahl(0.1) * spoiled)
    assert model.smooth_probability > 0.95
    assert law(model, "Amdahl's law")["share"] == pytest.approx(0.1, abs=0.01)


def test_a_knob_that_cannot_be_doubled_has_no_scaling_law():
    level = np.repeat(np.arange(-20.0, 50, 10), 3)
    noise = 0.01 * np.random.default_rng(1).standard_normal(len(level))
    frame = pd.DataFrame({"celsius": level, "y": np.exp(-level / 40 + noise)})
    model = fit_phases(frame, "celsius", "y")
    assert model.laws.empty and model.smooth_probability == 0


def test_the_summary_names_the_laws_with_their_probabilities():
    text = str(of_usl(3).summary())
    assert "Universal Scalability Law" in text and ">99 %" in text and "contention" in text
