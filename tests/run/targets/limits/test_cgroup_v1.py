import subprocess
import time

import pytest

from deadzone.errors import TargetError
from deadzone.run.targets.limits.base import group_name
from deadzone.run.targets.limits.cgroup_v1 import CONTROLLERS, CgroupV1, v1_homes, v1_mounts


@pytest.fixture
def mechanism():
    found = CgroupV1()
    try:
        found.open(f"{group_name()}-test")
    except TargetError as error:
        pytest.skip(f"cgroup v1 does not work on this machine ({error})")
    yield found
    found.close()


@pytest.mark.alone("it measures CPU time under a quota")
def test_a_process_in_the_group_is_limited_counted_and_then_free(mechanism):
    (listed,) = mechanism.procs_files()
    with subprocess.Popen(("sh", "-c", "while :; do :; done")) as busy:
        mechanism.adopt(busy.pid)
        assert listed.read_text().split() == [str(busy.pid)]
        mechanism.set_cpu_limit(0.1)
        before = mechanism.read()
        time.sleep(0.6)
        after = mechanism.read()
        busy.kill()
    used = after.usage_s - before.usage_s
    assert 0 < used <= 0.1 * 0.6 + 0.02 + 0.05
    assert after.nr_throttled - before.nr_throttled >= 3
    assert after.throttled_s > before.throttled_s
    group = listed.parent
    mechanism.close()
    assert not group.exists()


def test_what_is_in_force_is_what_the_kernel_says(mechanism):
    (listed,) = mechanism.procs_files()
    quota = listed.parent / "cpu.cfs_quota_us"
    mechanism.set_cpu_limit(1.5)
    assert quota.read_text() == "150000\n"
    mechanism.set_cpu_limit(None)
    assert quota.read_text() == "-1\n"


def test_a_group_that_was_taken_away_is_an_error_that_names_the_file(mechanism):
    (listed,) = mechanism.procs_files()
    listed.parent.rmdir()
    with pytest.raises(TargetError, match=r"cpu\.cfs_quota_us: No such file"):
        mechanism.set_cpu_limit(1)


def test_the_groups_home_lies_in_the_hierarchy_of_its_controller(mechanism):
    homes, mounts = v1_homes(), v1_mounts()
    assert {"cpu", "cpuacct"} <= set(mounts) <= set(CONTROLLERS)
    assert all(homes[name].is_relative_to(mounts[name]) for name in mounts)
