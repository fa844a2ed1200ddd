"""On a folder of plain files; tests/cgroup2 shows it on a real kernel."""

import os
import shutil

import pytest

from deadzone.errors import TargetError
from deadzone.run.targets.limits import cgroup_v2
from deadzone.run.targets.limits.cgroup_v2 import LENT, UNIFIED, CgroupV2, hand_back, verify_cpu_max

STAT = "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\n"
THROTTLING = "nr_periods 10\nnr_throttled 9\nthrottled_usec 700000\n"


@pytest.fixture
def group(tmp_path):
    (tmp_path / "cgroup.subtree_control").write_text("cpu")
    path = tmp_path / f"deadzone-1-2-3{LENT}"
    path.mkdir()
    (path / "cpu.stat").write_text(STAT + THROTTLING)
    (path / "cpu.max").write_text("30000 100000\n")
    return path


def test_counters_come_in_seconds(group):
    counters = CgroupV2({UNIFIED: group}).read()
    assert (counters.usage_s, counters.user_s, counters.sys_s) == (3.0, 2.0, 1.0)
    assert counters.throttled_s == 0.7
    assert (counters.nr_periods, counters.nr_throttled, counters.oom_kills) == (10, 9, None)


def test_a_group_that_lost_its_controller_is_an_error_and_no_trial_without_limit(group):
    (group / "cpu.stat").write_text(STAT)
    with pytest.raises(TargetError, match="no longer in force"):
        CgroupV2({UNIFIED: group}).read()


def test_another_limit_in_force_than_asked_for_is_an_error(group):
    verify_cpu_max(group, "30000 100000")
    with pytest.raises(TargetError, match="'30000 100000' where 'max 100000'"):
        verify_cpu_max(group, "max 100000")
    (group / "cpu.max").unlink()
    with pytest.raises(TargetError, match="is None where"):
        verify_cpu_max(group, "max 100000")


@pytest.mark.parametrize(
    ("name", "other", "left"),
    [
        (f"deadzone-1-2-3{LENT}", None, "-cpu"),
        (f"deadzone-1-2-3{LENT}", "deadzone-4-5-6", "cpu"),  # another sweep needs it
        ("deadzone-1-2-3", None, "cpu"),  # it was on before
    ],
)
def test_the_controller_is_handed_back_with_the_group_that_lent_it(group, name, other, left):
    shutil.rmtree(group)
    if other:
        (group.parent / other).mkdir()
    hand_back(group.with_name(name))
    assert (group.parent / "cgroup.subtree_control").read_text() == left


def test_a_machine_without_cgroup_v2_is_told_so(monkeypatch):
    monkeypatch.setattr(cgroup_v2, "v2_mount", lambda: None)
    with pytest.raises(TargetError, match="no cgroup v2 hierarchy is mounted"):
        CgroupV2().open("deadzone-1-2-3")


def test_a_user_to_whom_nothing_is_delegated_is_told_how_to_get_it(tmp_path, monkeypatch):
    unit = tmp_path / "app.scope"
    unit.mkdir()
    for folder in (tmp_path, unit):
        (folder / "cgroup.controllers").write_text("cpu memory")
    monkeypatch.setattr(cgroup_v2, "v2_mount", lambda: tmp_path)
    monkeypatch.setattr(cgroup_v2, "own_v2_group", lambda: unit)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    # no systemctl to ask, so nothing says that the unit may be used
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="Delegate=yes"):
        CgroupV2().open("deadzone-1-2-3")
