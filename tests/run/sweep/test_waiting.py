"""What lasts long is said once, by one thread for all that is waited for."""

import threading
import time
from pathlib import Path

from deadzone.run.sweep.waiting import LOOK_S, note_after


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def test_what_lasts_is_said_once_and_what_ended_is_not():
    notes: list[str] = []
    with note_after(0.1, notes.append, "long"), note_after(60, notes.append, "longer"):
        with note_after(0.0, notes.append, "short"):
            pass
        deadline = time.monotonic() + 20
        while not notes and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(2.5 * LOOK_S)
    assert notes == ["long"]


def test_many_waits_take_one_thread_which_ends_after_them():
    before, most, notes = threads(), 0, []
    for _ in range(200):
        with note_after(60, notes.append, "never"):
            most = max(most, threads())
    assert most <= before + 1 and not notes
    deadline = time.monotonic() + 20
    while threads() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threads() <= before


def test_a_later_wait_is_watched_after_the_thread_has_ended():
    is_said = threading.Event()
    time.sleep(2.5 * LOOK_S)
    with note_after(0.1, lambda sentence: is_said.set(), "late"):
        assert is_said.wait(20)
