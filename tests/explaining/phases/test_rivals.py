"""Scaling laws beside the phase model: right on their own data, honest where they fail."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases
from deadzone.explaining.phases.rivals import (
    amdahl,
    fit_laws,
    fit_rivals,
    phase_criteria,
    rivals_table,
    universal_scalability,
    weighted_gaussian,
)

THREADS = np.repeat([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 3)


def noisy(truth, noise=0.01, seed=3):
    return truth * np.exp(noise * np.random.default_rng(seed).standard_normal(len(truth)))


def law(rivals, name):
    return next(rival for rival in rivals if name in rival.name)


def test_amdahl_by_hand():
    # A quarter serial, 4 threads: 0.25 + 0.75 / 4 = 0.4375 of the time.
    assert np.exp(amdahl(np.array([0.25]), np.array([4.0])))[0] == pytest.approx(0.4375)


def test_universal_scalability_by_hand():
    # n = 4, contention 0.1, coherency 0.01: (1 + 0.3 + 0.12) / 4 = 0.355.
    assert np.exp(universal_scalability(np.array([0.1, 0.01]), np.array([4.0])))[0] == pytest.approx(0.355)


def test_each_law_finds_its_own_parameters_within_three_standard_errors():
    truths = {
        "power": (100 * THREADS**-0.7, {"elasticity": 0.7, "y_1": 100}),
        "Amdahl": (100 * (0.1 + 0.9 / THREADS), {"serial share": 0.1, "y_1": 100}),
        "Universal": (
            100 * np.exp(universal_scalability(np.array([0.05, 0.004]), THREADS)),
            {"contention": 0.05, "coherency": 0.004, "y_1": 100},
        ),
    }
    for name, (truth, parameters) in truths.items():
        rivals = fit_laws(THREADS, noisy(truth), np.ones(len(THREADS)))
        found = law(rivals, name)
        for parameter, value in parameters.items():
            assert abs(found.parameters[parameter] - value) < 3 * found.std_errors[parameter]
        assert found.aic <= min(r.aic for r in rivals) + 2.1  # a law with one parameter more may come close


def test_a_throughput_is_fitted_as_its_reciprocal():
    time = noisy(100 * (0.1 + 0.9 / THREADS))
    down = law(fit_laws(THREADS, time, np.ones(18)), "Amdahl")
    up = law(fit_laws(THREADS, 1 / time, np.ones(18), "max"), "Amdahl")
    assert up.parameters["serial share"] == pytest.approx(down.parameters["serial share"])
    assert up.parameters["y_1"] == pytest.approx(1 / down.parameters["y_1"])
    assert up.aic == pytest.approx(down.aic)


def test_a_trial_without_weight_changes_nothing():
    time = noisy(100 * (0.1 + 0.9 / THREADS))
    weight = np.ones(18)
    weight[4] = 0.0
    spoiled = time.copy()
    spoiled[4] *= 50
    assert law(fit_laws(THREADS, spoiled, weight), "Amdahl").parameters["serial share"] == pytest.approx(
        law(fit_laws(np.delete(THREADS, 4), np.delete(time, 4), np.ones(17)), "Amdahl").parameters[
            "serial share"
        ],
        rel=1e-5,
    )


def test_a_parameter_at_its_bound_is_said_and_has_no_standard_error():
    # Better than perfect scaling: no serial share above 0 can follow it.
    found = law(fit_laws(THREADS, noisy(100 * THREADS**-1.3), np.ones(18)), "Amdahl")
    assert found.converged
    assert "at the bound" in found.note
    assert np.isnan(found.std_errors["serial share"])


def test_more_parameters_than_trials_is_a_stated_result():
    for rival in fit_laws(np.array([1.0, 2.0]), np.array([2.0, 1.0]), np.ones(2)):
        assert not rival.converged
        assert np.isnan(rival.aic)
        assert rival.note


def test_the_likelihood_is_that_of_a_normal_distribution_by_hand():
    # Residuals +-0.1: variance 0.01; -0.5 * 4 * (ln(2 pi 0.01) + 1) = 3.5346; AIC with 2 parameters 4 - 7.0692.
    likelihood, aic, bic = weighted_gaussian(np.array([0.1, -0.1, 0.1, -0.1]), np.ones(4), 1)
    assert likelihood == pytest.approx(3.5346, abs=1e-4)
    assert aic == pytest.approx(4 - 2 * 3.5346, abs=1e-3)
    assert bic == pytest.approx(2 * np.log(4) - 2 * 3.5346, abs=1e-3)


def test_phases_win_on_a_curve_with_phases_and_lose_on_a_straight_one():
    levels = np.tile(np.arange(1.0, 13), 4)
    broken = pd.DataFrame({"threads": levels, "wall_s": noisy(60 / np.minimum(levels, 5), 0.01)})
    table = rivals_table(fit_phases(broken, "threads", "wall_s"))
    assert table["model"].iloc[0].startswith("phase model")
    assert table["delta_aic"].iloc[1] > 50
    straight = pd.DataFrame({"threads": levels, "wall_s": noisy(60 / levels**0.8, 0.01)})
    table = rivals_table(fit_phases(straight, "threads", "wall_s"))
    assert table.loc[table["model"] == "one power law", "delta_aic"].item() < 4


def test_phase_model_and_one_power_law_agree_where_they_are_the_same_curve():
    levels = np.tile(np.arange(1.0, 13), 4)
    model = fit_phases(
        pd.DataFrame({"threads": levels, "wall_s": noisy(60 / levels**0.8, 0.01)}), "threads", "wall_s"
    )
    assert len(model.phases) == 1
    likelihood, _, _, k = phase_criteria(model)
    single = law(fit_rivals(model), "power")
    assert k == single.n_parameters
    assert likelihood == pytest.approx(single.log_likelihood, abs=1.5)
