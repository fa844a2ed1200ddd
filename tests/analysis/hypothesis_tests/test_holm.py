"""How often several tests together err; some of it simulated, with independent true nulls."""

import numpy as np
import pytest

from deadzone.analysis.hypothesis_tests.holm import all_of, any_of, holm

N = 20_000


def test_the_smallest_is_multiplied_by_all_and_none_falls_below_its_predecessor():
    adjusted = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert np.allclose(adjusted, [0.03, 0.06, 0.06, 0.02])


def test_tests_that_were_not_made_count_for_nothing():
    adjusted = holm(np.array([0.02, np.nan, 0.5]))
    assert np.allclose(adjusted, [0.04, np.nan, 0.5], equal_nan=True)
    assert len(holm(np.array([]))) == 0


def test_no_p_value_exceeds_one():
    assert holm(np.array([0.6, 0.9])).max() == 1.0


def test_one_true_null_among_false_ones_is_passed_by_all_of_at_most_at_the_level():
    """All bounds but one hold beyond doubt: that all hold errs as often as the one test."""
    true = np.random.default_rng(1).uniform(size=N)
    passed = np.mean([all_of([p, 1e-9, 1e-9]) <= 0.05 for p in true])
    assert passed == pytest.approx(0.05, abs=0.005)


def test_that_any_fails_is_said_wrongly_at_most_at_the_level():
    nulls = np.random.default_rng(2).uniform(size=(N, 4))
    assert np.mean([any_of(list(row)) <= 0.05 for row in nulls]) == pytest.approx(0.05, abs=0.005)
    assert any_of([0.9, 0.8]) == 1.0
