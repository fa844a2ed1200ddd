"""Saying what a sweep waits for, where it has been silent for long."""

import _thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from deadzone.language.formats import duration

SILENCE_S = 5.0
"""After so long without a word a person asks what is going on [s]."""

WHOLE_FROM_S = 10.0
"""Longer times are said in whole seconds, or in minutes [s]."""


def time_text(seconds: float) -> str:
    """A time in a note: `0.12 s`, `3.1 s`, `2 min`."""
    return f"{seconds:.2g} s" if seconds < WHOLE_FROM_S else duration(seconds)


@contextmanager
def told_after(silence_s: float, note: Callable[[str], None], sentence: str) -> Iterator[None]:
    """Within it, a note once it has lasted so long [s]; none where no thread can be had."""
    is_over = _thread.allocate_lock()
    is_over.acquire()

    def watch() -> None:
        if not is_over.acquire(timeout=silence_s):
            note(sentence)

    # Not `threading.Thread`: its start waits for the thread, for ever where memory ran out in it.
    with suppress(RuntimeError):
        _thread.start_new_thread(watch, ())
    try:
        yield
    finally:
        is_over.release()
