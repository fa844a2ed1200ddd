"""CPU time of processes that ended and that nothing waited for."""

import select
import subprocess
import sys

import pytest

from deadzone.run.targets.ended_children import EndedChildren, ProcessCpu, never_waited_s, of_ended
from deadzone.run.targets.processes import below
from deadzone.run.targets.schedstat import ThreadTime

FORKS = """
import os, signal, sys, time
if sys.argv[1] == "ignores":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
sys.stdin.readline()
for _ in range(2):
    if os.fork() == 0:
        end = time.process_time() + 0.3
        while time.process_time() < end: pass
        time.sleep(0.3)
        os._exit(0)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
print("ended", flush=True)
sys.stdin.readline()
"""
"""A server with two children, each of which works for 0.3 s of CPU time and then rests."""


def at(waited_s):
    return {(10, 1): ProcessCpu(1, "server", 2.0, waited_s)}


def test_what_was_waited_for_is_in_an_account_already():
    ended = {20: ProcessCpu(10, "child", 0.5), 21: ProcessCpu(10, "child", 0.7)}
    assert never_waited_s(at(3.0), at(4.2), ended) == {}
    assert never_waited_s(at(3.0), at(3.0), ended) == {10: pytest.approx(1.2)}


def test_a_chain_of_ended_processes_counts_for_the_living_one_above_it():
    ended = {20: ProcessCpu(10, "shell", 0.1), 30: ProcessCpu(20, "worker", 2.0)}
    assert never_waited_s(at(0.0), at(0.0), ended) == {10: pytest.approx(2.1)}
    waited = {20: ProcessCpu(10, "shell", 0.1, 2.0), 30: ProcessCpu(20, "worker", 2.0)}
    assert never_waited_s(at(0.0), at(0.0), waited) == {10: pytest.approx(2.1)}


def test_a_thread_of_a_process_that_lives_is_in_its_account():
    threads = [ThreadTime(5, 5, 1, running_s=1.0), ThreadTime(6, 5, 1, running_s=2.0)]
    assert of_ended(threads, {5}) == {}
    assert of_ended(threads, set()) == {5: ProcessCpu(1, "", 3.0)}


@pytest.mark.alone("it measures CPU time of processes while it looks at them")
@pytest.mark.parametrize("hears", [True, False], ids=["told by the kernel", "looked at"])
@pytest.mark.parametrize(("waits", "missing_s"), [("ignores", 0.6), ("waits", 0.0)])
def test_children_of_a_server(hears, waits, missing_s):
    line = [sys.executable, "-c", FORKS, waits]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        children = EndedChildren()
        if hears:
            children.open()
        children.begin((server.pid,))
        server.stdin.write(b"\n")
        server.stdin.flush()
        while not select.select([server.stdout], [], [], 0.05)[0]:
            children.look()
        counted = children.end((server.pid, *below(server.pid)))
        again = children.end((server.pid, *below(server.pid)))
        children.close()
        server.kill()
    assert counted == pytest.approx(missing_s, abs=0.1)
    assert again == counted
