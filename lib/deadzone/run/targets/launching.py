"""The harness's side of the launcher: start it in a group, have it run programs, wait for them or
watch them serve.

It is a small process beside what is measured, as the pacer is: each request goes
to such a one as a line, each answer is a line of JSON.

A program may say itself when what is to be measured of it begins and ends. It writes a line of JSON
at each of the two moments, and goes on when it has read a byte: what it does before the first, such
as importing its libraries, and after the second is none of the trial. Beside its clock it tells the
use of itself and of its children that it waited for (getrusage(2)), which a control group without
an account of CPU time does not know.
"""

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any, Self

from deadzone.errors import SaidAs, TargetError
from deadzone.measurement import Command
from deadzone.run.targets import launcher
from deadzone.run.targets.base import Exit
from deadzone.run.targets.limits.base import LimitMechanism, kill_all

ANSWER_TIMEOUT_S = 30.0
"""Such a process answers in some 20 ms; on an emulated or starved machine it may take seconds
[s]."""

ENDING_TIMEOUT_S = 5.0
"""One whose standard input was closed ends within milliseconds [s]."""


class Answering:
    """A process that answers until its standard input is closed."""

    def __init__(self, argv: Sequence[str], who: str) -> None:
        """who: what it is called, said to people."""
        self._who = who
        process = Popen(argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True)
        assert process.stdin and process.stdout and process.stderr
        self._in, self._out, self._err = process.stdin, process.stdout, process.stderr
        self._process, self._buffer, self.pid = process, b"", process.pid

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
        while b"\n" not in self._buffer:
            if not _readable(ANSWER_TIMEOUT_S, self._out.fileno()):
                raise TargetError(f"{self._who} did not answer within {ANSWER_TIMEOUT_S:g} s.")
            piece = os.read(self._out.fileno(), 65536)
            if not piece:
                raise self._gone()
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        return dict(json.loads(line))

    def _gone(self) -> TargetError:
        return TargetError(f"{self._who} has ended: {self.last_words()}")

    def last_words(self) -> str:
        """The last line of what it said of its failure, else how it ended."""
        os.set_blocking(self._err.fileno(), False)
        lines = (self._err.read() or b"").decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.poll()}"

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


CLOSED = -1
"""In place of a descriptor that was given back."""

TELEMETRY_PERIOD_S = 0.1
"""Between two readings of a program that runs [s]."""

LAST_OUTPUT_BYTES = 1_000_000
"""How much of the end of a program's output is kept for extraction and messages [bytes]."""


@dataclass
class Program:
    """A program under a launcher that runs until it is stopped."""

    launcher: "Launcher"
    pid: int
    watch: int
    started_s: float
    ended: Exit | None = None

    def runs(self) -> bool:
        """Whether it has not ended by itself."""
        return self.ended is None and self.watch != CLOSED and not _ends(self.watch)

    def stop(self, timeout_s: float) -> Exit:
        """Ask it to end, and kill it with all its descendants if it does not within the time-out;
        how it ended. Asked again, it says the same.

        Raises TargetError if its launcher has ended, and with it the account of the program.
        """
        if self.ended:
            return self.ended
        if self.watch == CLOSED:
            raise TargetError(
                "The launcher of the service has ended, so how the service ended is not known."
            )
        timed_out = False
        try:
            if not _ends(self.watch):
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self.watch, signal.SIGTERM)
                timed_out = not _ends(self.watch, timeout_s)
            self.launcher.kill_tree(self.pid, self.watch)
        except BaseException:
            self.launcher.kill_tree(self.pid)
            raise
        finally:
            os.close(self.watch)
            self.watch = CLOSED  # its number may soon be another file's
        self.ended = self.launcher.exit_of(time.monotonic() - self.started_s, timed_out)
        return self.ended


@dataclass(frozen=True)
class Reader:
    """What reads a program while it runs: as it waits at its first instruction, with the CPU time
    that it had used before [s]; every TELEMETRY_PERIOD_S, told how long it runs [s]; after it
    ended."""

    on_start: Callable[[float], None]
    on_tick: Callable[[float], None]
    on_end: Callable[[Exit], None]


SAID, GO = "said", "go-on"
"""Names of the pipes, in the scratch folder of the target."""


class Gate:
    """The harness's side of both pipes. A context manager."""

    def __init__(self, folder: Path) -> None:
        self.paths = (folder / SAID, folder / GO)

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
        return _readable(within_s, self._said, watch)

    def hear(self) -> dict[str, float]:
        """What the program said, a line that a pipe takes as one; empty where it said nothing."""
        with contextlib.suppress(BlockingIOError):
            return dict(json.loads(os.read(self._said, 65_536)))
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


class Launcher:
    """A launcher process inside a limit mechanism; a context manager that leaves nothing
    running."""

    def __init__(self, mechanism: LimitMechanism, scratch: Path) -> None:
        self.mechanism = mechanism
        self._scratch = scratch
        self._go = scratch / "go"
        self._gate = CLOSED
        self._process: Answering | None = None
        self.pid = 0
        self.has_memory_limit = False
        """Where it ends the kernel is to kill the program, and not the launcher, which may be the
        larger one; without a limit a program is one of many."""

    def open(self, group: str) -> None:
        """Make the group, start the launcher and put it in.

        Raises TargetError if there can be no such group, or the launcher does not start or may not
        enter.
        """
        self.mechanism.open(group)
        with SaidAs(TargetError, "The launcher cannot be reached", names_file=True):
            os.mkfifo(self._go)
            self._gate = os.open(self._go, os.O_RDWR | os.O_CLOEXEC)
        argv = self.mechanism.wrap((sys.executable, "-I", "-S", launcher.__file__, str(self._go)))
        self._process = process = Answering(argv, "The launcher")
        self.pid = process.pid
        try:
            self.mechanism.adopt(process.pid)
        except TargetError as error:
            if process.runs():
                raise
            raise TargetError(f"{str(error).rstrip('.')}: {process.last_words()}") from error

    def run(self, command: Command, timeout_s: float, reader: Reader) -> Exit:
        """Run a program to its end, or to the time-out, which kills it with all its descendants."""
        if command.has_gate:
            return self._run_gated(command, timeout_s, reader)
        with self._watching(command) as (pid, watch):
            reader.on_start(0.0)
            started = time.monotonic()
            os.write(self._gate, b"g")
            timed_out = not _wait(partial(_ends, watch), started, timeout_s, reader)
            if timed_out:
                self.kill_tree(pid, watch)
            wall_s = time.monotonic() - started
        ended = self.exit_of(wall_s, timed_out)
        reader.on_end(ended)
        return ended

    def _run_gated(self, command: Command, timeout_s: float, reader: Reader) -> Exit:
        """As `run`, of a program that says itself when what is to be measured begins and ends.

        What it used before counts to its start. on_end is called as what is measured ends, with
        what that took, while the program waits; where it ended before, with the end of the program.
        """
        measured: Exit | None = None
        with Gate(self._scratch) as gate, self._watching(command, gate.paths) as (pid, watch):
            os.write(self._gate, b"g")
            started = time.monotonic()
            has_time = gate.waits(watch, timeout_s)
            ready = gate.hear()
            reader.on_start(ready.get("user_s", 0.0) + ready.get("sys_s", 0.0))
            if ready:
                started = time.monotonic()
                gate.let_go()
                has_time = _wait(partial(gate.waits, watch), started, timeout_s, reader)
                if done := gate.hear():
                    measured = between(ready, done)
                    reader.on_end(measured)
                    gate.let_go()
            timed_out = not (_ends(watch, ENDING_TIMEOUT_S) if measured else has_time)
            if timed_out:
                self.kill_tree(pid, watch)
            wall_s = time.monotonic() - started
        whole = self.exit_of(wall_s, timed_out and measured is None)
        if measured is None:
            reader.on_end(whole)
            return whole
        used_s = ready["user_s"] + ready["sys_s"] + measured.user_s + measured.sys_s
        return replace(
            whole,
            wall_s=measured.wall_s,
            user_s=measured.user_s,
            sys_s=measured.sys_s,
            counted={**whole.counted, **measured.counted},
            teardown_cpu_s=max(whole.user_s + whole.sys_s - used_s, 0.0),
        )

    def start(self, command: Command, log: Path) -> Program:
        """Start a program that goes on until it is stopped; what it prints goes to the log. One at
        a time."""
        pid, watch = self._ready(command, log, log)
        os.write(self._gate, b"g")
        return Program(self, pid, watch, time.monotonic())

    @contextlib.contextmanager
    def _watching(
        self, command: Command, further: Sequence[Path] = ()
    ) -> Iterator[tuple[int, int]]:
        """Within it a program is there, as `_ready` has it; an error kills it with all its
        descendants."""
        pid, watch = self._ready(
            command, self._scratch / "stdout", self._scratch / "stderr", further
        )
        try:
            yield pid, watch
        except BaseException:
            self.kill_tree(pid)
            raise
        finally:
            os.close(watch)

    def _ready(
        self, command: Command, out: Path, err: Path, further: Sequence[Path] = ()
    ) -> tuple[int, int]:
        """Have a program wait at its first instruction; its process id, and a descriptor that tells
        of its end.

        further: arguments after its own.
        """
        request = {
            "argv": [*command.argv, *map(str, further)],
            "env": dict(command.env),
            "cwd": str(command.cwd) if command.cwd else None,
            "stdin": str(command.stdin) if command.stdin else None,
            "stdout": str(out),
            "stderr": str(err),
            "dies_first": self.has_memory_limit,
        }
        assert self._process is not None
        pid = int(self._process.ask(json.dumps(request))["pid"])
        return pid, os.pidfd_open(pid)

    def exit_of(self, wall_s: float, timed_out: bool) -> Exit:
        """How the program that ran last ended, as the launcher tells it."""
        assert self._process is not None
        result = self._process.hear()
        return Exit(
            wall_s=wall_s,
            exit_code=os.waitstatus_to_exitcode(result.pop("status")),
            timed_out=timed_out,
            exec_error=os.strerror(failed) if (failed := result.pop("exec_error")) else None,
            **result,
        )

    def output(self, stream: str) -> str:
        """The end of what the last program printed on stdout or stderr."""
        with (
            contextlib.suppress(OSError),
            open(f"{self._scratch}/{stream}", "rb", buffering=0) as handle,  # noqa: PTH123
        ):
            handle.seek(max(0, os.fstat(handle.fileno()).st_size - LAST_OUTPUT_BYTES))
            return handle.read().decode("utf-8", errors="replace")
        return ""

    def close(self) -> None:
        """End the launcher and whatever still runs in its group, and remove that."""
        if self._process:
            kill_all(self.mechanism.procs_files(), spare=(self.pid,))
            self._process.close()
            self._process = None
        if self._gate != CLOSED:
            os.close(self._gate)
            self._gate = CLOSED
        self._go.unlink(missing_ok=True)
        self.mechanism.close()

    def kill_tree(self, pid: int, watch: int = CLOSED) -> None:
        """Kill the program's session and what is in the group; what is left the launcher finds as
        it reaps. watch: tells of its end, which is waited for."""
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        kill_all(self.mechanism.procs_files(), spare=(self.pid,))
        if watch != CLOSED:
            _ends(watch, ANSWER_TIMEOUT_S)


def _ends(watch: int, within_s: float = 0.0) -> bool:
    """Whether a program ends within so long [s]. watch: a descriptor that tells of its end."""
    return _readable(within_s, watch)


def _readable(within_s: float, *descriptors: int) -> bool:
    """Whether one of some descriptors can be read, or is closed, within so long [s]."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, within_s) * 1000))


def _wait(is_over: Callable[[float], bool], since: float, timeout_s: float, reader: Reader) -> bool:
    """Wait until it is over, with a call of on_tick every TELEMETRY_PERIOD_S; False on time-out.
    is_over: waits so long at most [s]."""
    ticks = 1
    while not is_over(since + min(ticks * TELEMETRY_PERIOD_S, timeout_s) - time.monotonic()):
        elapsed = time.monotonic() - since
        if elapsed >= timeout_s:
            return False
        if elapsed >= ticks * TELEMETRY_PERIOD_S:
            reader.on_tick(elapsed)
            ticks = int(elapsed / TELEMETRY_PERIOD_S) + 1
    return True
