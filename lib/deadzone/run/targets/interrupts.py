"""Finishing without being disturbed: a second Ctrl-C must not stop a clean-up half way."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore interrupts for as long as the context lasts; outside the main thread none arrive
    anyway."""
    try:
        previous = {number: signal.signal(number, signal.SIG_IGN) for number in INTERRUPTS}
    except ValueError:
        previous = {}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
