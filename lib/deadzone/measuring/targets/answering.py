"""A small process of Deadzone's own beside what is measured: each request goes to it as a line, each answer is a line of JSON."""

import contextlib
import json
import os
import select
from collections.abc import Sequence
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any

from deadzone.errors import TargetError

ANSWER_TIMEOUT_S = 30.0
"""Such a process answers in some 20 ms; on an emulated or starved machine it may take seconds [s]."""

ENDING_TIMEOUT_S = 5.0
"""One whose standard input was closed ends within milliseconds [s]."""


class Answering:
    """A process that answers until its standard input is closed."""

    def __init__(self, argv: Sequence[str], silent: str, ended: str, wordless: str = "") -> None:
        """silent, ended: who does not answer, and who has ended, said to people. wordless: why it ended where it does not say
        itself; by default its exit code."""
        self._silent, self._ended, self._wordless = silent, ended, wordless
        self._process = Popen(argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._in, self._out, self._err = self._process.stdin, self._process.stdout, self._process.stderr
        self._buffer = b""
        self.pid = self._process.pid

    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def ask(self, request: str) -> dict[str, Any]:
        """The answer to a request. Raises TargetError where it has ended, or does not answer."""
        try:
            os.write(self._in.fileno(), request.encode() + b"\n")
        except BrokenPipeError as error:
            raise self._gone() from error
        return self.hear()

    def hear(self) -> dict[str, Any]:
        """What it says next. Raises TargetError where it has ended, or says nothing."""
        poll = select.poll()
        poll.register(self._out, select.POLLIN | select.POLLHUP)
        while b"\n" not in self._buffer:
            if not poll.poll(ANSWER_TIMEOUT_S * 1000):
                raise TargetError(f"{self._silent} did not answer within {ANSWER_TIMEOUT_S:g} s.")
            piece = os.read(self._out.fileno(), 65536)
            if not piece:
                raise self._gone()
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def _gone(self) -> TargetError:
        return TargetError(f"{self._ended}: {self.last_words()}")

    def last_words(self) -> str:
        """The last line of what it said of its failure, else how it ended."""
        os.set_blocking(self._err.fileno(), False)
        said = (self._err.read() or b"").decode(errors="replace").strip().splitlines()
        return said[-1] if said else self._wordless or f"exit code {self._process.poll()}"

    def close(self) -> None:
        """Let it end, or kill it."""
        for pipe in (self._in, self._out, self._err):
            with contextlib.suppress(OSError):
                pipe.close()
        try:
            self._process.wait(timeout=ENDING_TIMEOUT_S)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()
