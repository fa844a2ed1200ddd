"""The harness's side of the launcher: start it in a group, have it run programs, wait for them or watch them serve."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadzone.errors import TargetError
from deadzone.measurement import Command
from deadzone.measuring.targets import launcher
from deadzone.measuring.targets.ending import Exit
from deadzone.measuring.targets.limits.base import LimitMechanism, kill_all

START_TIMEOUT_S = 30.0
"""The launcher answers in some 20 ms; on an emulated or starved machine it may take seconds [s]."""

CLOSED = -1
"""In place of a descriptor that was given back."""

LAST_OUTPUT_BYTES = 1_000_000
"""How much of the end of a program's output is kept for extraction and messages [bytes]."""


@dataclass
class Program:
    """A program under a launcher that runs until it is stopped."""

    launcher: Launcher
    pid: int
    watch: int
    started_s: float
    ended: Exit | None = None

    def runs(self) -> bool:
        """Whether it has not ended by itself."""
        return self.ended is None and self.watch != CLOSED and not select.select([self.watch], [], [], 0)[0]

    def stop(self, timeout_s: float) -> Exit:
        """End it and all its descendants; how it ended. Asked again, it says the same.

        Raises TargetError if its launcher has ended, and with it the account of the program.
        """
        if self.ended is None:
            if self.watch == CLOSED:
                raise TargetError(
                    "The launcher of the service has ended, so how the service ended is not known."
                )
            self.ended = self.launcher.stop(self, timeout_s)
        return self.ended


class Launcher:
    """A launcher process inside a limit mechanism; a context manager that leaves nothing running."""

    def __init__(self, mechanism: LimitMechanism, scratch: Path) -> None:
        self._mechanism = mechanism
        self._scratch = scratch
        self._process: subprocess.Popen[bytes] | None = None
        self._gate = -1
        self._pid = 0
        self._buffer = b""

    @property
    def pid(self) -> int:
        """Process id of the launcher."""
        return self._pid

    def open(self) -> None:
        """Start the launcher and put it into the group.

        Raises TargetError if it does not start or may not enter.
        """
        gate = self._scratch / "go"
        os.mkfifo(gate)
        self._gate = os.open(gate, os.O_RDWR | os.O_CLOEXEC)
        argv = self._mechanism.wrap((sys.executable, "-I", "-S", launcher.__file__, str(gate)))
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._pid = self._process.pid
        if self._process.poll() is not None:
            raise TargetError(f"The launcher ended at once: {self._last_words()}")
        try:
            self._mechanism.adopt(self._pid)
        except TargetError as error:
            if self._process.poll() is None:
                raise
            raise TargetError(f"{error}: {self._last_words()}") from error

    def run(
        self,
        command: Command,
        timeout_s: float,
        tick_s: float,
        on_start: Callable[[], None],
        on_tick: Callable[[float], None],
    ) -> Exit:
        """Run a program to its end, or to the time-out, which kills it with all its descendants.

        on_start is called when the program waits at its first instruction, on_tick(t_s) every tick_s while it runs.
        """
        pid, watch = self._ready(command, self._scratch / "stdout", self._scratch / "stderr")
        try:
            on_start()
            started = time.monotonic()
            os.write(self._gate, b"g")
            timed_out = not self._wait(watch, started, timeout_s, tick_s, on_tick)
            if timed_out:
                self._kill_tree(pid)
                self._wait(watch, time.monotonic(), START_TIMEOUT_S, START_TIMEOUT_S, on_tick)
            ended = time.monotonic()
        except BaseException:
            self._kill_tree(pid)
            raise
        finally:
            os.close(watch)
        return self._exit(started, ended, timed_out)

    def start(self, command: Command, log: Path) -> Program:
        """Start a program that goes on until it is stopped; what it prints goes to the log. One at a time."""
        pid, watch = self._ready(command, log, log)
        os.write(self._gate, b"g")
        return Program(self, pid, watch, time.monotonic())

    def stop(self, program: Program, timeout_s: float) -> Exit:
        """Ask a started program to end, and kill it with all its descendants if it does not within the time-out."""
        timed_out = False
        try:
            if not self._wait(program.watch, time.monotonic(), 0.0, 1.0, _nothing):
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(program.watch, signal.SIGTERM)
                timed_out = not self._wait(
                    program.watch, time.monotonic(), timeout_s, timeout_s + 1, _nothing
                )
            self._kill_tree(program.pid)
            self._wait(program.watch, time.monotonic(), START_TIMEOUT_S, START_TIMEOUT_S, _nothing)
        except BaseException:
            self._kill_tree(program.pid)
            raise
        finally:
            os.close(program.watch)
            program.watch = CLOSED  # its number may soon be another file's
        return self._exit(program.started_s, time.monotonic(), timed_out)

    def _ready(self, command: Command, out: Path, err: Path) -> tuple[int, int]:
        """Have a program wait at its first instruction; its process id, and a descriptor that tells of its end."""
        request = {
            "argv": list(command.argv),
            "env": dict(command.env),
            "cwd": str(command.cwd) if command.cwd else None,
            "stdout": str(out),
            "stderr": str(err),
        }
        self._send(request)
        pid = int(self._receive()["pid"])
        return pid, os.pidfd_open(pid)

    def _exit(self, started_s: float, ended_s: float, timed_out: bool) -> Exit:
        result = self._receive()
        return Exit(
            started_s=started_s,
            ended_s=ended_s,
            exit_code=os.waitstatus_to_exitcode(result.pop("status")),
            timed_out=timed_out,
            exec_error=os.strerror(failed) if (failed := result.pop("exec_error")) else None,
            **result,
        )

    def output(self, stream: str) -> str:
        """The end of what the last program printed on stdout or stderr."""
        with contextlib.suppress(OSError), open(f"{self._scratch}/{stream}", "rb", buffering=0) as handle:  # noqa: PTH123
            handle.seek(max(0, os.fstat(handle.fileno()).st_size - LAST_OUTPUT_BYTES))
            return handle.read().decode("utf-8", errors="replace")
        return ""

    def close(self) -> None:
        """End the launcher and whatever still runs in its group."""
        if self._process:
            kill_all(self._mechanism.procs_files(), spare=(self._pid,))
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe:
                    with contextlib.suppress(OSError):
                        pipe.close()
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._gate >= 0:
            os.close(self._gate)
            self._gate = -1

    def _wait(
        self, watch: int, since: float, timeout_s: float, tick_s: float, on_tick: Callable[[float], None]
    ) -> bool:
        """Wait for the program's end; False on time-out."""
        poll = select.poll()
        poll.register(watch, select.POLLIN)
        ticks = 1
        while True:
            due = since + min(ticks * tick_s, timeout_s)
            if poll.poll(max(0.0, (due - time.monotonic()) * 1000)):
                return True
            elapsed = time.monotonic() - since
            if elapsed >= timeout_s:
                return False
            if elapsed >= ticks * tick_s:
                on_tick(elapsed)
                ticks = int(elapsed / tick_s) + 1

    def _kill_tree(self, pid: int) -> None:
        """Kill the program's session and what is in the group; what is left the launcher finds as it reaps."""
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        kill_all(self._mechanism.procs_files(), spare=(self._pid,))

    def _send(self, request: dict[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            os.write(self._process.stdin.fileno(), json.dumps(request).encode() + b"\n")
        except BrokenPipeError as error:
            raise TargetError(f"The launcher has ended: {self._last_words()}") from error

    def _receive(self) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        out = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(out, select.POLLIN | select.POLLHUP)
        while b"\n" not in self._buffer:
            if not poll.poll(START_TIMEOUT_S * 1000):
                raise TargetError(f"The launcher did not answer within {START_TIMEOUT_S:g} s.")
            piece = os.read(out, 65536)
            if not piece:
                raise TargetError(f"The launcher has ended: {self._last_words()}")
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def _last_words(self) -> str:
        assert self._process is not None and self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        said = (self._process.stderr.read() or b"").decode(errors="replace").strip()
        return said.splitlines()[-1] if said else f"exit code {self._process.poll()}"


def _nothing(_: float) -> None:
    """For a wait in which nothing is read."""
