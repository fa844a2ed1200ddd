"""Taking the profiles of one trial beside it: each kind in a thread of its own, all over the same time.

What counts over a time (cpu, allocs, mutex, block) is taken together; snapshots (heap, goroutine) follow when
that time is over, so that none of them disturbs the others' window.
"""

import time
from dataclasses import dataclass
from threading import Event, Thread

from deadzone.errors import DeadzoneError
from deadzone.measurement import ProfileFile
from deadzone.measuring.capture.base import SNAPSHOTS, Profiler, Subject
from deadzone.study.profile_specs import ProfilesSpec

GRACE_S = 30.0
"""How much longer than planned a profiler may take before it is given up [s]; symbols of a large program take a while."""

LETTING_GO_S = 1.0
"""How long is waited for a profiler that was told to end [s]."""

TOLERANCE_S = 0.25
"""A profile that ends so much after the load still saw the load [s]: profilers stop on their own clock."""


@dataclass(frozen=True)
class Captured:
    """The profiles of a trial, and why one is missing or says little; None if all is well."""

    files: tuple[ProfileFile, ...] = ()
    failure: str | None = None


class Capturing:
    """Takes the profiles of one trial: `begin` as the load begins, `finish` as it has ended."""

    def __init__(self, spec: ProfilesSpec, profiler: Profiler) -> None:
        self._spec = spec
        self._profiler = profiler
        self._stop = Event()
        self._threads: dict[str, Thread] = {}
        self._taken: dict[str, tuple[ProfileFile, float]] = {}
        self._failed: dict[str, str] = {}
        self._began = 0.0

    def begin(self, subject: Subject) -> None:
        """The load begins: take the profiles beside it. Returns at once."""
        self._began = time.monotonic()
        for kind in self._spec.kinds:
            thread = Thread(target=self._take, args=(kind, subject), name=f"profile {kind}", daemon=True)
            self._threads[kind] = thread
            thread.start()

    def finish(self) -> Captured:
        """The load has ended: wait for the profilers and give their profiles.

        A profile that was not over when the load was is a failure: it would be of an idle program.
        """
        ended = time.monotonic()
        latest = self._began + self._spec.start_s + self._spec.duration_s + GRACE_S
        if ended - self._began < self._spec.start_s + self._spec.duration_s:
            self._stop.set()  # whatever comes now is of no use
            latest = ended + LETTING_GO_S
        for thread in self._threads.values():
            thread.join(max(latest - time.monotonic(), 0.0))
        self._stop.set()
        failures = [self._failure(kind, ended) for kind in self._threads]
        files = tuple(self._taken[kind][0] for kind in self._threads if kind in self._taken)
        return Captured(files, next((failure for failure in failures if failure), None))

    def abandon(self) -> None:
        """The trial did not come to its end: let the profilers go."""
        self._stop.set()
        for thread in self._threads.values():
            thread.join(LETTING_GO_S)

    def _take(self, kind: str, subject: Subject) -> None:
        after = self._spec.duration_s if kind in SNAPSHOTS and set(self._spec.kinds) - set(SNAPSHOTS) else 0.0
        if self._stop.wait(self._spec.start_s + after):
            return
        try:
            taken = self._profiler.take(kind, subject, self._spec.duration_s, self._stop)
        except (DeadzoneError, OSError) as error:  # in a thread of its own nobody else would see it
            self._failed[kind] = str(error)
        else:
            self._taken[kind] = taken, time.monotonic()

    def _failure(self, kind: str, ended: float) -> str | None:
        """What is wrong with the profile of a kind, None if nothing is. ended: when the load did."""
        window = self._spec.start_s + self._spec.duration_s
        lasted = ended - self._began
        if lasted < window:
            return (
                f"the load was over after {lasted:.3g} s, before the {kind} profile was (profiles.start_s + "
                f"profiles.duration_s = {window:g} s); profile for less long, or load for longer"
            )
        if kind in self._failed:
            return f"the {kind} profile was not taken: {self._failed[kind]}"
        if kind not in self._taken:
            return f"the {kind} profile was not ready {GRACE_S:g} s after its time"
        if self._taken[kind][1] > ended + TOLERANCE_S and kind in SNAPSHOTS:
            return f"the {kind} profile was taken after the load had ended; load for longer"
        return None
