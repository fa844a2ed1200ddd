"""What the kernel and the processor count of a trial, of real programs; each column, or why it is
missing."""

import errno
import os
import sys

import pytest

from deadzone.measurement import Command
from deadzone.run.targets import account
from deadzone.run.targets.account import EVENTS, PerfEvents
from deadzone.run.targets.local import LocalTarget
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec

MOVES = 50
MOVED = (
    "import os\ncores = sorted(os.sched_getaffinity(0))\n"
    f"for i in range({MOVES}):\n    os.fork() or (os.sched_setaffinity(0, {{cores[0]}}), "
    f"os.sched_setaffinity(0, {{cores[1]}}), os._exit(0))\n    os.wait()\n"
)
THREADS = (
    "import threading, time\nfor _ in range(3): threading.Thread(target=time.sleep, "
    "args=(0.5,)).start()"
)


def counted(code, spec=None):
    with LocalTarget(spec or LocalTargetSpec()) as target:
        target.prepare(Treatment({"cpu_limit": "none"}))
        measured = [
            target.execute(Command((sys.executable, "-S", "-c", one)), 30) for one in (code, "pass")
        ]
        facts = target.facts()
    assert all(one.status == "ok" for one in measured), measured[0].stderr
    return measured[0].counted, measured[1].counted, facts


def test_each_event_is_counted_of_all_that_a_program_starts_or_what_refused_it_is_said():
    of_moves, of_none, facts = counted(MOVED if len(os.sched_getaffinity(0)) > 1 else "pass")
    refused = facts["account_refused"]
    for name in EVENTS:
        assert (name in of_moves) != (name in refused), (name, of_moves, refused)
    if "migrations" in refused or len(os.sched_getaffinity(0)) < 2:
        pytest.skip(f"moves cannot be counted: {refused}")
    assert of_moves["migrations"] >= MOVES
    assert of_none["migrations"] < MOVES / 2  # counted of each trial by itself


def test_without_permission_the_reason_is_told_and_nothing_else_is_missing(monkeypatch):
    def refuses(event, pid):
        raise OSError(errno.EACCES, "perf_event_open")

    monkeypatch.setattr(account, "_opened", refuses)
    told, _, facts = counted("pass")
    assert not EVENTS.keys() & told.keys() and "major_faults" in told
    assert {facts["account_refused"][name] for name in EVENTS} == {os.strerror(errno.EACCES)}


def test_a_counter_that_had_its_turn_for_a_part_of_the_time_is_scaled_up(monkeypatch):
    readings = iter([(100, 1000, 1000), (200, 2000, 1250), (200, 3000, 1250)])
    monkeypatch.setattr(
        account.os, "read", lambda file, n: account.struct.pack("QQQ", *next(readings))
    )
    events = PerfEvents()
    events._files = {"cpu_cycles": 7}
    events.begin()
    assert events.counted() == {"cpu_cycles": 400}  # 100 in a quarter of the time
    events._before = {"cpu_cycles": (200, 2000, 1250)}
    assert events.counted() == {}  # no turn at all


def test_off_with_the_account():
    told, _, facts = counted("pass", LocalTargetSpec(account=False))
    assert not {*EVENTS, "threads_most"} & told.keys() and "account_refused" not in facts


def test_the_most_threads_that_lived_at_once_are_counted():
    told, of_none, _ = counted(THREADS)
    assert told["threads_most"] == 4  # the main one too
    assert of_none.get("threads_most", 1) == 1
