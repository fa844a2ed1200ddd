"""Waiting for what a test needs, and never for seconds."""

import contextlib
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_for(
    look: Callable[[], Found], what: str, patience_s: float = 30.0, pause_s: float = 0.02
) -> Found:
    """What a look finds, as soon as it finds something. A look may fail as a connection does that
    nobody answers yet."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if found := look():
                return found
        time.sleep(pause_s)
    raise AssertionError(f"after {patience_s:.0f} s {what}")
