"""Cliff's delta by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.analysis.compare.effect_size import cliffs_delta, magnitude, overall_delta

values = st.lists(st.integers(0, 9).map(float), min_size=1, max_size=12).map(np.array)


def test_every_pair_counts_once():
    """Of 6 pairs, b is larger in 4, smaller in 1, equal in 1."""
    assert cliffs_delta(np.array([1.0, 2, 3]), np.array([2.0, 4])) == pytest.approx((4 - 1) / 6)


@given(values, values)
def test_it_is_the_count_over_all_pairs_and_turns_with_the_samples(a, b):
    assert cliffs_delta(a, b) == pytest.approx(np.sign(b[None, :] - a[:, None]).mean())
    assert cliffs_delta(a, b) == pytest.approx(-cliffs_delta(b, a))


def test_words_follow_romanos_thresholds():
    words = [magnitude(delta) for delta in (0.146, -0.147, 0.33, -0.474, float("nan"))]
    assert words == ["negligible", "small", "medium", "large", "unknown"]


def test_treatments_weigh_as_their_pairs():
    pairs = [(np.zeros(2), np.ones(2)), (np.ones(1), np.zeros(1)), (np.array([]), np.ones(3))]
    assert overall_delta(pairs) == pytest.approx((4 * 1 + 1 * -1) / 5)
    assert np.isnan(overall_delta([]))
