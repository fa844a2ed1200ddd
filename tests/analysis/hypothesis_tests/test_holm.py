import numpy as np

from deadzone.analysis.hypothesis_tests.holm import holm


def test_the_smallest_is_multiplied_by_all_and_none_falls_below_its_predecessor():
    adjusted = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert np.allclose(adjusted, [0.03, 0.06, 0.06, 0.02])


def test_tests_that_were_not_made_count_for_nothing():
    adjusted = holm(np.array([0.02, np.nan, 0.5]))
    assert np.allclose(adjusted, [0.04, np.nan, 0.5], equal_nan=True)
    assert len(holm(np.array([]))) == 0


def test_no_p_value_exceeds_one():
    assert holm(np.array([0.6, 0.9])).max() == 1.0
