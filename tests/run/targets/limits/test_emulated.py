import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from waiting import wait_for

from deadzone.errors import TargetError
from deadzone.measurement import Command
from deadzone.run.targets.limits.pacer import LimitPacer
from deadzone.run.targets.local import LocalTarget
from deadzone.run.workloads.ffmpeg import find_ffmpeg
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec

PYTHON = (sys.executable, "-I", "-S", "-c")

BURN = "import time\nwhile time.process_time() < {0}: pass\n"

PERIOD_S = 0.1

LIMIT = 0.1
"""Less than a busy machine leaves a program [cores]."""

PROGRAMS = {
    "one thread": (*PYTHON, BURN.format(0.12)),
    "threads that keep every core busy": (
        *PYTHON,
        "import hashlib, threading\n"
        "def work(): hashlib.pbkdf2_hmac('sha512', b'', b'', 60_000)\n"
        "threads = [threading.Thread(target=work) for _ in range(4)]\n"
        "[one.start() for one in threads]",
    ),
    "children": (*PYTHON, f"import os\nos.fork()\n{BURN.format(0.12)}"),
    "a shell with hundreds of short children": (
        "sh",
        "-c",
        "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done",
    ),
    "a descendant that nobody waits for, in a session of its own": (
        *PYTHON,
        "import os, time\nread, write = os.pipe()\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        "
        + "while time.process_time() < 0.12: pass\n"
        "    os._exit(0)\nos.close(write)\nos.read(read, 1)",
    ),
}


@pytest.fixture
def target():
    with LocalTarget(LocalTargetSpec(mechanism="emulated"), (LIMIT,)) as opened:
        opened.prepare(Treatment({"cpu_limit": LIMIT}))
        yield opened


@pytest.mark.alone("it measures CPU time under a quota")
@pytest.mark.parametrize("program", PROGRAMS)
def test_whatever_descends_from_the_program_is_held_together(program, target):
    measured = target.execute(Command(PROGRAMS[program]), 30)
    used = measured.user_s + measured.sys_s
    assert measured.status == "ok", measured.stderr
    assert used > 0.1
    assert used <= LIMIT * (measured.wall_s + PERIOD_S) * 1.1
    assert measured.nr_throttled >= 1
    assert 0 < measured.throttled_s < measured.wall_s
    assert measured.nr_periods == pytest.approx(measured.wall_s / PERIOD_S, abs=2)
    assert 0 < target.read().overhead_s < 1, "what holds it is no neighbour"


@pytest.mark.alone("it measures CPU time under a quota")
def test_the_bundled_ffmpeg_is_held(target):
    source = ("-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=3")
    argv = (find_ffmpeg("bundled"), "-v", "error", *source, "-c:v", "libx264", "-f", "null", "-")
    measured = target.execute(Command(argv), 60)
    assert measured.status == "ok", measured.stderr
    assert measured.user_s + measured.sys_s <= LIMIT * (measured.wall_s + PERIOD_S) * 1.1
    assert measured.nr_throttled > 0.5 * measured.nr_periods


def test_a_limit_of_all_cores_and_none_stop_nothing(execute):
    for limit in (os.cpu_count(), "none"):
        measured = execute(*PYTHON, BURN.format(0.15), limit=limit, mechanism="emulated")
        assert (measured.nr_throttled, measured.throttled_s) == (0, 0)


def test_a_program_that_sleeps_begins_no_period(target):
    measured = target.execute(Command(("sleep", "0.5")), 30)
    # To start it may take more than the share of one period where the machine is busy.
    assert measured.nr_periods <= 2 and measured.nr_throttled <= 1


def test_a_parent_never_sees_its_child_stop(target):
    program = (
        "import os, time\nchild = os.fork()\nseen = 0\n"
        "while time.process_time() < 0.1:\n"
        "    if child and os.waitpid(child, os.WNOHANG | os.WUNTRACED)[0]:\n"
        "        seen += time.process_time() < 0.07\n        break\n"
        "if child: print('seen', seen)"
    )
    measured = target.execute(Command((*PYTHON, program)), 30)
    assert measured.nr_throttled >= 3
    assert measured.stdout == "seen 0\n"


def test_what_stopped_itself_is_not_continued(target):
    program = (
        "import os, signal, time\nchild = os.fork()\n"
        "if not child:\n    os.kill(os.getpid(), signal.SIGSTOP)\n    os._exit(9)\n"
        "time.sleep(0.05)\nwhile time.process_time() < 0.1: pass\n"
        "print(os.waitpid(child, os.WNOHANG))"
    )
    assert target.execute(Command((*PYTHON, program)), 30).stdout == "(0, 0)\n"


def test_a_memory_limit_cannot_be_emulated():
    target = LocalTarget(LocalTargetSpec(mechanism="emulated"), (0.5,), (100_000_000,))
    with pytest.raises(TargetError, match="needs a control group"):
        target.__enter__()


FAMILY = (
    "import os, time\nread, write = os.pipe()\n"
    "if os.fork() == 0:\n    os.setsid()\n    os.fork()\n"
    "print(os.getpid(), flush=True)\nwhile True: pass"
)
"""Three processes that never end, two of them in another session."""


def printed_pids(path):
    """Their process ids, as soon as all are printed."""
    found = wait_for(
        lambda: len(lines := path.read_text().splitlines()) == 3 and lines, "they did not start"
    )
    return [int(pid) for pid in found]


def assert_gone(pids, alive):
    wait_for(lambda: not any(map(alive, pids)), f"some of {pids} live", patience_s=10)


@pytest.mark.parametrize("victim", ["pacer", "launcher"])
def test_where_the_pacer_or_the_launcher_is_killed_nothing_is_left(victim, target, alive):
    killed = []

    def kill():
        killed.extend(printed_pids(target.scratch / "stdout"))
        time.sleep(0.3)
        pid = target._mechanism._pacer.pid if victim == "pacer" else target._launcher.pid
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(TargetError, match=f"(?i){victim}"):
        target.execute(Command((*PYTHON, FAMILY)), 30)
    killer.join()
    target._close()
    assert_gone(killed, alive)


def test_a_look_after_the_launcher_has_ended_forgets_nothing(alive):
    argv = ["sh", "-c", "sleep 600 & echo $!; wait"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None
        child = int(launcher.stdout.readline())
        pacer = LimitPacer(launcher.pid)
        launcher.kill()
        launcher.wait()
    pacer.turn()
    pacer.end()
    assert_gone([child], alive)


HARNESS = """
import sys
from pathlib import Path
from deadzone.measurement import Command
from deadzone.run.targets.limits.pacer import LimitPacer
from deadzone.run.targets.local import LocalTarget
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec
with LocalTarget(LocalTargetSpec(mechanism="emulated"), (0.1,)) as target:
    target.prepare(Treatment({"cpu_limit": 0.1}))
    print(target.scratch, target._launcher.pid, target._mechanism._pacer.pid, flush=True)
    target.execute(Command((sys.executable, "-I", "-S", "-c", sys.argv[1])), 60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_where_the_harness_is_killed_nothing_is_left(number, alive):
    with subprocess.Popen(
        (sys.executable, "-c", HARNESS, FAMILY), stdout=subprocess.PIPE, text=True
    ) as harness:
        scratch, *others = harness.stdout.readline().split()
        program = printed_pids(Path(scratch) / "stdout")
        time.sleep(0.25)
        harness.send_signal(number)
    assert_gone([*program, *map(int, others)], alive)
