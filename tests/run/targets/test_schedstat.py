import os
import platform
import subprocess
import sys
import time

import pytest

from deadzone.run.targets import schedstat
from deadzone.run.targets.schedstat import living_thread, threads_of, waits_for

NO_DESCRIPTORS = {"x86_64": b"270 0x0 0x0", "aarch64": b"72 0x0 0x0"}.get(platform.machine(), b"")
"""Of pselect6."""

BUSY = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"


@pytest.fixture
def two_on_one_core():
    """Two programs that never rest, on one core: each is ready and without it half of the time."""
    core = min(os.sched_getaffinity(0))
    made = [
        subprocess.Popen(
            [sys.executable, "-S", "-c", BUSY], preexec_fn=lambda: os.sched_setaffinity(0, {core})
        )
        for _ in range(2)
    ]
    yield [one.pid for one in made]
    for one in made:
        one.kill()
        one.wait()


def scheduled(pids):
    return {thread: living_thread(pid, thread) for pid in pids for thread in threads_of(pid)}


@pytest.mark.alone("it measures how long threads wait for a core")
def test_threads_that_share_a_core_wait_for_it(two_on_one_core):
    time.sleep(0.1)
    before, began = scheduled(two_on_one_core), time.monotonic()
    time.sleep(0.5)
    after, wall_s = scheduled(two_on_one_core), time.monotonic() - began
    assert before.keys() == after.keys() == set(two_on_one_core)
    ran = sum(after[one].running_s - before[one].running_s for one in after)
    ready = sum(after[one].ready_s - before[one].ready_s for one in after)
    assert ran <= 1.02 * wall_s + 0.02
    assert ready >= 0.9 * wall_s
    assert ran + ready == pytest.approx(2 * wall_s, rel=0.1)


def test_a_process_that_is_gone_has_no_threads():
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert threads_of(ended.pid) == ()
    with pytest.raises(ValueError):
        living_thread(ended.pid, ended.pid)


@pytest.mark.parametrize(
    ("state", "call", "for_what"),
    [
        (b"D", b"17 0x3 0x7f", "disk"),  # pread64
        (b"D", b"-1 0x7ffd 0x55d0", "page"),  # in a fault, outside of any call
        (b"D", schedstat.STARTING[0] + b" 0x4111" if schedstat.STARTING else b"56", ""),
        (b"R", b"running", ""),
        (b"S", b"202 0x7f", "asleep"),  # futex
        (b"S", NO_DESCRIPTORS, "timer"),
    ],
)
def test_what_a_thread_waits_for_is_told_by_its_state_and_its_call(
    state, call, for_what, monkeypatch
):
    if not schedstat.STARTING:
        pytest.skip("the numbers of calls are not known of this processor")
    files = {"stat": b"7 (a) b) " + state + b" 1 2", "syscall": call, "wchan": b"futex_wait_queue"}
    monkeypatch.setattr(schedstat, "read_bytes", lambda path: files[path.rpartition("/")[2]])
    assert waits_for(7, 7) == for_what


SERVES = """
async def main():
    await asyncio.start_server(lambda *streams: None, "127.0.0.1", 0)
    await asyncio.to_thread(time.sleep, 30)
"""

READS_INPUT = """
async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
"""


def met_in(script):
    """What the one thread of a program waits for, after it has begun."""
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as process:
        try:
            until, met = time.monotonic() + 30, []
            while len({*met[-3:]} - {"", "disk", "page"}) != 1 or len(met) < 8:
                assert time.monotonic() < until, met
                time.sleep(0.1)  # Python starts, and looks for its files
                met.append(waits_for(process.pid, process.pid))
            return met[-1]
        finally:
            process.kill()


@pytest.mark.parametrize("program", [SERVES, READS_INPUT])
def test_an_event_loop_is_told_from_a_thread_that_sleeps(program):
    assert met_in(f"import asyncio, os, sys, time\n{program}\nasyncio.run(main())") == "loop"


@pytest.mark.parametrize(
    ("waits", "for_what"),
    [("time.sleep(30)", "timer"), ("select.select([], [], [], 30)", "timer"),
     ("select.poll().poll(30_000)", "timer"), ("select.select([0], [], [], 30)", "network"),
     ("threading.Event().wait(30)", "asleep")],
)  # fmt: skip
def test_a_thread_that_sleeps_for_a_time_is_told_from_one_that_waits_for_others(waits, for_what):
    assert met_in(f"import select, threading, time\n{waits}") == for_what
