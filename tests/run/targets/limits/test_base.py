import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.run.targets.limits.base import (
    LEAST_LIMIT,
    PERIOD_US,
    group_name,
    is_left_over,
    quota_us,
    remove_group,
    start_ticks,
)


@pytest.mark.parametrize(
    ("cores", "quota"), [(None, None), (0.01, 1000), (0.125, 12500), (1, 100_000), (2.5, 250_000)]
)
def test_a_limit_is_a_quota_of_the_period(cores, quota):
    assert quota_us(cores) == quota


@given(st.floats(LEAST_LIMIT, 1024))
def test_no_quota_is_below_what_the_kernel_takes(cores):
    assert quota_us(cores) >= 1000
    assert quota_us(cores) / PERIOD_US == pytest.approx(cores, abs=1 / PERIOD_US)


def test_a_living_process_left_nothing_over_and_one_before_it_of_its_number_did():
    assert not is_left_over(group_name())
    assert not is_left_over(f"{group_name()}-scratch1")
    own, ticks, namespace = group_name().removeprefix("deadzone-").split("-")
    assert is_left_over(f"deadzone-{own}-{int(ticks) - 1}-{namespace}")


def test_a_process_that_was_killed_but_not_waited_for_has_ended():
    with subprocess.Popen((sys.executable, "-c", "input()"), stdin=subprocess.PIPE) as process:
        ticks = start_ticks(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert start_ticks(process.pid) is None
        namespace = group_name().rpartition("-")[2]
        assert is_left_over(f"deadzone-{process.pid}-{ticks}-{namespace}")


def test_a_group_that_is_gone_already_is_removed(tmp_path):
    assert remove_group(tmp_path / "gone")
