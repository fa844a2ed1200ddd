"""What a trial tells: nothing where all answers agree, everything where they lie far apart, never
more than there is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.analysis.adaptive.gains import entropy, information

values = st.lists(st.floats(-3, 3), min_size=2, max_size=30)
noises = st.floats(0.01, 3)


def told(value, answer, noise, weight=None):
    value = np.array(value, float)
    weight = np.ones(len(value)) if weight is None else np.array(weight, float)
    return information(value, weight, np.array([answer]), noise)[0]


def test_two_answers_far_apart_are_told_by_one_trial():
    assert told([0, 1], [0, 1], 0.01) == pytest.approx(np.log(2), rel=1e-6)


def test_answers_with_the_same_value_cannot_be_told_apart():
    assert told([0.5, 0.5], [0, 1], 0.1) == pytest.approx(0, abs=1e-9)


def test_one_answer_leaves_nothing_to_tell():
    assert told([0, 1, 2], [7, 7, 7], 0.1) == pytest.approx(0, abs=1e-9)


def test_two_gaussians_two_standard_deviations_apart_tell_the_known_amount():
    """The capacity of a channel of two signals at a distance of 2 sigma: 0.4859 bit (numerical
    integration)."""
    assert told([-1, 1], [0, 1], 1.0) / np.log(2) == pytest.approx(0.4859, abs=2e-3)


@given(values, noises, st.integers(0, 5))
def test_it_is_never_negative_and_never_more_than_the_answers_hold(value, noise, seed):
    answer = np.random.default_rng(seed).integers(0, 3, len(value))
    share = np.bincount(answer) / len(answer)
    assert 0 <= told(value, answer, noise) <= entropy(share) + 1e-9


@given(values, noises)
def test_more_noise_tells_less(value, noise):
    answer = np.arange(len(value))
    assert told(value, answer, 2 * noise) <= told(value, answer, noise) + 0.02


@given(values, noises, st.floats(-100, 100))
def test_where_zero_lies_does_not_matter(value, noise, shift):
    answer = np.arange(len(value)) % 2
    there = told(np.array(value) + shift, answer, noise)
    assert there == pytest.approx(told(value, answer, noise), abs=0.02)
