import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.analysis.compare.ratio import interval
from deadzone_services.attribution.hypotheses import drawn, midmean
from deadzone_services.attribution.parts import ADDING_UP, NETWORK, REST, THROTTLED, TOTAL, parts_of


def cut(limit="none", **columns):
    table = pd.DataFrame([{"cpu_limit": limit, "total_s": 10.0, **columns}])
    return parts_of(table, "total_s", pd.Series(["a"]), pd.Series([limit == "none"]))


@given(st.floats(0.1, 1.0), st.floats(1.0, 16.0), st.integers(1, 500))
def test_throttled_time_is_what_passed_however_many_cpus_counted_it(limit, parallel, periods):
    """A group that runs on p CPUs at a quota of q is stopped for 1 - q / p of each period, counted
    p times."""
    passed = periods * 0.1 * (1 - limit / parallel)
    counted = {"throttled_s": passed * parallel, "nr_throttled": periods, "nr_periods": periods}
    used = {"user_s": limit * periods * 0.1, "sys_s": 0.0, "total_s": periods * 0.1}
    found = cut(limit=limit, **counted, **used)
    assert found[THROTTLED][0] == pytest.approx(passed, abs=1e-9)


def test_an_environment_without_a_limit_was_not_throttled():
    assert cut()[THROTTLED][0] == 0
    assert pd.isna(cut(limit=1.0)[THROTTLED][0])


def test_the_smaller_of_two_bounds_on_the_network_holds():
    accounts = {"user_s": 4.0, "sys_s": 1.0}
    assert cut(**accounts, service_s=5.0)[NETWORK][0] == pytest.approx(5.0)
    assert cut(**accounts, service_s=8.0, service_receive_s=1.0)[NETWORK][0] == pytest.approx(3.0)
    assert cut(service_s=8.0, service_receive_s=1.0)[NETWORK][0] == pytest.approx(3.0)
    assert pd.isna(cut()[NETWORK][0])


times = st.floats(0, 30)


@given(times, times, times, times, times, times)
def test_parts_add_up_whatever_was_counted(user, throttled, disk, service, client, upload):
    found = cut(
        limit=0.5, user_s=user, sys_s=0.1, throttled_s=throttled, nr_throttled=20, nr_periods=100,
        service_disk_wait_s=disk, service_s=service, client_cpu_s=client, upload_s=upload,
    )  # fmt: skip
    assert found[list(ADDING_UP)].fillna(0).sum(axis=1)[0] == pytest.approx(found[TOTAL][0])
    assert 0 <= found[NETWORK][0] <= found[TOTAL][0]
    assert REST in found


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=1, max_size=20))
def test_the_mean_of_a_sum_is_the_sum_of_the_means(rows):
    parts = np.array(rows)
    whole = parts.sum(axis=1)
    total = midmean(whole[:, None], whole)[0]
    np.testing.assert_allclose(midmean(parts, whole).sum(), total, atol=1e-9)


def test_one_stalled_trial_in_four_does_not_decide():
    values = np.array([1.0, 1.1, 1.2, 500.0])
    assert midmean(values[:, None], values)[0] < 1.2


def test_an_interval_holds_the_mean_and_needs_two_trials():
    values = np.random.default_rng(1).normal(5, 1, 40)
    low, high = interval(drawn(values[:, None], values, 0)[:, 0], 0.95)
    assert low < 5 < high
    assert np.isnan(interval(drawn(values[:1, None], values[:1], 0)[:, 0], 0.95)).all()
