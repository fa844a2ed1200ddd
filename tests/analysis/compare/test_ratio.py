import math

import numpy as np
import pytest

from deadzone.analysis.compare.ratio import interval, overall_draws, resample


def alone(a, b):
    pair = np.asarray(a, float), np.asarray(b, float)
    return resample([pair], together=(False, False), paired=False)


def test_resampled_medians_have_the_distribution_of_drawing_trials():
    """Median of 3 of 3 is the smallest if two or three draws are: 7 ways of 27; the middle one in
    13."""
    drawn = alone([1, 2, 4], [1, 1, 1])[1][0]
    share = {value: np.mean(np.isclose(drawn, -math.log(value))) for value in (1, 2, 4)}
    assert share == pytest.approx({1: 7 / 27, 2: 13 / 27, 4: 7 / 27}, abs=0.03)


def test_an_even_number_of_trials_draws_both_middles():
    """Of 2 trials: both the first, both the last, or one of each, whose middle is their mean."""
    drawn = np.exp(-alone([1, 3], [1, 1])[1][0])
    share = {value: np.mean(np.isclose(drawn, value)) for value in (1, 2, 3)}
    assert share == pytest.approx({1: 0.25, 2: 0.5, 3: 0.25}, abs=0.03)


def test_blocks_keep_what_their_treatments_share():
    """A slow block is slow in every treatment, so it does not average out over them."""
    rng = np.random.default_rng(5)
    block = np.exp(0.2 * rng.standard_normal(10))
    a, b = [np.ones(10)] * 6, [block * np.exp(0.001 * rng.standard_normal(10)) for _ in range(6)]
    pairs = list(zip(a, b, strict=True))
    joint, split = (
        np.ptp(interval(overall_draws(*resample(pairs, together=kind, paired=False)), 0.95))
        for kind in ((True, True), (False, False))
    )
    assert joint > 1.8 * split


def test_treatments_are_drawn_where_each_has_one_trial():
    pairs = [(np.ones(1), np.full(1, ratio)) for ratio in (1.1, 1.2, 1.15, 1.1, 1.2, 1.15)]
    all_of, few = (
        overall_draws(*resample(some, together=(False, False), paired=False))
        for some in (pairs, pairs[:4])
    )
    low, high = interval(all_of, 0.95)
    assert 1.1 < math.exp(low) < math.exp(high) < 1.2 and not len(few)


@pytest.mark.parametrize(("n", "least"), [(5, 0.92), (10, 0.90)])
def test_intervals_hold_the_true_ratio_as_often_as_they_say(n, least):
    rng = np.random.default_rng(n)
    drawn = np.exp(0.03 * rng.standard_normal((200, 2, n)))
    ends = np.array([interval(alone(a, 1.1 * b)[1][0], 0.95) for a, b in drawn])
    assert np.mean((ends[:, 0] <= math.log(1.1)) & (math.log(1.1) <= ends[:, 1])) >= least
