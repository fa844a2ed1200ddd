"""That trials of a cluster run at once is shown in tests/cluster."""

import os
import signal
import threading
import time

import pytest

from deadzone.run.sweep.parallel import in_parallel


def test_every_trial_is_measured_once_and_started_in_order() -> None:
    begun: list[int] = []
    barrier = threading.Barrier(3, timeout=20)

    def measure(worker: str, trial: int) -> None:
        begun.append(trial)
        if trial < 3:
            barrier.wait()  # passes only if three are measured at once

    released = []
    in_parallel(range(9), ("a", "b", "c"), measure, 0.0, lambda: None, released.append)
    assert sorted(released) == ["a", "b", "c"]
    assert sorted(begun) == list(range(9))
    assert sorted(begun[:3]) == [0, 1, 2]


def test_the_first_error_stops_all_and_is_raised() -> None:
    stop = threading.Event()
    all_busy = threading.Barrier(3, timeout=20)
    ended: list[int] = []

    def measure(worker: int, trial: int) -> None:
        all_busy.wait()
        if trial == 1:
            raise ValueError("trial 1 went wrong")
        assert stop.wait(20)
        ended.append(trial)

    with pytest.raises(ValueError, match="trial 1"):
        in_parallel(range(50), (1, 2, 3), measure, 0.0, stop.set, lambda worker: None)
    assert sorted(ended) == [0, 2]


def test_an_interrupt_ends_all_workers_before_it_goes_on() -> None:
    stop = threading.Event()
    running = threading.Semaphore(0)
    threading.Thread(
        target=lambda: (running.acquire(), time.sleep(0.1), os.kill(os.getpid(), signal.SIGINT)),
        daemon=True,
    ).start()

    def measure(worker: int, trial: int) -> None:
        running.release()
        assert stop.wait(20)

    with pytest.raises(KeyboardInterrupt):
        in_parallel(range(5), (1, 2), measure, 0.0, stop.set, lambda worker: None)
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("deadzone-trial")]


def test_a_worker_that_is_done_gives_up_its_place_to_one_that_waits_for_it():
    place = threading.Lock()
    holds = set()

    def measure(worker, trial):
        if worker not in holds:
            assert place.acquire(timeout=10)
            holds.add(worker)

    def release(worker):
        if worker in holds:
            holds.remove(worker)
            place.release()

    in_parallel(range(2), (1, 2), measure, 0.0, lambda: None, release)
    assert not place.locked()


def test_a_worker_that_rests_before_its_next_trial_is_not_waited_for() -> None:
    began = time.monotonic()
    measured: list[int] = []

    def measure(worker: int, trial: int) -> None:
        measured.append(trial)
        if trial == 1:
            time.sleep(0.2)  # the other worker rests by now
            raise ValueError("trial 1 went wrong")

    with pytest.raises(ValueError, match="trial 1"):
        in_parallel(range(50), (1, 2), measure, 60.0, lambda: None, lambda worker: None)
    assert time.monotonic() - began < 30
    assert measured == [0, 1]


def test_nobody_rests_after_the_last_trial() -> None:
    began = time.monotonic()
    both_busy = threading.Barrier(2, timeout=20)
    nothing = (lambda: None, lambda worker: None)
    in_parallel(range(2), (1, 2), lambda worker, trial: both_busy.wait(), 60.0, *nothing)
    assert time.monotonic() - began < 30
