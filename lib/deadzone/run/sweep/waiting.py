"""Saying what a sweep waits for, where it has been silent for long."""

import _thread
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count

from deadzone.language.formats import duration

SILENCE_S = 5.0
"""After so long without a word a person asks what is going on [s]."""

LOOK_S = 0.5
"""How long between two looks at what lasts [s]."""

WHOLE_FROM_S = 10.0
"""Longer times are said in whole seconds, or in minutes [s]."""


def time_text(seconds: float) -> str:
    """A time in a note: `0.12 s`, `3.1 s`, `2 min`."""
    return f"{seconds:.2g} s" if seconds < WHOLE_FROM_S else duration(seconds)


@dataclass(frozen=True)
class _Wait:
    until_s: float
    note: Callable[[str], None]
    sentence: str


_turn = _thread.allocate_lock()
_waits: dict[int, _Wait] = {}
_numbers = count()
_is_watched = False


@contextmanager
def note_after(silence_s: float, note: Callable[[str], None], sentence: str) -> Iterator[None]:
    """Within it, a note once it has lasted so long [s]; none where no thread can be had."""
    number = next(_numbers)
    with _turn:
        _waits[number] = _Wait(time.monotonic() + silence_s, note, sentence)
    _have_watched()
    try:
        yield
    finally:
        with _turn:
            _waits.pop(number, None)


def _have_watched() -> None:
    """See to it that one thread looks at all waits; to start one for each trial costs more than all
    else here."""
    global _is_watched
    # Not `threading.Thread`: its start waits for the thread, for ever where memory ran out in it.
    with _turn, suppress(RuntimeError):
        if not _is_watched:
            _thread.start_new_thread(_watch, ())
            _is_watched = True


def _watch() -> None:
    """Say what has lasted too long, until there is nothing to wait for."""
    global _is_watched
    while True:
        time.sleep(LOOK_S)
        with _turn:
            now_s = time.monotonic()
            due = [number for number, wait in _waits.items() if wait.until_s <= now_s]
            waits = [_waits.pop(number) for number in due]
            is_over = not _waits
            _is_watched = not is_over
        for wait in waits:
            wait.note(wait.sentence)
        if is_over:
            return
