"""Profiles of a program while it is under load: what every profiler offers to a capture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

from deadzone.errors import DeadzoneError
from deadzone.measurement import ProfileFile
from deadzone.study.levels import Level

SNAPSHOTS = ("heap", "goroutine", "threadcreate")
"""Kinds that say how things stand at one moment; all others count over a time."""


class CaptureError(DeadzoneError):
    """A profile could not be taken; the trial it belongs to has failed."""


@dataclass(frozen=True)
class Subject:
    """The program that is profiled.

    values: what {name} stands for in an address: the levels of the treatment, and service_url where there is a
    service. process: asks for the id of its process, None if there is none; asked when it is needed, because a
    program that is its own load starts together with the capture.
    """

    values: Mapping[str, Level]
    process: Callable[[], int | None] = lambda: None


class Profiler(Protocol):
    """A way to take profiles."""

    def check(self) -> dict[str, Any]:
        """Facts for the provenance. Raises WorkloadError if a program that it needs is missing here."""

    def take(self, kind: str, subject: Subject, duration_s: int, stop: Event) -> ProfileFile:
        """Take one profile; a kind that counts over a time takes that long.

        stop: set when nobody waits for it any more. Raises CaptureError with what went wrong.
        """
