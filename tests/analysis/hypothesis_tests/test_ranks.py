"""Rank tests against values by hand and scipy's."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.compare.tables import table
from deadzone.analysis.compare.comparing import compare_tables
from deadzone.analysis.hypothesis_tests.ranks import rank_sum, signed_rank, smallest_p

small = st.lists(st.integers(1, 9).map(float), min_size=1, max_size=9)


def test_three_against_three_reach_one_in_ten_at_best():
    """20 ways to choose three ranks of six; the extreme one and its mirror image."""
    assert rank_sum([(np.array([1.0, 2, 3]), np.array([4.0, 5, 6]))]).two_sided == pytest.approx(
        2 / 20
    )
    assert rank_sum([(np.array([1.0, 2, 3]), np.array([4.0, 5, 6]))]).greater == pytest.approx(
        1 / 20
    )
    assert smallest_p(3, 3) == pytest.approx(0.1)
    assert smallest_p(4, 4) == pytest.approx(2 / 70)
    assert smallest_p(0, 4) == 1.0


@given(st.lists(st.floats(0.1, 9), min_size=2, max_size=16, unique=True), st.data())
def test_it_is_the_exact_mann_whitney_test_without_ties(values, data):
    cut = data.draw(st.integers(1, len(values) - 1))
    a, b = np.array(values[:cut]), np.array(values[cut:])
    for ours, side in ((rank_sum([(a, b)]).greater, "greater"), (rank_sum([(a, b)]).less, "less")):
        assert ours == pytest.approx(
            stats.mannwhitneyu(b, a, alternative=side, method="exact").pvalue
        )


@given(small, small)
def test_ties_are_counted_out_as_a_permutation_test_does(a, b):
    a, b = np.array(a[:5]), np.array(b[:5])

    def doubled_u(x, y):
        return (np.sign(y[:, None] - x[None, :]) + 1).sum()

    pooled, every = np.concatenate([a, b]), set(range(len(a) + len(b)))
    ways = [
        doubled_u(pooled[sorted(every - set(chosen))], pooled[list(chosen)])
        for chosen in combinations(sorted(every), len(b))
    ]
    assert rank_sum([(a, b)]).greater == pytest.approx(np.mean(np.array(ways) >= doubled_u(a, b)))


def test_many_trials_use_the_normal_approximation_of_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 60).round(1), rng.normal(0.3, 1, 70).round(1)
    reference = stats.mannwhitneyu(b, a, alternative="greater", method="asymptotic").pvalue
    assert rank_sum([(a, b)]).greater == pytest.approx(reference, rel=1e-9)


@given(
    st.lists(
        st.floats(-5, 5).filter(lambda d: abs(d) > 1e-3), min_size=1, max_size=20, unique_by=abs
    )
)
def test_pairs_are_tested_by_wilcoxons_signed_ranks(differences):
    d = np.array(differences)
    ours = signed_rank([d])
    assert ours.greater == pytest.approx(
        stats.wilcoxon(d, alternative="greater", method="exact").pvalue
    )
    assert ours.less == pytest.approx(stats.wilcoxon(d, alternative="less", method="exact").pvalue)


def test_strata_of_one_trial_a_side_are_a_sign_test():
    """Five of five higher: one way in 32 each side."""
    pairs = [(np.array([1.0]), np.array([2.0]))] * 5
    assert rank_sum(pairs).two_sided == pytest.approx(2 / 32)
    assert rank_sum(pairs[:1]).two_sided == 1.0


def test_nothing_measured_shows_nothing():
    assert rank_sum([]).two_sided == 1.0
    assert signed_rank([np.zeros(5)]).two_sided == 1.0
    assert rank_sum([(np.ones(50), np.ones(50))]).two_sided == 1.0


@given(small, small)
def test_exchanging_the_samples_exchanges_the_sides(a, b):
    one, other = rank_sum([(np.array(a), np.array(b))]), rank_sum([(np.array(b), np.array(a))])
    assert one.less == pytest.approx(other.greater, abs=1e-12)


def test_five_hundred_treatments_are_compared_in_seconds():
    levels = tuple(range(1, 501))
    result = compare_tables(table(levels=levels, n=5), table(levels=levels, n=5, seed=2), "wall_s")
    assert len(result.treatments) == 500
