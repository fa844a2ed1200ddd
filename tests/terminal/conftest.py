"""A real terminal of a size, with a program in it, and the screen as a person sees it."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest

LINES = 200
"""So tall that nothing scrolls away."""


class Screen:
    """A program in a pseudo-terminal whose output a terminal emulator (pyte) reads."""

    def __init__(
        self, argv: tuple[str, ...], folder: Path, columns: int, **environment: str
    ) -> None:
        self.columns, self.raw = columns, b""
        self._screen = pyte.Screen(columns, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (LINES, columns))
        kept = {
            name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")
        }
        self._process = subprocess.Popen(
            argv,
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**kept, "TERM": "xterm-256color", **environment},
        )
        os.close(theirs)

    def read(self, seconds: float) -> bool:
        """Read what comes within a time; False once the program has ended and all is read."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self._ours], [], [], left)[0]:
                break
            try:
                piece = os.read(self._ours, 65536)
            except OSError:  # nobody writes to the terminal any more
                return False
            self.raw += piece
            self._stream.feed(piece)
        return True

    @property
    def keyboard(self) -> int:
        """A descriptor to type at."""
        return self._ours

    def wait_for(self, words: str, seconds: float = 60) -> None:
        """Read until some words are on the screen."""
        until = time.monotonic() + seconds
        while words not in self.text():
            assert self.read(0.1) and time.monotonic() < until, f"no {words!r} in:\n{self.text()}"

    def end(self, seconds: float = 120) -> int:
        """Read to the end of the program; gives its exit code."""
        until = time.monotonic() + seconds
        while self.read(0.5):
            assert time.monotonic() < until, f"it does not end:\n{self.text()}"
        return self._process.wait(10)

    def resize(self, columns: int) -> None:
        """What a window manager does when somebody drags the window."""
        self.columns = columns
        termios.tcsetwinsize(self._ours, (LINES, columns))
        self._screen.resize(LINES, columns)
        os.killpg(self._process.pid, signal.SIGWINCH)

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.killpg(self._process.pid, signal.SIGINT)

    def lines(self) -> list[str]:
        """The lines of the screen, without what is empty at its end."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n").split("\n")

    def text(self) -> str:
        return "\n".join(self.lines())

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._ours)


@pytest.fixture
def in_terminal(tmp_path: Path) -> Iterator[Callable[..., Screen]]:
    """Start `deadzone` in a terminal of so many columns, in an empty folder."""
    screens: list[Screen] = []

    def start(
        *arguments: object, columns: int = 80, folder: Path = tmp_path, **environment: str
    ) -> Screen:
        argv = (sys.executable, "-m", "deadzone.cli.main", *map(str, arguments))
        environment = {"DEADZONE_HOME": "", "XDG_STATE_HOME": str(folder / "state"), **environment}
        screens.append(Screen(argv, folder, columns, **environment))
        return screens[-1]

    yield start
    for screen in screens:
        screen.close()
