"""Pools of threads with a fixed size, and work as servers do it: some waiting, some computing.

The computing is hashing, which releases Python's global lock, so threads really share the cores;
the amount is fixed in bytes, so a slower core takes longer, as it would for any work.
"""

import hashlib
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

KIB = 1024

PIECE_BYTES = 12 * KIB
"""After each piece a thread needs the interpreter's lock again, as code does that goes to and fro
between Python and C. Small pieces make many threads stand in each other's way, as in a server whose
threads share a lock."""


@dataclass(frozen=True)
class Work:
    """What one task takes: a wait [ms], as for a database, then so much hashing [KiB]."""

    wait_ms: float
    hash_kib: int

    def do(self) -> None:
        """Wait, then compute."""
        if self.wait_ms:
            time.sleep(self.wait_ms / 1e3)
        if self.hash_kib:
            digest = hashlib.sha256()
            for begin in range(0, self.hash_kib * KIB, PIECE_BYTES):
                digest.update(DATA[begin : begin + PIECE_BYTES])


DATA = memoryview(bytes(64 * 1024 * KIB))
"""What is hashed; the kernel maps one page of zeros for all of it, so it costs no memory."""


class Pool:
    """A fixed number of threads that take tasks in their order."""

    def __init__(self, name: str, size: int) -> None:
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        for number in range(size):
            threading.Thread(target=self._serve, name=f"{name}-{number}", daemon=True).start()

    def submit(self, task: Callable[[], None]) -> None:
        """Have a task done as soon as a thread is free."""
        self._tasks.put(task)

    def _serve(self) -> None:
        while True:
            task = self._tasks.get()
            try:
                task()
            except Exception:  # a server goes on after a request that failed
                traceback.print_exc(file=sys.stderr)
