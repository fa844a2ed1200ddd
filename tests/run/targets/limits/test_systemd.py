"""Without a systemd; tests/cgroup2 shows scopes on a machine that has one."""

import pytest

from deadzone.errors import TargetError
from deadzone.run.targets.limits import systemd
from deadzone.run.targets.limits.systemd import SystemdScope


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder of programs, with a systemd-run in it."""
    program = tmp_path / "systemd-run"
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_systemd_the_reason_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="systemd-run is not installed"):
        SystemdScope().open("deadzone-1-2-3")


def test_systemd_with_cgroup_v1_is_refused(installed, monkeypatch):
    monkeypatch.setattr(systemd, "v2_mount", lambda: None)
    with pytest.raises(TargetError, match="cgroup v2"):
        SystemdScope().open("deadzone-1-2-3")


def test_a_launcher_that_ended_is_not_waited_for():
    with pytest.raises(TargetError, match="did not start the program's launcher"):
        SystemdScope().adopt(2**22 + 1)


def test_a_group_without_a_controller_is_an_error_that_says_who_can_change_it(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(
        systemd, "_run", lambda *argv: systemd.subprocess.CompletedProcess(argv, 0, "", "")
    )
    scope = SystemdScope()
    scope.folders[scope.hierarchy] = tmp_path
    with pytest.raises(TargetError, match=r"user@\.service"):
        scope.set_cpu_limit(0.5)


def test_a_user_starts_the_launcher_in_a_scope_of_their_own_systemd(monkeypatch):
    monkeypatch.setattr(systemd.os, "geteuid", lambda: 1000)
    argv = SystemdScope().wrap(("program", "--option"))
    assert argv[:3] == ("systemd-run", "--user", "--scope")
    assert argv[-3:] == ("--", "program", "--option")
