"""Several trials at once: each worker takes the next trial of the plan as it gets free; the first error stops all."""

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

Worker = TypeVar("Worker")
Trial = TypeVar("Trial")

LOOK_EVERY_S = 0.2
"""How soon the main thread, which waits, answers to Ctrl-C [s]."""


def in_parallel(
    trials: Sequence[Trial],
    workers: Sequence[Worker],
    measure: Callable[[Worker, Trial], None],
    cooldown_s: float,
    stop: Callable[[], None],
    release: Callable[[Worker], None],
) -> None:
    """Measure every trial by one of the workers, in order, as many at once as there are workers.

    cooldown_s: how long a worker rests before its next trial, unless all are stopped. release: called with a worker for which no trial is left, while others may still measure and want its place. stop:
    makes whatever the workers wait for end soon; called once, at the first error or Ctrl-C. All workers have
    ended when this returns or raises.

    Raises the first error that any of them raised.
    """
    waiting: queue.SimpleQueue[Trial] = queue.SimpleQueue()
    for trial in trials:
        waiting.put(trial)
    errors: list[BaseException] = []
    stopped = threading.Event()

    # Not joined while they work: a join that Ctrl-C interrupts takes a thread that works on for one that has ended
    # (CPython up to 3.12).
    ended: list[Worker] = []
    woken = threading.Semaphore(0)

    def work(worker: Worker) -> None:
        while not stopped.is_set():
            try:
                trial = waiting.get_nowait()
            except queue.Empty:
                trial = None
            try:
                if trial is None:
                    release(worker)
                    break
                measure(worker, trial)
                if not waiting.empty():
                    stopped.wait(cooldown_s)
            # Whatever it is, it must reach the main thread, which raises it.
            except BaseException as error:
                errors.append(error)
                stopped.set()
                woken.release()
        ended.append(worker)
        woken.release()

    threads = [
        threading.Thread(target=work, args=(worker,), name=f"deadzone-trial-{i}", daemon=True)
        for i, worker in enumerate(workers, start=1)
    ]
    for thread in threads:
        thread.start()
    told = False
    try:
        while len(ended) < len(threads):
            if stopped.is_set() and not told:
                told = True
                stop()
            woken.acquire(timeout=LOOK_EVERY_S)
    except BaseException:
        stopped.set()
        if not told:
            stop()
        while len(ended) < len(threads):
            woken.acquire(timeout=LOOK_EVERY_S)
        raise
    finally:
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
