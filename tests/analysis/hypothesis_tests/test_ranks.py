import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.analysis.hypothesis_tests.ranks import p_change, rank_sum, signed_rank, smallest_p

small = st.lists(st.integers(1, 9).map(float), min_size=1, max_size=9)


def test_three_against_three_reach_one_in_ten_at_best():
    """20 ways to choose three ranks of six; the extreme one and its mirror image."""
    a, b = np.array([1.0, 2, 3]), np.array([4.0, 5, 6])
    assert rank_sum(a, b) == pytest.approx(2 / 20)
    assert rank_sum(a, b, "greater") == pytest.approx(1 / 20)
    assert smallest_p(3, 3) == pytest.approx(0.1)
    assert smallest_p(4, 4) == pytest.approx(2 / 70)
    assert smallest_p(0, 4) == 1.0


def test_four_positive_differences_reach_one_in_eight_at_best():
    """16 ways to set four signs; all of them positive, and its mirror image. Zeros do not count."""
    assert signed_rank(np.array([1.0, 2, 3, 4, 0])) == pytest.approx(2 / 16)


@pytest.mark.parametrize("n", [3, 8])
def test_ties_let_nothing_be_shown_too_often(n):
    """Whole numbers from 1 to 3: of true nulls at most the level is rejected."""
    rng = np.random.default_rng(n)
    p = [rank_sum(*rng.integers(1, 4, (2, n)).astype(float)) for _ in range(300)]
    assert np.mean(np.array(p) <= 0.05) <= 0.05


def test_strata_of_one_trial_a_side_are_a_sign_test():
    """Ten of ten higher: one way in 1024 each side, near which the normal approximation is."""
    pairs = [(np.array([1.0]), np.array([2.0]))] * 10
    assert p_change(pairs, paired=False) == pytest.approx(2 / 1024, abs=0.003)
    assert p_change(pairs[:1], paired=False) == 1.0


@pytest.mark.parametrize(
    ("n", "shift", "least", "most"), [(3, 0.0, 0.0, 0.06), (3, 0.6, 0.35, 1.0)]
)
def test_a_shift_of_many_strata_is_shown_by_few_trials_in_each(n, shift, least, most):
    """Nine treatments of three trials a side: combined p-values would show 0.6 standard deviations
    in an eighth of the cases."""
    rng = np.random.default_rng(4)
    drawn = np.exp(0.1 * rng.normal([[[0]], [[shift]]], 1, (300, 2, 9, n)))
    p = [p_change([*zip(*sides, strict=True)], False) for sides in drawn]
    assert least <= np.mean(np.array(p) <= 0.05) <= most


def test_nothing_measured_shows_nothing():
    assert signed_rank(np.zeros(5)) == 1.0
    assert rank_sum(np.ones(50), np.ones(50)) == 1.0
    same = [(np.ones(5), np.ones(5))] * 2
    assert p_change(same, paired=False) == p_change(same, paired=True) == 1.0


@given(small, small)
def test_exchanging_the_samples_exchanges_the_sides(a, b):
    a, b = np.array(a), np.array(b)
    assert rank_sum(a, b, "less") == pytest.approx(rank_sum(b, a, "greater"), abs=1e-12)
