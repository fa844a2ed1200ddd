"""Moving the thresholds of a fitted model: labels follow at once, and go back to those of the
fit."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases
from deadzone.analysis.phases.relabel import relabel
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.store.reference import load_reference


@pytest.fixture(scope="module")
def model():
    return fit_phases(
        load_reference("ffmpeg-threads", "limit-equals-threads"), "cpu_limit", "wall_s"
    )


def spans(model):
    return [(row.start, row.stop, row.label) for row in model.phases.itertuples()]


def test_under_its_own_thresholds_a_model_is_itself(model):
    assert relabel(model, Thresholds()) is model


def test_thresholds_hardly_moved_change_nothing(model):
    assert spans(relabel(model, Thresholds(linear=0.26))) == spans(model)


def test_what_no_longer_pays_enough_becomes_a_dead_zone(model):
    moved = relabel(model, Thresholds(linear=0.9))
    assert spans(moved)[0] == (1, 6, "dead_zone")
    assert spans(moved)[1:] == spans(model)[2:]
    assert moved.step_labels[:5] == ("dead_zone",) * 5


def test_a_breakthrough_that_must_be_steeper_is_linear(model):
    moved = relabel(model, Thresholds(breakthrough=20.0))
    assert "breakthrough" not in set(moved.phases["label"])
    assert spans(moved)[2] == (6, 12, "linear")
    assert (
        model.phases["elasticity"].iloc[2]
        < moved.phases["elasticity"].iloc[2]
        < model.phases["elasticity"].iloc[3]
    )


def test_a_phase_that_the_fit_has_keeps_its_row(model):
    moved = relabel(model, Thresholds(linear=0.9))
    pd.testing.assert_series_equal(moved.phases.iloc[-1], model.phases.iloc[-1], check_names=False)


def test_a_slope_at_the_end_is_a_reversal_or_a_plateau_as_the_threshold_says():
    levels = np.repeat([1, 2, 4, 8, 16, 32], 4)
    wall = np.where(levels <= 8, 8 / levels, (levels / 8) ** 0.018) * np.tile(
        [0.999, 1.0, 1.0, 1.001], 6
    )
    fitted = fit_phases(pd.DataFrame({"threads": levels, "wall_s": wall}), "threads", "wall_s")
    assert fitted.phases["label"].iloc[-1] == "plateau"
    assert relabel(fitted, Thresholds(reversal=-0.005)).phases["label"].iloc[-1] == "reversal"


def test_a_slow_loss_that_adds_up_is_a_reversal_and_a_slow_gain_is_linear():
    levels = np.repeat([1, 2, 4, 8, 16, 32], 4)
    noise = np.tile([0.993, 0.998, 1.002, 1.007], 6)
    for exponent, label in ((0.1, "reversal"), (-0.12, "linear"), (0.0, "plateau")):
        table = pd.DataFrame({"threads": levels, "wall_s": levels**exponent * noise})
        found = fit_phases(table, "threads", "wall_s").phases.iloc[-1]
        assert found["label"] == label and found["probability"] > 0.8


def test_the_curve_and_its_evidence_stay(model):
    moved = relabel(model, Thresholds(linear=0.9))
    assert (
        moved.levels is model.levels and moved.trials is model.trials and moved.noise is model.noise
    )
    assert moved.thresholds == Thresholds(linear=0.9)
    assert set(moved.joints["level"]) <= set(model.joints["level"])
    assert moved.steps["probability"].between(0, 1).all()


def test_a_hundred_levels_are_labelled_in_milliseconds():
    levels = np.repeat(np.arange(1, 101), 2)
    rng = np.random.default_rng(1)
    wall = np.maximum(64 / levels, 8) * np.exp(rng.normal(0, 0.02, len(levels)))
    fitted = fit_phases(pd.DataFrame({"threads": levels, "wall_s": wall}), "threads", "wall_s")
    relabel(fitted, Thresholds(linear=0.5))
    began = time.process_time()
    relabel(fitted, Thresholds(linear=0.6))
    assert time.process_time() - began < 0.1
