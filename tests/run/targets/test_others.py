import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from waiting import wait_for

from deadzone.run.targets.interference import OtherProcesses, ProcessCpu

BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"


@pytest.fixture
def stranger(tmp_path):
    """Start a program that is no descendant of this process, by a name; it ends with the test."""
    program = tmp_path / f"stranger{os.getpid() % 1000}"
    program.symlink_to(sys.executable)
    started = []

    def begin(source):
        line = ["sh", "-c", '"$0" -c "$1" >/dev/null 2>&1 & echo $!', str(program), source]
        started.append(int(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout))
        return program.name[:15]

    yield begin
    for pid in started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def burnt(stranger, tmp_path, cpu_s):
    """The name of a stranger that has used so much CPU [s], whenever it did, and sleeps now."""
    done = tmp_path / "done"
    name = stranger(f"{BURN.format(cpu_s)}\nopen({str(done)!r}, 'w').close()\ntime.sleep(60)")
    wait_for(done.exists, "it has not used as much")
    return name


def used(looks, name):
    return dict(looks).get(name, 0.0)


@pytest.mark.alone("it measures the CPU that another program uses")
def test_a_program_that_works_is_named_with_its_cores(stranger, tmp_path):
    others = OtherProcesses()
    assert others.look() == ()
    began = time.monotonic()
    name = burnt(stranger, tmp_path, 0.4)
    looks = others.look()
    assert used(looks, name) * (time.monotonic() - began) == pytest.approx(0.4, rel=0.4)
    assert [cores for _, cores in looks] == sorted((cores for _, cores in looks), reverse=True)


@pytest.mark.alone("it measures the CPU that another program uses")
def test_processes_that_live_for_a_moment_count_for_what_started_them(stranger):
    others = OtherProcesses()
    source = (
        "import subprocess, sys, time\ntime.sleep(.3)\nfor _ in range(3): "
        "subprocess.run([sys.executable, '-c', {!r}])\ntime.sleep(30)"
    )
    name = stranger(source.format(BURN.format(0.1)))
    time.sleep(0.2)
    others.look()
    time.sleep(1.5)
    assert used(others.look(), name) > 0.1


def test_a_program_with_the_number_of_the_kernels_parent_is_named(monkeypatch):
    """In a container, process 2 is any program."""
    looks = [
        {(2, 5): ProcessCpu(1, "server", 1.0), (os.getpid(), 6): ProcessCpu(1, "harness", 1.0)},
        {(2, 5): ProcessCpu(1, "server", 9.0), (os.getpid(), 6): ProcessCpu(1, "harness", 9.0)},
    ]
    monkeypatch.setattr("deadzone.run.targets.interference._all", lambda: looks.pop(0))
    others = OtherProcesses()
    others.look()
    assert [name for name, _ in others.look()] == ["server"]


def test_what_the_harness_started_is_no_other(tmp_path):
    own = tmp_path / "ours"
    own.symlink_to(sys.executable)
    others = OtherProcesses()
    others.look()
    works = f"{BURN.format(0.2)}\nprint(flush=True)\ntime.sleep(60)"
    with subprocess.Popen([own, "-c", works], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        looks = dict(others.look())
        process.kill()
    assert "ours" not in looks


@pytest.mark.alone("it measures the CPU that another program uses")
def test_trials_too_short_for_a_look_each_are_named_by_the_last_look(stranger, monkeypatch):
    others = OtherProcesses()
    monkeypatch.setattr(
        "deadzone.run.targets.interference.LOOKING_SHARE", 1e-6
    )  # the next look is due in OLDEST_S
    name = stranger(BURN.format(20))
    others.begin()
    time.sleep(0.2)
    assert used(others.at_end(), name) > 0.1
    others.begin()
    assert used(others.at_end(), name) > 0.1


@pytest.mark.alone("it measures the CPU that another program uses")
def test_who_works_between_trials_alone_is_not_named_beside_the_next_one(stranger, tmp_path):
    others = OtherProcesses()
    others.look()
    name = burnt(stranger, tmp_path, 0.3)
    assert used(others.between(), name) > 0.1
    assert used(others.at_end(), name) == 0.0
