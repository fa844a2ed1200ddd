import numpy as np
import pytest

from analysis.compare.tables import samples
from deadzone.analysis.compare.comparing import compare_tables, pooled_noise, replicates_needed
from deadzone.analysis.hypothesis_tests.ranks import least_trials


def test_a_rank_test_needs_so_many_whatever_the_noise():
    """Four a side reach 2/70 = 0.029, five 2/252 = 0.0079, six 2/924 = 0.0022."""
    assert [least_trials(k, 0.95) for k in (1, 4, 10)] == [4, 5, 6]
    assert replicates_needed(0.03, 1e-9, 4, 0.95) == 5


def test_more_noise_and_more_comparisons_need_more():
    quiet, loud, many = (
        replicates_needed(0.03, s, k, 0.95) for s, k in ((0.02, 1), (0.04, 1), (0.04, 20))
    )
    assert quiet < loud < many
    assert replicates_needed(0.03, 50.0, 1, 0.95) is None


def test_noise_is_pooled_over_samples():
    assert pooled_noise([np.exp([1.0, 3.0]), np.exp([5.0, 5.0])]) == pytest.approx(1.0)
    assert np.isnan(pooled_noise([np.array([1.0]), np.array([0.0, 1.0])]))


@pytest.mark.night
def test_the_number_finds_the_change_four_times_in_five():
    n = replicates_needed(np.log(1.03), 0.02, 1, 0.95)
    rng = np.random.default_rng(3)
    drawn = np.exp(0.02 * rng.standard_normal((100, 2, n)))
    results = [compare_tables(*samples(a, 1.03 * b), "wall_s").treatments for a, b in drawn]
    assert 0.72 <= np.mean([rows["p_value"].iloc[0] <= 0.05 for rows in results]) <= 0.92
