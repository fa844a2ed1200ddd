import os
import socket
import sys
import threading
from collections import Counter

import pytest

from deadzone.measurement import Command
from deadzone.run.targets.account import ThreadAccount
from deadzone.run.targets.limits.base import Counters
from deadzone.run.targets.local import LocalTarget
from deadzone.run.targets.schedstat import EndedThreads, ThreadTime
from deadzone.store.table import ACCOUNT
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec

BUSY = (
    "import os, time\nfor _ in range(N - 1):\n    if not os.fork(): break\nend = "
    "time.monotonic() + 0.5\nwhile time.monotonic() < end: pass\n"
)
WAITING_FOR_A_LOCK = (
    "import threading\nlock = threading.Lock()\nlock.acquire()\n"
    "for _ in range(3): threading.Thread(target=lock.acquire, args=(True, 1)).start()"
)
WAITING_FOR_A_PEER = (
    "import socket\none = socket.create_connection(('127.0.0.1', "
    "PORT))\none.settimeout(None)\none.recv(1)"
)


def listens(self):
    raise PermissionError("Operation not permitted")


@pytest.fixture(params=["told as they end", "looked at"])
def source(request, monkeypatch):
    """Both sources of an account: the better one needs the owner of the machine."""
    if request.param == "looked at":
        monkeypatch.setattr(EndedThreads, "open", listens)
    else:
        try:
            listening = EndedThreads()
            listening.open()
            listening.close()
        except OSError as error:
            pytest.skip(f"taskstats: {error}")
    return request.param


def account(code, limit="none"):
    with LocalTarget(LocalTargetSpec(), levels=(limit,)) as target:
        target.prepare(Treatment({"cpu_limit": limit}))
        measured = target.execute(Command((sys.executable, "-S", "-c", code)), 30)
        facts = target.facts()
    assert measured.status == "ok", measured.stderr
    account = {name: measured.counted[name] for name in ACCOUNT if name in measured.counted}
    return account, measured, facts


@pytest.mark.alone("it measures how long threads wait for a core")
def test_more_busy_threads_than_cores_wait_for_one(source):
    n = 2 * len(os.sched_getaffinity(0))
    told, measured, facts = account(BUSY.replace("N", str(n)))
    assert told["threads_s"] == pytest.approx(sum(told[name] for name in [*ACCOUNT][1:]), abs=1e-4)
    assert told["running_s"] == pytest.approx(measured.user_s + measured.sys_s, rel=0.15)
    assert told["ready_s"] >= 0.1 * n
    idle = told["asleep_s"] + told["disk_wait_s"] + told["network_wait_s"]
    assert idle <= 0.3 * told["threads_s"]
    kernel = "taskstats" if source == "told as they end" else "schedstat"
    assert facts["account_source"].startswith(kernel)


@pytest.mark.alone("it measures how long threads are throttled")
def test_a_quota_throttles(source):
    told, measured, _ = account(BUSY.replace("N", "1"), 0.25)
    if not measured.nr_throttled:
        pytest.skip("no mechanism here counts throttling")
    assert told["throttled_wait_s"] >= 0.5 * (told["threads_s"] - told["running_s"])


@pytest.mark.alone("it measures how long threads sleep")
@pytest.mark.parametrize("source", ["told as they end"], indirect=True)
def test_threads_that_wait_for_a_lock_are_asleep(source):
    """A program that uses no CPU has nothing to look at."""
    told, _, _ = account(WAITING_FOR_A_LOCK)
    assert told["asleep_s"] >= 0.8 * told["threads_s"] >= 2.0


@pytest.mark.alone("it measures how long threads sleep")
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_that_sleep_for_a_time_wait_for_a_timer(source, threads):
    code = (
        "import threading, time\nend = time.thread_time() + 0.1\n"
        "while time.thread_time() < end: pass\n"
        f"for _ in range({threads}): threading.Thread(target=time.sleep, args=(1,)).start()"
    )
    told, _, _ = account(code)
    assert told["timer_wait_s"] == pytest.approx(threads, rel=0.25)
    assert told["network_wait_s"] == 0


@pytest.mark.alone("it measures how long a thread sleeps")
@pytest.mark.parametrize(
    ("watched", "column"),
    [("os.eventfd(0)", "timer_wait_s"), ("pair[0].fileno()", "network_wait_s")],
)
def test_a_loop_that_no_other_process_can_wake_waits_for_a_timer(watched, column):
    """As that of a program in Go, which sleeps in its loop."""
    told, _, _ = account(
        "import os, select, socket, time\nend = time.thread_time() + 0.1\n"
        "while time.thread_time() < end: pass\npair = socket.socketpair()\n"
        f"loop = select.epoll()\nloop.register({watched}, 0)\nloop.poll(1.0)"
    )
    assert told[column] == pytest.approx(1.0, rel=0.25)


LOOP_WITH_A_WORKER = """
import asyncio, time
def work():
    end = time.thread_time() + 0.5
    while time.thread_time() < end: pass
async def main():
    await asyncio.start_server(lambda *streams: None, "127.0.0.1", 0)
    await asyncio.to_thread(work)
asyncio.run(main())
"""
"""A server that nobody asks: the loop of it waits for its one worker."""


@pytest.mark.alone("it measures how long a thread waits")
def test_a_peer_that_does_not_answer_is_waited_for_outside():
    with socket.create_server(("127.0.0.1", 0)) as peer:
        peer.settimeout(20)

        def late():
            one = peer.accept()[0]
            threading.Event().wait(1.0)
            one.close()

        answering = threading.Thread(target=late)
        answering.start()
        told, _, _ = account(WAITING_FOR_A_PEER.replace("PORT", str(peer.getsockname()[1])))
        answering.join()
    if not told:
        pytest.skip("too little was seen")
    assert told["network_wait_s"] >= 0.7


@pytest.mark.alone("it measures how long a thread waits")
def test_an_event_loop_waits_for_the_threads_that_it_gave_work_to():
    told, _, _ = account(LOOP_WITH_A_WORKER)
    assert told["asleep_s"] >= 0.25
    assert told["network_wait_s"] <= 0.1


@pytest.mark.parametrize(
    ("refaulted", "memory", "disk"),
    [(200, 0.9, 0.0), (50, 0.45, 0.45), (0, 0.0, 0.9), (None, 0.05, 0.85)],
)
@pytest.mark.parametrize("looks", [9, 0])
def test_pages_that_memory_had_before_are_waited_for_as_memory_and_others_as_the_disk(
    refaulted, memory, disk, looks
):
    account = ThreadAccount()
    account._refused = "looked at"
    account._seen = {7: ThreadTime(7, 7, 1, lived_s=1.0, running_s=0.1)}
    account._waits = Counter(page=looks)
    stalls = {"memory_stall_s": 0.05 if refaulted is None else 0.0, "io_stall_s": 0.9}
    used = Counters(**stalls, major_faults=100, refaulted_pages=refaulted)
    told = account.end((7,), 1.0, 0.1, used)
    assert (told["memory_wait_s"], told["disk_wait_s"]) == pytest.approx((memory, disk))


THREADS = (
    "import threading, time\nfor _ in range(3): threading.Thread(target=time.sleep, "
    "args=(0.5,)).start()"
)


def counted(code, spec=None):
    with LocalTarget(spec or LocalTargetSpec()) as target:
        target.prepare(Treatment({"cpu_limit": "none"}))
        python = (sys.executable, "-S", "-c")
        measured = [target.execute(Command((*python, one)), 30) for one in (code, "pass")]
        facts = target.facts()
    assert all(one.status == "ok" for one in measured), measured[0].stderr
    return measured[0].counted, measured[1].counted, facts


def test_off_with_the_account():
    told, _, facts = counted("pass", LocalTargetSpec(account=False))
    assert "threads_most" not in told and "account_refused" not in facts


def test_the_most_threads_that_lived_at_once_are_counted():
    told, of_none, _ = counted(THREADS)
    assert told["threads_most"] == 4  # the main one too
    assert of_none.get("threads_most", 1) == 1
