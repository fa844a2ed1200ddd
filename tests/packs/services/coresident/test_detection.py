import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from disturbance import NO_DOUBTS
from notes import Notes
from servers import redis_client
from waiting import wait_for

from deadzone.measurement import NO_INTERFERENCE, Measurement
from deadzone.run.targets.processes import names_of
from deadzone.study.spec import TrustSpec
from deadzone_services.coresident.detection import LOOKS, CoresidentDetection


class Asked(Notes):
    """Progress that remembers, and answers as it is told."""

    def __init__(self, answer=True):
        super().__init__()
        self.asked, self._answer = [], answer

    def agrees(self, question):
        self.asked.append(question)
        return self._answer


class Seen:
    """What was seen beside trials and between them; what belongs is collected."""

    def __init__(self, between, at_work=None):
        self._between, self.added = between, []
        self._at_work = (os.getpid(),) if at_work is None else at_work
        self.coresident_processes = self.target = self

    def others_between_trials(self, seconds):
        return self._between

    def at_work(self, name):
        return self._at_work

    def add(self, spec):
        self.added.append(spec)


def attempt(**processes):
    named = tuple(sorted(processes.items(), key=lambda one: -one[1]))
    seen = replace(NO_INTERFERENCE, foreign_cpu=sum(processes.values()), processes=named)
    return Measurement("2026-01-01T00:00:00", 1.0, 0, "ok", interference=seen)


def judged(between, *attempts, answer=True):
    seen, notes = Seen(between), Asked(answer)
    recognising = CoresidentDetection(seen, notes, TrustSpec().max_foreign_cpu)
    return [recognising.see(one) for one in attempts], seen, notes


def test_what_works_in_each_trial_and_rests_between_belongs_to_them():
    results, _, notes = judged({}, *[attempt(mydb=1.4)] * LOOKS)
    assert [found for _, found in results[:-1]] == [[]] * (LOOKS - 1)
    assert results[-1][1] == [{"name": "mydb", "process": "mydb"}]
    assert results[-1][0].interference.foreign_cpu == pytest.approx(0)
    assert "mydb used 1.40 cores in each of 5 trials" in notes.told[0]
    assert "belongs: [{name: mydb, process: mydb}]" in notes.told[0]


def test_commands_that_others_run_one_after_the_other_are_no_server():
    begun = []
    seen = Seen({}, begun)
    recognising = CoresidentDetection(seen, Asked(), TrustSpec().max_foreign_cpu)
    time.sleep(0.02)
    with subprocess.Popen(["sleep", "60"]) as command:
        begun.append(command.pid)
        results = [recognising.see(one) for one in [attempt(git=0.4)] * LOOKS]
        command.kill()
    assert results[-1][1] == [] and seen.added == []


@pytest.mark.parametrize("between", [{"mydb": 1.4}, {"mydb": 0.5}])
def test_what_works_between_the_trials_too_stays_a_disturbance(between):
    results, seen, notes = judged(between, *[attempt(mydb=1.4)] * (LOOKS + 2))
    assert not seen.added and not notes.told
    assert results[-1][0].interference.foreign_cpu == 1.4


def test_a_server_that_clears_up_in_one_look_is_recognised_all_the_same():
    seen = Seen({"mydb": 0.9})
    recognising = CoresidentDetection(seen, Asked(), TrustSpec().max_foreign_cpu)
    for _ in range(LOOKS + 1):
        recognising.see(attempt(mydb=1.4))
        seen._between = {}
    assert [one.process for one in seen.added] == ["mydb"]


def test_what_is_not_there_in_each_trial_stays_a_disturbance():
    trials = [attempt(mydb=1.4), attempt(backup=1.0), *[attempt(mydb=1.4)] * LOOKS]
    assert not judged({}, *trials)[1].added


def test_nobody_is_counted_whom_the_user_does_not_accept():
    results, seen, notes = judged({}, *[attempt(mydb=1.4)] * LOOKS, answer=False)
    assert notes.asked and not seen.added
    assert results[-1][0].interference.foreign_cpu == 1.4


@contextlib.contextmanager
def program_that_listens():
    """A process that listens on a port of its own; it and the port."""
    source = "import socket, time; s = socket.create_server(('127.0.0.1', 0))\n"
    source += "print(s.getsockname()[1], flush=True); time.sleep(60)"
    line = [sys.executable, "-c", source]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.parametrize("busy", [0, 1])
def test_of_two_programs_of_a_name_the_one_that_worked_for_the_trials_is_taken(busy):
    with program_that_listens() as first, program_that_listens() as second:
        (process, port) = (first, second)[busy]
        name = names_of(process.pid)[0]
        seen = Seen({}, (process.pid,))
        detection = CoresidentDetection(seen, Asked(), TrustSpec().max_foreign_cpu)
        for _ in range(LOOKS):
            detection.see(attempt(**{name: 1.4}))
    assert [spec.port for spec in seen.added] == [port]


TRUST = {**NO_DOUBTS, "max_foreign_cpu": 0.15, "max_attempts": 3}


@pytest.mark.alone("it measures the CPU that others use beside a trial")
def test_a_redis_that_is_up_is_recognised_and_no_trial_is_repeated_for_it(
    redis, write_study, sweep
):
    client, factors = redis_client(redis.port, 30_000, "-P", "{depth}"), {"depth": [1, 2, 3]}
    design = {"warmup": 2, "replicates": 1}
    run = sweep(write_study(argv=client, factors=factors, design=design, trust=TRUST))
    found = [one for record in run.records() for one in record.get("recognised", ())]
    assert {"name": "redis_server", "port": redis.port} in found
    trials = run.trials()
    assert (trials["redis_server_cpu_s"].dropna() > 0.02).all()
    warm = trials[trials["warmup"]]
    assert warm["attempt"].max() == 1 or not warm["foreign_processes"].str.startswith("redis").all()


@pytest.mark.alone("it measures the CPU that others use beside a trial")
def test_a_neighbour_that_works_all_the_time_is_named_and_not_recognised(
    write_study, sweep, tmp_path
):
    note = tmp_path / "pid"
    forever = f"echo $$ >{note}; while :; do :; done"
    subprocess.run(["setsid", "--fork", "timeout", "12", "sh", "-c", forever], check=True)
    pid = wait_for(lambda: note.read_text().strip(), "it has not begun")
    trust, factors = {**TRUST, "max_attempts": 1}, {"n": [1, 2, 3]}
    run = sweep(write_study(argv=["sleep", "0.3{n}"], factors=factors, replicates=2, trust=trust))
    os.kill(int(pid), signal.SIGKILL)
    assert not any("recognised" in record for record in run.records())
    told = run.trials()["distrust_reason"].dropna()
    assert told.str.contains(r"other processes used .* cores .*: .*sh ").any()
