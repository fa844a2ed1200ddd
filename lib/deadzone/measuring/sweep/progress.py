"""How a sweep tells how far it is: one line that moves on a terminal, plain lines now and then elsewhere."""

import os
import sys
import time
from typing import TextIO

from deadzone.measuring.sweep.estimate import in_words

PROGRESS_VARIABLE = "DEADZONE_PROGRESS"
"""Set to `silent` by whoever starts a sweep and watches its journal."""

PLAIN_LINE_EVERY_S = 15.0
"""Where lines pile up (logs, notebooks), one every so often is enough [s]."""


class Progress:
    """Told of every trial before it starts, and of the end; says nothing, for callers that watch the journal themselves."""

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """done trials of total are finished, `current` is the treatment under way, left_s the time left [s]."""

    def note(self, sentence: str) -> None:
        """Something a person should read meanwhile."""

    def agrees(self, question: str) -> bool:
        """Whether somebody who is asked agrees; so does nobody."""
        return True

    def close(self, sentence: str) -> None:
        """The sweep is over."""


class Beside(Progress):
    """A progress that leaves to another what it does not do itself."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def note(self, sentence: str) -> None:
        """Tell it."""
        self._progress.note(sentence)

    def agrees(self, question: str) -> bool:
        """Ask."""
        return self._progress.agrees(question)

    def close(self, sentence: str) -> None:
        """Tell the end."""
        self._progress.close(sentence)


class BarProgress(Progress):
    """A progress bar on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        from tqdm import tqdm

        width = "{desc} |{bar:24}| {postfix}"
        self._bar = tqdm(total=1, file=stream, bar_format=width, leave=False, dynamic_ncols=True)

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Redraw the bar."""
        self._bar.total = total
        self._bar.n = done
        self._bar.set_description_str(f"trial {min(done + 1, total)} of {total}", refresh=False)
        self._bar.set_postfix_str(_state(current, left_s))

    def note(self, sentence: str) -> None:
        """Print a line above the bar."""
        self._bar.write(sentence, file=self._bar.fp)

    def close(self, sentence: str) -> None:
        """Remove the bar and leave one line."""
        self._bar.close()
        print(sentence, file=self._bar.fp)


class LineProgress(Progress):
    """Plain lines, for logs and notebooks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Print a line if the last one is old enough."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_LINE_EVERY_S
            self.note(f"trial {min(done + 1, total)} of {total}: {_state(current, left_s)}")

    def note(self, sentence: str) -> None:
        """Print a line."""
        print(sentence, file=self._stream, flush=True)

    def close(self, sentence: str) -> None:
        """Print the last line."""
        self.note(sentence)


def progress_on(stream: TextIO | None = None) -> Progress:
    """A bar where the stream is a terminal that can draw one, else plain lines."""
    if os.environ.get(PROGRESS_VARIABLE) == "silent":
        return Progress()
    stream = stream or sys.stderr
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return BarProgress(stream)
    return LineProgress(stream)


def _state(current: str, left_s: float | None) -> str:
    return current if left_s is None else f"{current}, about {in_words(left_s)} left"
