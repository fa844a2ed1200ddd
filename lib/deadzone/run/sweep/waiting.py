"""Saying what a sweep waits for, where it has been silent for long."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SILENCE_S = 5.0
"""After so long without a word a person asks what is going on [s]."""


@contextmanager
def told_after(silence_s: float, note: Callable[[str], None], sentence: str) -> Iterator[None]:
    """Within it, a note once it has lasted so long [s]."""
    timer = threading.Timer(silence_s, note, (sentence,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
