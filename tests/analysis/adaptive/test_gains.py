"""What one more trial at each level would tell."""

import numpy as np
import pytest

from deadzone.analysis.adaptive.gains import Coverage, gains_of, trial_noise
from deadzone.analysis.phases.inference import infer
from deadzone.analysis.phases.thresholds import Thresholds

X = np.log(np.arange(1.0, 13.0))


def fitted(measured, counts, noise=0.02):
    """A knee at level 6, measured at some levels."""
    rng = np.random.default_rng(1)
    level = np.repeat(np.arange(len(measured)), counts)
    true = -np.minimum(X[measured], np.log(6))
    value = true[level] + noise * rng.standard_normal(len(level))
    posterior = infer(X[measured], value, level, Thresholds())
    full = np.zeros(len(X), dtype=int)
    full[measured] = counts
    return posterior, Coverage(X, measured, full)


def test_a_trial_tells_most_near_the_knee_and_hardly_anything_inside_a_phase():
    measured = np.array([0, 2, 4, 6, 8, 10, 11])
    gains = gains_of(*fitted(measured, np.array([1, 1, 1, 1, 1, 2, 3])))
    assert int(np.argmax(gains.phase + gains.setting)) in (4, 5, 6)
    assert gains.phase[9] < gains.phase[4:7].max() / 2
    assert gains.mean[0] > gains.mean[5]


def test_what_was_measured_often_tells_little_more():
    measured = np.arange(12)
    gains = gains_of(*fitted(measured, np.full(12, 8)))
    assert (gains.phase + gains.setting).max() < 0.1


def test_the_more_trials_a_level_has_the_less_a_further_one_tells_of_the_curve():
    posterior, _ = fitted(np.arange(12), np.full(12, 3))
    noises = [trial_noise(posterior, count) for count in (0, 1, 2, 5, 20)]
    assert noises[0] == pytest.approx(
        np.hypot(posterior.noise, min(posterior.misfit, posterior.noise))
    )
    assert noises[1:] == sorted(noises[1:])
