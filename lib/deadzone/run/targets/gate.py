"""A program that says itself when what is to be measured of it begins and ends.

It writes a line of JSON at each of the two moments, and goes on when it has read a byte: what it
does before the first, such as importing its libraries, and after the second is none of the trial.
Beside its clock it tells the use of itself and of its children that it waited for (getrusage(2)),
which a control group without an account of CPU time does not know.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from deadzone.run.targets.ending import Exit

SAID, GO = "said", "go-on"
"""Names of the pipes, in the scratch folder of the target."""


class Gate:
    """The harness's side of both pipes. A context manager."""

    def __init__(self, folder: Path) -> None:
        self.paths = (folder / SAID, folder / GO)
        self._said = self._go = -1

    def __enter__(self) -> Self:
        for path in self.paths:
            with contextlib.suppress(FileExistsError):
                os.mkfifo(path, 0o600)
        # Open for both, so that neither side waits for the other to open it.
        self._said, self._go = (
            os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC) for path in self.paths
        )
        return self

    def __exit__(self, *raised: object) -> None:
        for descriptor in (self._said, self._go):
            os.close(descriptor)
        for path in self.paths:
            path.unlink(missing_ok=True)

    def waits(self, watch: int, within_s: float) -> bool:
        """Wait until the program says something or ends; False if it did neither. watch: a
        descriptor that tells of its end."""
        poll = select.poll()
        for descriptor in (self._said, watch):
            poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(max(0.0, within_s) * 1000))

    def hear(self) -> dict[str, float]:
        """What the program said, a line that a pipe takes as one; empty where it said nothing."""
        with contextlib.suppress(BlockingIOError):
            message: dict[str, float] = json.loads(os.read(self._said, 65_536))
            return message
        return {}

    def let_go(self) -> None:
        """Let the program go on."""
        os.write(self._go, b"g")


def between(ready: Mapping[str, float], done: Mapping[str, float]) -> Exit:
    """What was measured between two messages of a program, as if it had ended then."""
    grown = {name: done[name] - value for name, value in ready.items()}
    wall_s, user_s, sys_s = (grown.pop(name) for name in ("clock_s", "user_s", "sys_s"))
    return Exit(
        wall_s, 0, user_s, sys_s, counted={name: int(value) for name, value in grown.items()}
    )
