"""A sweep that a user watches: what is known so far is looked at between its trials, and shown in
the place of the last."""

import sys
import time
from collections.abc import Callable

from deadzone.run.sweep.progress import Beside, Progress

EVERY_S = 2.0
"""A picture that changes more often is not looked at [s]."""

LEAST_APART = 20.0
"""Looking takes a twentieth of the time at most."""

UP_AND_CLEAR = "\x1b[{lines}F\x1b[0J"
"""To the first of so many lines above, and nothing from there on (ECMA-48: CPL, ED)."""

Look = Callable[[], str]
"""Shows what is known so far: a text to stand above the progress, or empty where it shows that
itself."""


class Watched(Beside):
    """A progress below what a look shows; a text is redrawn in its place as long as nothing else
    was written below it."""

    def __init__(self, progress: Progress, look: Look) -> None:
        super().__init__(progress)
        self._look, self._lines, self._next_s = look, 0, time.monotonic() + EVERY_S

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Tell how far it is, after a look where one is due."""
        began_s = time.monotonic()
        if began_s >= self._next_s:
            if text := self._look():
                self._remove()
                print(text, file=sys.stderr, flush=True)
                self._lines = text.count("\n") + 1
            now_s = time.monotonic()
            self._next_s = now_s + max(EVERY_S, LEAST_APART * (now_s - began_s))
        self._progress.show(done, total, current, left_s)

    def note(self, sentence: str) -> None:
        """Tell it; what stands above stays."""
        self._lines = 0
        self._progress.note(sentence)

    def clear(self) -> None:
        """Leave the line; what stands above stays."""
        self._lines = 0
        self._progress.clear()

    def close(self, sentence: str) -> None:
        """Take the picture away: the last one is that of the result."""
        self._remove()
        self._progress.close(sentence)

    def _remove(self) -> None:
        self._progress.clear()
        if self._lines:
            sys.stderr.write(UP_AND_CLEAR.format(lines=self._lines))
        self._lines = 0


def watched(progress: Progress, look: Look | None) -> Progress:
    """The progress with a look, where there is one; a silent progress has none."""
    return Watched(progress, look) if look and type(progress) is not Progress else progress
