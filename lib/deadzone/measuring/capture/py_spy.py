"""Profiles of a running Python process by py-spy, as folded stacks.

py-spy reads the process's memory from outside, so the program needs no change; the system must permit that
(root, CAP_SYS_PTRACE, or ptrace_scope 0). Idle threads are left out: a sample is a moment on a CPU.
"""

import gzip
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Event
from typing import Any

from deadzone.errors import WorkloadError
from deadzone.measurement import ProfileFile
from deadzone.measuring.capture.base import CaptureError, Subject
from deadzone.store.programs import program_version

PROGRAM = "py-spy"
INSTALL = "pip install 'deadzone[py-spy]'"

EXTRA_S = 20.0
"""How much longer than asked py-spy may take, to find its way into the process and to write [s]."""

POLL_S = 0.05


class PySpy:
    """Samples a process with py-spy."""

    def __init__(self, rate_hz: int, subprocesses: bool = False) -> None:
        self._rate_hz = rate_hz
        self._subprocesses = subprocesses

    def check(self) -> dict[str, Any]:
        """Raise WorkloadError unless py-spy is installed."""
        return {"profiler": program_version((installed(), "--version")) or PROGRAM}

    def take(self, kind: str, subject: Subject, duration_s: int, stop: Event) -> ProfileFile:
        """Sample the process for a time."""
        pid = subject.process()
        if pid is None:
            raise CaptureError("there is no process on this machine that py-spy could look at")
        with tempfile.TemporaryDirectory(prefix="deadzone-py-spy-") as folder:
            path = Path(folder) / "stacks"
            said = self._record(self._command(pid, duration_s, path), duration_s, stop)
            try:
                content = path.read_bytes()
            except OSError as error:
                raise CaptureError(_explained(said)) from error
        if not content.strip():
            raise CaptureError("py-spy saw no sample: the process did nothing, or only waited")
        return ProfileFile(kind, "folded.gz", gzip.compress(content, mtime=0))

    def _command(self, pid: int, duration_s: int, path: Path) -> tuple[str, ...]:
        own = (
            "record", "--pid", str(pid), "--duration", str(duration_s), "--rate", str(self._rate_hz),
            "--format", "raw", "--nolineno", "--output", str(path),
        )  # fmt: skip
        return (installed(), *own, *(("--subprocesses",) if self._subprocesses else ()))

    def _record(self, command: tuple[str, ...], duration_s: int, stop: Event) -> str:
        """Run py-spy to its end, and give what it printed; it is ended when the capture is."""
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            errors="replace",
        )  # fmt: skip
        left_s = duration_s + EXTRA_S
        while process.poll() is None and left_s > 0 and not stop.wait(POLL_S):
            left_s -= POLL_S
        if process.poll() is None:
            process.kill()
        said = process.communicate()[1]
        return said if left_s > 0 else f"py-spy did not end within {duration_s + EXTRA_S:g} s"


def installed() -> str:
    """Where py-spy is: on the PATH, or beside this Python. Raises WorkloadError if it is neither."""
    beside = Path(sys.executable).with_name(PROGRAM)
    found = shutil.which(PROGRAM) or (str(beside) if beside.is_file() else None)
    if not found:
        raise WorkloadError(f"profiles.profiler is py-spy, which is not installed here: {INSTALL}.")
    return found


def _explained(said: str) -> str:
    """What py-spy printed when it failed, as a sentence with the remedy."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reason = next((line for line in lines if "rror" in line), lines[-1] if lines else "no reason was given")
    if "ermission" in said or "EPERM" in said:
        return (
            f"py-spy may not look into the process ({reason}); run as root, give it CAP_SYS_PTRACE, or set "
            "kernel.yama.ptrace_scope to 0"
        )
    return f"py-spy failed: {reason}"
