"""How long a service waited for the disk: the state of its threads, looked at every few milliseconds.

A control group of version 2 counts this by itself (pressure stall information); version 1 does not, and the kernel's
counter of a process's waits is usually switched off. The machine's own pressure counter would hold the waits of all its
other programs too.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable

from deadzone.measuring.targets.schedstat import threads_of, waits_for

INTERVAL_S = 0.01
"""Between two looks; waits as short as a flush of a journal are caught in proportion to the time they take."""

LISTING_S = 0.05
"""Between two readings of which processes there are: a program that a request starts is seen within 50 ms."""

LISTING_SHARE = 0.05
"""Of the time, at most, that is spent on reading which there are, where that is slow."""

PRIORITY = -10
"""Niceness of the looking thread where it is permitted: on a busy machine it would else look only when others wait."""


class DiskWaits:
    """Adds up the time in which some thread of the processes waited for the disk, from start to stop."""

    def __init__(self, processes: Callable[[], Iterable[int]]) -> None:
        """processes: those of the service, now."""
        self._processes = processes
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._waited_s = 0.0
        self._looks = 0

    @property
    def waited_s(self) -> float | None:
        """Time waited between the last start and stop [s]; None where there was no process to look at."""
        return self._waited_s if self._looks else None

    def start(self) -> None:
        """Begin anew."""
        self.stop()
        self._waited_s, self._looks = 0.0, 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(self._stopped,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no longer."""
        self._stopped.set()
        if self._thread:
            self._thread.join()
            self._thread = None

    def _watch(self, stopped: threading.Event) -> None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PRIORITY)
        pids: tuple[int, ...] = ()
        last = listed = time.monotonic()
        while not stopped.wait(INTERVAL_S):
            if (began := time.monotonic()) >= listed:
                pids = tuple(self._processes())
                if not pids and self._looks:
                    return  # the service has ended
                spent = time.monotonic() - began
                listed = began + max(LISTING_S, spent / LISTING_SHARE)
            waits = any(
                waits_for(pid, thread) in ("disk", "page") for pid in pids for thread in threads_of(pid)
            )
            now = time.monotonic()
            self._waited_s += now - last if waits else 0.0
            self._looks += bool(pids)
            last = now
