"""How often several tests together err: simulated, with independent tests of true nulls."""

import numpy as np
import pytest

from deadzone.analysis.hypothesis_tests.holm import all_of, any_of

N = 20_000


def test_one_true_null_among_false_ones_is_passed_by_all_of_at_most_at_the_level():
    """All bounds but one hold beyond doubt: the verdict that all hold errs as often as the one
    test."""
    true = np.random.default_rng(1).uniform(size=N)
    assert np.mean([all_of([p, 1e-9, 1e-9]) <= 0.05 for p in true]) == pytest.approx(
        0.05, abs=0.005
    )


def test_that_any_fails_is_said_wrongly_at_most_at_the_level():
    nulls = np.random.default_rng(2).uniform(size=(N, 4))
    assert np.mean([any_of(list(row)) <= 0.05 for row in nulls]) == pytest.approx(0.05, abs=0.005)
    assert any_of([0.9, 0.8]) == 1.0
