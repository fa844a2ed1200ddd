"""The command `deadzone` as a process of its own, forked from one that has loaded it: in
milliseconds, and to be killed."""

import contextlib
import ctypes
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import forkserver
from pathlib import Path

import psutil

LOADED = [
    *("deadzone.cli.main", "deadzone.cli.sweep", "deadzone.cli.restore", "deadzone.cli.claims"),
    *("deadzone.analysis.adaptive.slices", "deadzone.run.sweep.opening", "deadzone.store.run"),
    *("deadzone.run.sweep.proposed", "deadzone.run.sweep.progress", "pandas", "pyarrow.parquet"),
]
"""What a sweep imports; loaded once, in the process that all others are forked from."""

PATIENCE_S = 120.0
"""A command that takes longer than this hangs."""


@lru_cache(maxsize=1)
def trouble_library() -> Path | None:
    """The library of interposed calls, built where there is a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = Path(tempfile.mkdtemp(prefix="torture-")) / "trouble.so"
    source = Path(__file__).with_name("trouble.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@dataclass(frozen=True)
class Arming:
    """Trouble that a command is started with; calls of the library of `trouble.c`, and limits of
    resources.

    inherited: variables of whatever it starts. room_bytes: memory that it may ask for beyond what
    it has.
    """

    calls: tuple[tuple[str, tuple[int | bytes, ...]], ...] = ()
    limits: tuple[tuple[int, int], ...] = ()
    inherited: tuple[tuple[str, str], ...] = ()
    room_bytes: int | None = None

    def take_effect(self) -> None:
        """In the process that is to be in trouble."""
        os.environ.update(self.inherited)
        for name, arguments in self.calls:
            typed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
            getattr(ctypes.CDLL(None), name)(*typed)
        for number, most in self.limits:
            resource.setrlimit(number, (most, resource.getrlimit(number)[1]))
        if self.room_bytes is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            most = pages * resource.getpagesize() + self.room_bytes
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def _command(
    arguments: tuple[str, ...], environment: Mapping[str, str], said: Path, arming: Arming
) -> None:
    """What the forked process does: it becomes the command, in a session of its own."""
    os.setsid()
    # Python writes what of it a limit on files lets through, and every later start of the command
    # would read half a module.
    sys.dont_write_bytecode = True
    os.environ.update(environment)
    os.environ.pop("LD_PRELOAD", None)
    for descriptor, name in ((1, "out"), (2, "err")):
        opened = os.open(said / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["deadzone", *arguments]
    from deadzone.cli.main import main

    arming.take_effect()
    main()


class Command:
    def __init__(
        self,
        folder: Path,
        *arguments: str,
        arming: Arming | None = None,
        environment: Mapping[str, str] | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """folder: of the repository; what is printed lies beside it. patience_s: when it is taken
        to hang."""
        self.patience_s = patience_s
        self._said = folder.parent / f"said-{time.monotonic_ns()}"
        self._said.mkdir()
        places = {
            "DEADZONE_HOME": str(folder),
            "XDG_STATE_HOME": str(folder.parent / "state"),
            "KUBECONFIG": "/nonexistent",
            **(environment or {}),
        }
        context = multiprocessing.get_context("forkserver")
        self._process = context.Process(
            target=_command, args=(arguments, places, self._said, arming or Arming())
        )
        with _preloaded():
            self._process.start()
        self.pid = self._process.pid or 0

    def runs(self) -> bool:
        return self._process.is_alive()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for its end, by default as long as it may take; whether it has ended."""
        self._process.join(self.patience_s if timeout_s is None else timeout_s)
        return not self._process.is_alive()

    def wait_for(self, condition: Callable[[], bool], timeout_s: float = PATIENCE_S) -> None:
        """Wait until something is the case, or the command has ended."""
        deadline = time.monotonic() + timeout_s
        while self.runs() and not condition() and time.monotonic() < deadline:
            time.sleep(0.001)

    @property
    def code(self) -> int:
        """Exit code; below 0 the signal that killed it. One that hangs is killed first."""
        if not self.wait():
            self.kill()
            raise AssertionError(f"it hangs: {self.printed()}")
        return int(self._process.exitcode or 0)

    def heeds_signals(self) -> bool:
        """Whether it has its own handler of a request to end."""
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
            caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
            return bool(caught >> signal.SIGTERM - 1 & 1)
        return False

    def send(self, number: int) -> None:
        """A signal to it alone."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it with whatever it started, where it runs."""
        if self.runs():
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    def printed(self) -> str:
        """What it wrote to stderr."""
        file = self._said / "err"
        return file.read_text(errors="replace") if file.exists() else ""

    def below(self) -> list[psutil.Process]:
        """Its descendants: the launcher first, where it runs."""
        try:
            return list(psutil.Process(self.pid).children(recursive=True))
        except psutil.Error:
            return []

    def traces(self) -> list[Path]:
        """Control groups and scratch folders that bear its name."""
        groups = (Path(at) / name for at, below, _ in os.walk("/sys/fs/cgroup") for name in below)
        homes = {Path(tempfile.gettempdir()), Path("/dev/shm")}
        scratch = (path for home in homes for path in home.glob("deadzone-*"))
        return [one for one in (*groups, *scratch) if one.name.startswith(f"deadzone-{self.pid}-")]


@contextlib.contextmanager
def _preloaded() -> Iterator[None]:
    """Around the first start: what all commands are forked from has the library of trouble."""
    library = trouble_library()
    if library:
        os.environ["LD_PRELOAD"] = str(library)
    try:
        forkserver.set_forkserver_preload(LOADED)
        forkserver.ensure_running()
        yield
    finally:
        os.environ.pop("LD_PRELOAD", None)
