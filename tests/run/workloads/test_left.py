import contextlib
import os
import shutil
import signal
import subprocess
import sys

import pytest
from disturbance import NO_DOUBTS
from notes import Notes

from deadzone import load_run

DAEMON = """
import subprocess, sys
child = subprocess.Popen(sys.argv[2:], start_new_session=True)  # it holds the pipes of its parent
open(sys.argv[1], "w").write(str(child.pid))
"""


@pytest.fixture
def notes_of(write_study, sweep):
    """What is said in a sweep of a command with its preparations, over two levels."""

    def notes_of(argv=("true", "{n}"), **preparations):
        design = {"warmup": 1, "replicates": 1, "timeout_s": 60}
        workload = {"kind": "command", "argv": [*argv], **preparations}
        path = write_study(workload=workload, factors={"n": [1, 2]}, design=design, trust=NO_DOUBTS)
        notes = Notes()
        assert (sweep(path, told=notes).trials()["status"] == "ok").all()
        return notes.told

    return notes_of


def starting(note, *argv):
    return [sys.executable, "-c", DAEMON, str(note), *map(str, argv)]


def sleep_called(path):
    """A program with a name that no other process has, which may end meanwhile."""
    return shutil.copy(shutil.which("sleep"), path)


@pytest.mark.parametrize("when", ["setup", "prepare"])
def test_a_daemon_that_holds_the_pipe_is_not_waited_for_and_is_ended_and_said(
    when, notes_of, tmp_path, alive
):
    told = notes_of(**{when: starting(tmp_path / "pid", sleep_called(tmp_path / f"a-{when}"), 600)})
    assert not alive(int((tmp_path / "pid").read_text()))
    assert any(f"left a-{when} (" in one and "running, which was ended." in one for one in told)


FORGETS_ITS_ENVIRONMENT = """
import os, sys
os.execve(sys.argv[1], sys.argv[1:], {})  # as nginx and PostgreSQL, which write titles over it
"""


def test_a_daemon_without_its_environment_is_ended_and_said(notes_of, tmp_path, alive):
    program = sleep_called(tmp_path / "a-titled")
    script = tmp_path / "forgets.py"
    script.write_text(FORGETS_ITS_ENVIRONMENT)
    daemon = f"{sys.executable} {script} {program} 600"
    told = notes_of(prepare=["sh", "-c", f"setsid {daemon} & echo $! > {tmp_path / 'pid'}"])
    assert not alive(int((tmp_path / "pid").read_text()))
    assert any("left a-titled (" in one and "ended." in one for one in told)


@pytest.mark.parametrize(("line", "stays"), [("600", True), ("500", False)])
def test_a_server_of_before_that_is_started_again_is_left_running_and_a_namesake_ended(
    line, stays, notes_of, tmp_path, alive
):
    own = sleep_called(tmp_path / "a-server")
    with subprocess.Popen([own, line]) as before:
        restart = starting(tmp_path / "pid", own, 600)
        told = notes_of(setup=["sh", "-c", f'kill {before.pid}; exec "$@"', "sh", *restart])
    pid = int((tmp_path / "pid").read_text())
    try:
        assert alive(pid) == stays
        said = f"left a-server ({pid}) running, {'as before' if stays else 'which was ended.'}"
        assert any(said in one for one in told)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


STARTS_ONCE = """
import os, subprocess, sys
if not os.path.exists(sys.argv[1]):  # as a server that finds its port taken
    server = subprocess.Popen(sys.argv[2:], start_new_session=True)
    open(sys.argv[1], "w").write(str(server.pid))
"""


@pytest.mark.parametrize(("script", "stops"), [(STARTS_ONCE, True), (DAEMON, False)])
def test_one_process_at_every_level_of_a_knob_of_the_preparation_stops_the_verdict(
    script, stops, write_study, sweep, tmp_path
):
    server = sleep_called(tmp_path / "one-server")
    starts = [sys.executable, "-c", script, str(tmp_path / "pid"), str(server), "600{n}"]
    workload = {"kind": "command", "argv": ["sleep", "0.05"], "prepare": starts}
    path = write_study(workload=workload, factors={"n": [1, 2]}, trust=NO_DOUBTS)
    found = [one for one in load_run(sweep(path).folder).findings if one.key == "knob_not_used"]
    said = "One and the same process, one-server, served every level of n"
    assert any(one.severity == "stops" and str(one.seen).startswith(said) for one in found) == stops


def test_a_sweep_says_that_its_setup_runs(notes_of):
    assert notes_of(setup=["sleep", "0.1"])[0] == "first the setup runs: sleep 0.1"
