import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.analysis.adaptive.gains import entropy, information

values = st.lists(st.floats(-3, 3), min_size=2, max_size=30)
noises = st.floats(0.01, 3)


def told(value, answer, noise):
    return information(np.array(value, float), np.ones(len(value)), np.array([answer]), noise)[0]


@pytest.mark.parametrize(
    ("value", "answer", "noise", "bits", "within"),
    [
        ([0, 1], [0, 1], 0.01, 1.0, 1e-6),  # far apart
        ([0.5, 0.5], [0, 1], 0.1, 0.0, 1e-9),  # of one value
        ([0, 1, 2], [7, 7, 7], 0.1, 0.0, 1e-9),  # one answer alone
        ([-1, 1], [0, 1], 1.0, 0.4859, 2e-3),  # a channel of two signals 2 sigma apart (integrated)
    ],
)
def test_what_one_trial_tells_of_two_answers(value, answer, noise, bits, within):
    assert told(value, answer, noise) / np.log(2) == pytest.approx(bits, abs=within)


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
