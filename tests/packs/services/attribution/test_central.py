"""The mean of the middle half: additive, and untouched by a stalled trial."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deadzone.analysis.compare.ratio import interval
from deadzone_services.attribution.hypotheses import drawn, midmean


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=1, max_size=20))
def test_the_mean_of_a_sum_is_the_sum_of_the_means(rows):
    parts = np.array(rows)
    whole = parts.sum(axis=1)
    np.testing.assert_allclose(
        midmean(parts, whole).sum(), midmean(whole[:, None], whole)[0], atol=1e-9
    )


def test_one_stalled_trial_in_four_does_not_decide():
    values = np.array([1.0, 1.1, 1.2, 500.0])
    assert midmean(values[:, None], values)[0] < 1.2


def test_an_interval_holds_the_mean_and_needs_two_trials():
    values = np.random.default_rng(1).normal(5, 1, 40)
    low, high = interval(drawn(values[:, None], values, 0)[:, 0], 0.95)
    assert low < 5 < high
    assert np.isnan(interval(drawn(values[:1, None], values[:1], 0)[:, 0], 0.95)).all()
