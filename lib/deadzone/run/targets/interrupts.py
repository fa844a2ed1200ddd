"""Finishing without being disturbed: a second Ctrl-C must not stop a clean-up half way."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def undisturbed() -> AbstractContextManager[None]:
    """Ignore interrupts for as long as the context lasts; outside the main thread none arrive
    anyway."""
    return _handled(signal.SIG_IGN)


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Put the first interrupt off until the context ends; outside the main thread none arrive.

    For what may import compiled modules: an import that is broken off leaves them unusable for as
    long as the process lives, and the tables of what was measured are not written.
    """
    waiting: list[int] = []
    try:
        with _handled(lambda number, _frame: waiting.append(number)):
            yield
    finally:
        if waiting:
            signal.raise_signal(waiting[0])


@contextmanager
def _handled(handler: signal.Handlers | Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle interrupts so for as long as the context lasts."""
    try:
        previous = {number: signal.signal(number, handler) for number in INTERRUPTS}
    except ValueError:
        previous = {}
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)
