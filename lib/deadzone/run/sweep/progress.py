"""How a sweep tells how far it is: one line that moves on a terminal, plain lines now and then
elsewhere."""

import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from deadzone.language.formats import duration
from deadzone.visible import visible

PROGRESS_VARIABLE = "DEADZONE_PROGRESS"
"""Set for a kernel, which has no terminal: the terminal that shows its progress, or `lines`."""

LINES = "lines"

PLAIN_LINE_EVERY_S = 15.0
"""Where lines pile up (logs, notebooks), one every so often is enough [s]."""


class Progress:
    """Told of every trial before it starts, and of the end; says nothing."""

    _most = ""
    ask: Callable[[str], bool] | None = None
    """Puts a question to the user, where there is one."""

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """done trials of total are finished, `current` is the treatment under way, left_s the time
        left [s]."""

    def choose(self) -> None:
        """Trials are chosen as the sweep goes on: their number and the time left are the most that
        there may be."""
        self._most = "at most "

    def note(self, sentence: str) -> None:
        """Something a person should read meanwhile."""

    def agrees(self, question: str) -> bool:
        """Whether the user agrees; true where there is no user to ask."""
        self.clear()
        return self.ask is None or self.ask(question)

    def clear(self) -> None:
        """Leave the line to what is written next."""

    def close(self, sentence: str) -> None:
        """The sweep is over, which one more sentence says, if there is one."""
        if sentence:
            self.note(sentence)

    def _count(self, done: int, total: int) -> str:
        return f"trial {min(done + 1, total)} of {self._most}{total}"

    def _state(self, current: str, left_s: float | None) -> str:
        left = "" if left_s is None else f", {self._most or 'about '}{duration(left_s)} left"
        return f"{visible(current)}{left}"


class BarProgress(Progress):
    """tqdm's bar in text, on a terminal or in the output of a cell that a user watches."""

    def __init__(self, stream: TextIO) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=1, file=stream, bar_format="{desc}", leave=False, dynamic_ncols=True)

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Redraw the bar."""
        state = self._state(current, left_s).replace("{", "{{").replace("}", "}}")
        self._bar.bar_format = f"{self._count(done, total)} |{{bar:24}}| {state}"
        self._bar.total, self._bar.n = total, done
        self._bar.refresh()

    def note(self, sentence: str) -> None:
        """Print lines beside the bar, broken between words to the width of the terminal."""
        text = visible(sentence)
        with contextlib.suppress(OSError, ValueError):  # no terminal, whose lines it would fit
            columns = os.get_terminal_size(self._bar.fp.fileno()).columns
            text = textwrap.fill(text, columns, break_long_words=False, break_on_hyphens=False)
        self._bar.write(text, file=self._bar.fp)

    def clear(self) -> None:
        """Take the bar away until it is drawn again."""
        self._bar.clear()

    def close(self, sentence: str) -> None:
        """Remove the bar and leave one line."""
        self._bar.close()
        super().close(sentence)


class LineProgress(Progress):
    """Plain lines, for logs and for notebooks that no user watches."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Print a line if the last one is old enough."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_LINE_EVERY_S
            self.note(f"{self._count(done, total)}: {self._state(current, left_s)}")

    def note(self, sentence: str) -> None:
        """Print a line."""
        print(visible(sentence), file=self._stream, flush=True)


def progress_on(stream: TextIO | None = None) -> Progress:
    """A bar where the stream is a terminal that can draw one, or in a notebook, else plain
    lines."""
    shown = os.environ.get(PROGRESS_VARIABLE)
    if shown is None and stream is None and in_notebook():
        return BarProgress(sys.stdout)
    stream = stream or sys.stderr
    if shown is None:
        shown = shown_on(stream)
    elif shown != LINES:
        try:
            stream = Path(shown).open("w", encoding="utf-8")  # noqa: SIM115
        except OSError:  # the terminal is another user's
            shown = LINES
    return LineProgress(stream) if shown == LINES else BarProgress(stream)


def shown_on(stream: TextIO) -> str:
    """The terminal of a stream, where it can draw a bar; else `lines`."""
    can_draw = stream.isatty() and os.environ.get("TERM") != "dumb"
    with contextlib.suppress(OSError):  # the terminal is of another container
        return os.ttyname(stream.fileno()) if can_draw else LINES
    return LINES


def in_notebook() -> bool:
    """Whether a kernel of Jupyter executes this."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
