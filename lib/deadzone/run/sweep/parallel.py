"""Several trials at once: each worker takes the next trial of the plan as it gets free; the first
error stops all."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

Worker = TypeVar("Worker")
Trial = TypeVar("Trial")


def in_parallel(
    trials: Sequence[Trial],
    workers: Sequence[Worker],
    measure: Callable[[Worker, Trial], object],
    cooldown_s: float,
    stop: Callable[[], None],
    release: Callable[[Worker], None],
) -> None:
    """Measure every trial by one of the workers, in order, as many at once as there are workers.

    cooldown_s: how long a worker rests before its next trial, unless all are stopped. release:
    called with a worker for which no trial is left, while others may still measure and want its
    place. stop: makes whatever the workers wait for end soon; called once, at the first error or
    Ctrl-C. All workers have ended when this returns or raises.

    Raises the first error that any of them raised.
    """
    waiting = deque(trials)
    stopped = threading.Event()

    def work(worker: Worker) -> None:
        try:
            while not stopped.is_set():
                try:
                    trial = waiting.popleft()
                except IndexError:
                    release(worker)
                    return
                measure(worker, trial)
                if waiting:
                    stopped.wait(cooldown_s)
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(len(workers), thread_name_prefix="deadzone-trial") as pool:
        running = [pool.submit(work, worker) for worker in workers]
        try:
            for future in as_completed(running):
                future.result()
        except BaseException:
            stopped.set()
            stop()
            # Not left to the pool, which joins: a join that Ctrl-C interrupts takes a thread that
            # works on for one that
            # has ended (CPython up to 3.12).
            wait(running)
            raise
