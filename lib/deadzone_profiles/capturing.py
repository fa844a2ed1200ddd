"""Taking the profiles of one trial beside it: each kind in a thread of its own, all over the same
time.

What counts over a time (cpu, allocs, mutex, block) is taken together; snapshots (heap, goroutine)
follow when that time is over, so that none of them disturbs the others' window.

Profiles beside a trial: where a study asks for them, they are taken while its load runs.
"""

import gzip
import http.client
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

from deadzone.extras import missing_sentence
from deadzone.measurement import ProfileFile
from deadzone.plugins import (
    DeadzoneError,
    Level,
    Plan,
    StudyError,
    WorkloadError,
    check_known,
    fill,
    placeholders,
    program_version,
)
from deadzone.study.profile_specs import SERVICE_URL, ProfilesSpec

GZIP = b"\x1f\x8b"

MOST_BYTES = 256 << 20
"""Larger than this uncompressed a file is refused: no profiler writes it, and it would not fit in
memory."""

SNAPSHOTS = ("heap", "goroutine", "threadcreate")
"""Kinds that say how things stand at one moment; all others count over a time."""


class CaptureError(DeadzoneError):
    """A profile could not be taken; the trial it belongs to has failed."""


@dataclass(frozen=True)
class Subject:
    """The program that is profiled.

    values: what {name} stands for in an address: the levels of the treatment, and service_url where
    there is a service. process: asks for the id of its process, None if there is none; asked when
    it is needed, because a program that is its own load starts together with the capture.
    """

    values: Mapping[str, Level]
    process: Callable[[], int | None] = lambda: None


DEFAULT_URL = f"{{{SERVICE_URL}}}/debug/pprof"

ANSWER_S = 20.0
"""How much longer than the time it counts over a page may take to answer [s]."""

IDLE = ": the service used too little CPU during the profile; raise the load or profiles.duration_s"


START_S = 2.0
"""How long a server that refuses connections is asked again: it may not listen yet [s]."""

POLL_S = 0.05


class PprofPages:
    """Fetches profiles over HTTP, past any proxy: the service is near."""

    def __init__(self, url: str | None) -> None:
        """url: of the pages, with placeholders; None for those of the service under test."""
        self._url = url or DEFAULT_URL
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def check(self) -> dict[str, Any]:
        """Facts for the provenance; nothing is needed here."""
        return {"profiler": "pprof pages"}

    def take(self, kind: str, subject: Subject, duration_s: int, stop: Event) -> ProfileFile:
        """Fetch the page of a kind; one that counts over a time takes that long.

        A server that starts refuses connections; it is asked again for START_S. Raises
        CaptureError with what went wrong.
        """
        address = self.address(kind, subject, duration_s)
        timeout_s = ANSWER_S + (0 if kind in SNAPSHOTS else duration_s)
        try:
            content = self._content(address, timeout_s, stop)
        except urllib.error.HTTPError as error:
            sentence = " ".join(error.read(200).decode(errors="replace").split())
            raise CaptureError(
                f"{address} answered {error.code} {error.reason}: {sentence}"
            ) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = _reason(getattr(error, "reason", error))
            raise CaptureError(f"{address} does not answer: {why}") from error
        if len(content) > MOST_BYTES:
            raise CaptureError(
                f"{address} answered with more than {MOST_BYTES >> 20} MB, which no profile has"
            )
        if not content:
            raise CaptureError(f"{address} answered with no sample{IDLE if kind == 'cpu' else ''}")
        return ProfileFile(kind, _ending(content), content)

    def _content(self, address: str, timeout_s: float, stop: Event) -> bytes:
        """The answer of a page, up to a byte more than is accepted."""
        until = time.monotonic() + START_S
        while True:
            try:
                with self._open(address, timeout=timeout_s) as answer:
                    return bytes(answer.read(MOST_BYTES + 1))
            except urllib.error.URLError as error:
                is_refused = isinstance(error.reason, ConnectionRefusedError)
                if not is_refused or time.monotonic() > until or stop.wait(POLL_S):
                    raise

    def address(self, kind: str, subject: Subject, duration_s: int) -> str:
        """The address of a page.

        Snapshots are asked for as they stand; what counts over a time, for its duration. Raises
        CaptureError for a placeholder that means nothing.
        """
        try:
            root = fill(self._url, dict(subject.values)).rstrip("/")
        except StudyError as error:
            raise CaptureError(f"profiles.url: {error}") from error
        page = "profile" if kind == "cpu" else kind
        return f"{root}/{page}" + ("" if kind in SNAPSHOTS else f"?seconds={duration_s}")


def _ending(content: bytes) -> str:
    """How the file's name ends: pages of Go are protobuf under gzip, others may send folded
    stacks."""
    if content.startswith(GZIP):
        return "pb.gz"
    return "pb" if b"\x00" in content[:4096] or content[:1] == b"\x0a" else "folded"


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    words = getattr(error, "strerror", None) or str(error)
    return words.rstrip(".") or type(error).__name__


PROGRAM = "py-spy"

EXTRA_S = 20.0
"""How much longer than asked py-spy may take, to find its way into the process and to write [s]."""


class PySpy:
    """Samples a process with py-spy."""

    def __init__(self, rate_hz: int, subprocesses: bool = False) -> None:
        self._rate_hz = rate_hz
        self._subprocesses = subprocesses

    def check(self) -> dict[str, Any]:
        """Facts for the provenance. Raises WorkloadError unless py-spy is installed."""
        return {"profiler": program_version((installed(), "--version")) or PROGRAM}

    def take(self, kind: str, subject: Subject, duration_s: int, stop: Event) -> ProfileFile:
        """Sample the process for a time.

        stop: set when no caller waits for it any more. Raises CaptureError with what went wrong.
        """
        pid = subject.process()
        if pid is None:
            raise CaptureError("there is no process on this machine that py-spy could look at")
        with tempfile.TemporaryDirectory(prefix="deadzone-py-spy-") as folder:
            path = Path(folder) / "stacks"
            printed = self._record(pid, duration_s, path, stop)
            try:
                content = path.read_bytes()
            except OSError as error:
                raise CaptureError(_explained(printed)) from error
        if not content.strip():
            raise CaptureError("py-spy saw no sample: the process did nothing, or only waited")
        return ProfileFile(kind, "folded.gz", gzip.compress(content, mtime=0))

    def _record(self, pid: int, duration_s: int, path: Path, stop: Event) -> str:
        """Run py-spy to its end, and give what it printed; it is ended when the capture is."""
        command = (
            installed(), "record", "--pid", str(pid), "--duration", str(duration_s), "--rate",
            str(self._rate_hz), "--format", "raw", "--nolineno", "--output", str(path),
            *(("--subprocesses",) if self._subprocesses else ()),
        )  # fmt: skip
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, errors="replace",
        )  # fmt: skip
        left_s = duration_s + EXTRA_S
        while process.poll() is None and left_s > 0 and not stop.wait(POLL_S):
            left_s -= POLL_S
        if process.poll() is None:
            process.kill()
        printed = process.communicate()[1]
        return printed if left_s > 0 else f"py-spy did not end within {duration_s + EXTRA_S:g} s"


def installed() -> str:
    """Where py-spy is: on the PATH, or beside this Python. Raises WorkloadError if it is
    neither."""
    path = shutil.which(PROGRAM) or shutil.which(PROGRAM, path=str(Path(sys.executable).parent))
    if not path:
        raise WorkloadError(f"profiles.profiler is py-spy: {missing_sentence(PROGRAM)}")
    return path


def _explained(printed: str) -> str:
    """What py-spy printed when it failed, as a sentence with the remedy."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    reason = next((line for line in lines if "rror" in line), "no reason was given")
    return (
        f"py-spy failed: {reason}; a process of another user takes root or CAP_SYS_PTRACE, and "
        "kernel.yama.ptrace_scope 0"
    )


Profiler = PprofPages | PySpy
"""A way to take profiles."""


def make_profiler(spec: ProfilesSpec) -> Profiler:
    """The profiler of a study."""
    is_pprof = spec.profiler == "pprof"
    return PprofPages(spec.url) if is_pprof else PySpy(spec.rate_hz, spec.subprocesses)


GRACE_S = 30.0
"""How much longer than planned a profiler may take before it is given up [s]; symbols of a large
program take a while."""

LETTING_GO_S = 1.0
"""How long is waited for a profiler that was told to end [s]."""

TOLERANCE_S = 0.25
"""A profile that ends so much after the load still saw the load [s]: profilers stop on their own
clock."""


@dataclass
class CaptureResult:
    """The profiles of a trial, and why one is missing or says little; None if all is well. Known
    when its load has ended."""

    files: tuple[ProfileFile, ...] = ()
    failure: str | None = None


class Capturing:
    """Takes the profiles of one trial. A context manager, inside which the load is; what was
    captured is known on leaving."""

    def __init__(self, spec: ProfilesSpec, profiler: Profiler, subject: Subject) -> None:
        self._spec, self._profiler, self._subject = spec, profiler, subject
        self._window_s = spec.start_s + spec.duration_s
        self._stop = Event()
        self._threads: dict[str, Thread] = {}
        self._taken: dict[str, tuple[ProfileFile, float]] = {}
        self._failed: dict[str, str] = {}
        self._began = 0.0
        self._captured = CaptureResult()

    def __enter__(self) -> CaptureResult:
        """The load begins: take the profiles beside it. Returns at once."""
        self._began = time.monotonic()
        for kind in self._spec.kinds:
            thread = Thread(target=self._take, args=(kind,), name=f"profile {kind}", daemon=True)
            self._threads[kind] = thread
            thread.start()
        return self._captured

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """The load has ended: wait for the profilers; where the trial did not come to its end, let
        them go.

        A profile that was not over when the load was is a failure: it would be of an idle program.
        """
        ended = time.monotonic()
        latest = self._began + self._window_s + GRACE_S
        if error or ended - self._began < self._window_s:
            self._stop.set()  # whatever comes now is of no use
            latest = ended + LETTING_GO_S
        for thread in self._threads.values():
            thread.join(max(latest - time.monotonic(), 0.0))
        self._stop.set()
        failures = filter(None, (self._failure(kind, ended) for kind in self._threads))
        self._captured.files = tuple(
            self._taken[kind][0] for kind in self._threads if kind in self._taken
        )
        self._captured.failure = next(failures, None)

    def _take(self, kind: str) -> None:
        after = (
            self._spec.duration_s
            if kind in SNAPSHOTS and set(self._spec.kinds) - set(SNAPSHOTS)
            else 0.0
        )
        if self._stop.wait(self._spec.start_s + after):
            return
        try:
            taken = self._profiler.take(kind, self._subject, self._spec.duration_s, self._stop)
        except (DeadzoneError, OSError) as error:  # no other place sees an error of this thread
            self._failed[kind] = str(error)
        else:
            self._taken[kind] = taken, time.monotonic()

    def _failure(self, kind: str, ended: float) -> str | None:
        """What is wrong with the profile of a kind, None if nothing is. ended: when the load
        did."""
        lasted = ended - self._began
        if lasted < self._window_s:
            return (
                f"the load was over after {lasted:.3g} s, before the {kind} profile was "
                f"(profiles.start_s + profiles.duration_s = {self._window_s:g} s); profile for "
                "less long, or load for longer"
            )
        if kind in self._failed:
            return f"the {kind} profile was not taken: {self._failed[kind]}"
        if kind not in self._taken:
            return f"the {kind} profile was not ready {GRACE_S:g} s after its time"
        if self._taken[kind][1] > ended + TOLERANCE_S and kind in SNAPSHOTS:
            return f"the {kind} profile was taken after the load had ended; load for longer"
        return None


class StudyProfiling:
    """The profiles of a study's trials; nothing happens where it asks for none."""

    def __init__(self, spec: ProfilesSpec | None) -> None:
        self._spec = spec
        self._profiler = make_profiler(spec) if spec else None

    def prepare(self) -> dict[str, Any]:
        """Facts for the provenance. Raises WorkloadError if the profiler is not installed."""
        return self._profiler.check() if self._profiler else {}

    def capture(
        self, levels: Mapping[str, Level], process: Callable[[], int | None]
    ) -> AbstractContextManager[CaptureResult]:
        """Take profiles as long as the context lasts, which is as long as the load does."""
        if self._spec is None or self._profiler is None:
            return nullcontext(CaptureResult())
        return Capturing(self._spec, self._profiler, Subject(levels, process))

    def check(self, plan: Plan, responses: Sequence[str]) -> None:
        """Raise StudyError if the profiles of a study are of nothing, or name what it does not
        have.

        responses: columns that trials will have, besides the factors.
        """
        spec, factors = plan.study.profiles, plan.study.factor_names()
        if spec is None:
            return
        if spec.profiler == "pprof" and spec.url is None and not plan.services:
            raise StudyError(
                "profiles.url is missing; without a service it says where the pages of pprof are"
            )
        known = (*factors, *((SERVICE_URL,) if plan.services else ()))
        for name in placeholders(spec.url or ""):
            check_known(
                StudyError, f"profiles.url names {{{name}}}, which is no factor", name, known
            )
        if (factor := spec.change.factor) is not None:
            sentence = f"profiles.change.factor is {factor!r}, which is no factor"
            check_known(StudyError, sentence, factor, factors)
        if spec.load is not None:
            column = spec.load.column
            sentence = f"profiles.load.column is {column!r}, which no trial has"
            check_known(StudyError, sentence, column, (*factors, *responses))
