import json
import os
import signal
import subprocess
import sys
import time

import pytest
from waiting import wait_for

from deadzone.run.targets import launcher
from deadzone.run.targets.limits.base import group_name
from deadzone.run.targets.undo_log import find_leftovers, remove_leftovers

pytestmark = pytest.mark.kept


@pytest.fixture
def long_trial(quota, write_study, start, tmp_path):
    """A sweep in the middle of a trial of ten minutes, with the program's process id."""
    note = tmp_path / "program"
    study = write_study(
        argv=["sh", "-c", "echo $$ > $NOTE; exec sleep 600"],
        workload={"env": {"NOTE": str(note)}},
        target={"kind": "local", "mechanism": quota},
        factors={"cpu_limit": [0.5]},
        design={"replicates": 1, "timeout_s": 900},
    )
    sweep = start("sweep", study)
    noted = sweep.wait_for(lambda: note.exists() and note.read_text().strip(), "its first trial")
    return sweep, int(noted)


def kill(sweep, what="alone"):
    """A sweep, or its process group, or its launcher first."""
    if what == "with its launcher":
        os.kill(sweep.launcher(), signal.SIGKILL)
    (os.killpg if what == "with its process group" else os.kill)(sweep.pid, signal.SIGKILL)
    sweep.process.wait()


@pytest.mark.parametrize("killing", ["alone", "with its process group", "with its launcher"])
def test_what_a_killed_sweep_left_is_removed_with_what_still_runs(
    killing, long_trial, traces, alive, deadzone
):
    """By this one, or another test's sweep before it; `tests/cgroup2` has a machine to itself."""
    sweep, program = long_trial
    assert traces(sweep.pid), "the next run has nothing to do"
    kill(sweep, killing)
    assert deadzone("restore").code == 0
    assert traces(sweep.pid) == []
    assert not alive(program)


@pytest.mark.parametrize("quota", ["emulated"])
def test_without_a_control_group_the_program_ends_with_its_launcher(quota, long_trial, alive):
    """A later command would have no group to look for it in."""
    sweep, program = long_trial
    kill(sweep, "with its launcher")
    wait_for(lambda: not alive(program), "it still runs", patience_s=5)


@pytest.mark.parametrize("harness_was_there", [True, False])
def test_a_program_that_waits_to_start_never_does_without_its_harness(
    harness_was_there, tmp_path, alive
):
    go, ran = tmp_path / "go", tmp_path / "ran"
    os.mkfifo(go)
    gate = os.open(go, os.O_RDWR) if harness_was_there else None
    argv = (sys.executable, "-I", "-S", launcher.__file__, str(go))
    request = {"argv": ["touch", str(ran)], "env": {}, "cwd": None, "dies_first": False}
    streams = {name: str(tmp_path / name) for name in ("stdout", "stderr")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(argv, **pipes, text=True) as running:
        running.stdin.write(json.dumps(request | streams) + "\n")
        running.stdin.flush()
        program = json.loads(running.stdout.readline())["pid"]
        if gate is not None:
            time.sleep(0.2)  # it waits at the gate by then
            assert alive(program)
            os.close(gate)
        wait_for(lambda: not alive(program), "it still runs", patience_s=5)
    assert not ran.exists()


def test_the_next_run_tidies_up_by_itself(long_trial, traces, write_study, sweep):
    killed, _ = long_trial
    kill(killed)
    sweep(write_study("next"))
    assert traces(killed.pid) == []


def test_a_run_with_nothing_left_to_measure_tidies_up_too(
    long_trial, traces, write_study, deadzone
):
    """It may have been killed itself, after its last trial."""
    done, (killed, _) = write_study("done"), long_trial
    assert deadzone("sweep", done).code == 0
    assert traces(killed.pid)
    kill(killed)
    said = deadzone("sweep", done, "--resume", "done/latest", code=0)
    assert traces(killed.pid) == [], said.err


def test_a_sweep_that_runs_at_the_same_time_is_never_touched(
    long_trial, traces, alive, deadzone, write_study, sweep
):
    other, program = long_trial
    before = traces(other.pid)
    sweep(write_study("next"))
    said = deadzone("restore", code=0)
    assert not [path for path in before if str(path) in said.out]
    assert traces(other.pid) == before
    assert alive(program)


def test_only_names_that_deadzone_gives_are_touched(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pid, began, namespace = group_name().removeprefix("deadzone-").split("-")
    ticks = int(began) - 1  # the process that had the number before has ended
    dead_name = f"deadzone-{pid}-{ticks}-{namespace}"
    of_a_living_process = f"{group_name()}-scratch1"
    of_a_container = f"deadzone-{pid}-{ticks}-{int(namespace) + 1}-scratch1"
    names = ["deadzone-notes", f"my-{dead_name}", f"{dead_name} copy", f"deadzone-{pid}"]
    names += [of_a_living_process, of_a_container]
    left, *others = (tmp_path / name for name in (f"{dead_name}-scratch1", *names))
    for folder in (left, *others):
        folder.mkdir()
    assert left in find_leftovers()
    assert left in remove_leftovers()
    assert not left.exists()
    assert all(folder.exists() for folder in others)


@pytest.mark.alone("a sweep that another test kills is left over")
def test_nothing_left_over_is_said_so(deadzone):
    deadzone("restore")
    assert deadzone("restore").out == "Nothing was left over.\n"
