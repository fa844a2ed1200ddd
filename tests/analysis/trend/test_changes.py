import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.analysis.trend.changes import LEAST_RUNS, change_points


def series(*levels, scatter=0.01, seed=1):
    """Ten runs at each level, in logarithms."""
    values = np.repeat(np.log(levels), 10)
    return values + np.random.default_rng(seed).normal(0, scatter, len(values))


@pytest.mark.parametrize(
    ("levels", "cuts"),
    [((1, 1, 1), []), ((1, 1.05, 1.05), [10]), ((1, 1.05, 0.9), [10, 20]), ((1, 1.02, 1.02), [])],
)
def test_steps_of_more_than_the_tolerance_are_found(levels, cuts):
    values = series(*levels)
    assert change_points(values, np.zeros(30)) == cuts


def test_noise_within_the_runs_hides_a_step_that_it_explains():
    values = series(1, 1.05, scatter=0)
    assert change_points(values, np.zeros(20)) == [10]
    assert change_points(values, np.full(20, 0.1)) == []


@given(st.lists(st.floats(-5, 5), min_size=0, max_size=40))
def test_any_series_is_cut_into_pieces_of_three_or_more_whose_order_may_be_turned(values):
    given_values, errors = np.array(values), np.zeros(len(values))
    cuts = change_points(given_values, errors)
    assert all(np.diff([0, *cuts, len(values)]) >= LEAST_RUNS) if cuts else True
    assert len(change_points(given_values[::-1], errors)) == len(cuts)
