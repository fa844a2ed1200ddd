"""Tests of normality against scipy.stats, whose import the library does without."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deadzone.analysis.hypothesis_tests.normality import NORMALITY, normality

SCORES = 5e-6
"""scipy has normal scores of seven digits (Algorithm AS 241's PPND7), which shows in its p-value."""


@pytest.mark.parametrize("shape", ["standard_normal", "standard_exponential", "standard_cauchy", "random"])
@pytest.mark.parametrize("n", [8, 9, 11, 12, 13, 80, 4999])
def test_statistics_and_p_values_are_those_of_scipy(n, shape):
    rng = np.random.default_rng(n)
    for _ in range(5):
        values = getattr(rng, shape)(n)
        ours = list(normality(values).values())
        theirs = [
            *(stats.skew(values), stats.kurtosis(values, fisher=False)),
            *(*stats.jarque_bera(values), *stats.shapiro(values)),
        ]
        assert np.allclose(ours[:4], theirs[:4], rtol=1e-10)
        assert np.allclose(ours[4:], theirs[4:], rtol=SCORES, atol=1e-15)


def test_published_weights_of_men_are_not_normal():
    """Weights of eleven men in pounds (Shapiro and Wilk 1965, example 3): W = 0.79, significant at 1 %."""
    men = normality(np.array([148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236.0]))
    assert men["shapiro"] == pytest.approx(0.79, abs=0.005) and men["shapiro_p"] < 0.01


@pytest.mark.parametrize("values", [[0.1, -0.1, 0.2], [1.0] * 20])
def test_of_few_values_and_of_equal_ones_nothing_is_said(values):
    tested = normality(np.array(values))
    assert tuple(tested) == NORMALITY and np.isnan(list(tested.values())).all()


def test_more_values_than_the_approximation_holds_for_have_no_p_value():
    tested = normality(np.random.default_rng(1).standard_normal(5001))
    assert np.isnan(tested["shapiro_p"]) and tested["jarque_bera_p"] > 0.01
