import numpy as np
import pytest

from deadzone.analysis.adaptive.gains import Coverage, gains_of
from deadzone.analysis.adaptive.proposing import expected_loss, open_questions
from deadzone.analysis.phases.inference import infer
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.study.until_specs import UntilSpec

LEVELS = np.arange(1.0, 13.0)
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


def asked(measured, count, noise, **until):
    """What is open of a knee at level 6 measured so often at these levels."""
    known = fitted(np.array(measured), np.full(len(measured), count), noise)
    names = [f"{level:g}" for level in LEVELS]
    return open_questions(*known, gains_of(*known), names, "n", UntilSpec(**until))


def test_many_quiet_trials_leave_nothing_open():
    assert asked(range(12), 5, 0.005) == ()


def test_a_joint_between_levels_far_apart_is_open_though_its_label_is_sure():
    said = asked([0, 1, 2, 8, 10, 11], 5, 0.005, decide="phases")
    assert any("Where between" in one for one in said)
    assert asked([0, 1, 2, 8, 10, 11], 5, 0.005, decide="phases", joint_levels=6) == ()


@pytest.mark.parametrize(("until", "is_open"), [({}, True), ({"decide": "setting"}, False)])
def test_noise_leaves_labels_open_and_what_is_not_asked_is_not_open(until, is_open):
    said = asked(range(12), 1, 0.3, **until)
    assert any("What the phase of n" in one for one in said) == is_open


def test_the_loss_that_is_expected_falls_with_the_noise():
    quiet, noisy = (
        expected_loss(fitted(np.arange(12), np.full(12, 3), noise)[0]) for noise in (0.002, 0.2)
    )
    assert quiet[1] < 0.005 < noisy[1]
    assert LEVELS[quiet[0]] == 6
