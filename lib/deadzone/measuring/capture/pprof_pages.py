"""Profiles from the pages of net/http/pprof: `/debug/pprof/profile?seconds=5`, `/debug/pprof/heap`, ...

Any service that answers these addresses with a profile will do, whatever its language.
"""

import http.client
import urllib.error
import urllib.request
from threading import Event
from typing import Any

from deadzone.errors import StudyError
from deadzone.measurement import ProfileFile
from deadzone.measuring.capture.base import SNAPSHOTS, CaptureError, Subject
from deadzone.study.profile_specs import SERVICE_URL
from deadzone.study.templates import fill

DEFAULT_URL = f"{{{SERVICE_URL}}}/debug/pprof"

ANSWER_S = 20.0
"""How much longer than the time it counts over a page may take to answer [s]."""

MOST_BYTES = 256 << 20
"""A profile larger than this is no profile; it would fill the disk after some trials."""

GZIP = b"\x1f\x8b"

IDLE = ": the service used too little CPU meanwhile; raise the load or profiles.duration_s"


class PprofPages:
    """Fetches profiles over HTTP, past any proxy: the service is near."""

    def __init__(self, url: str | None) -> None:
        """url: of the pages, with placeholders; None for those of the service under test."""
        self._url = url or DEFAULT_URL
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def check(self) -> dict[str, Any]:
        """Nothing is needed here."""
        return {"profiler": "pprof pages"}

    def take(self, kind: str, subject: Subject, duration_s: int, stop: Event) -> ProfileFile:
        """Fetch the page of a kind."""
        address = self.address(kind, subject, duration_s)
        timeout_s = ANSWER_S + (0 if kind in SNAPSHOTS else duration_s)
        try:
            with self._open(address, timeout=timeout_s) as answer:
                content = answer.read(MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            said = " ".join(error.read(200).decode(errors="replace").split())
            raise CaptureError(f"{address} answered {error.code} {error.reason}: {said}") from error
        except urllib.error.URLError as error:
            raise CaptureError(f"{address} does not answer: {_reason(error.reason)}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise CaptureError(f"{address}: the answer broke off: {_reason(error)}") from error
        if len(content) > MOST_BYTES:
            raise CaptureError(
                f"{address} answered with more than {MOST_BYTES >> 20} MB, which no profile has"
            )
        if not content:
            raise CaptureError(f"{address} answered with no sample{IDLE if kind == 'cpu' else ''}")
        return ProfileFile(kind, _ending(content), content)

    def address(self, kind: str, subject: Subject, duration_s: int) -> str:
        """The address of a page.

        Snapshots are asked for as they stand; what counts over a time, for its duration. Raises CaptureError
        for a placeholder that means nothing.
        """
        try:
            root = fill(self._url, dict(subject.values)).rstrip("/")
        except StudyError as error:
            raise CaptureError(f"profiles.url: {error}") from error
        page = "profile" if kind == "cpu" else kind
        return f"{root}/{page}" + ("" if kind in SNAPSHOTS else f"?seconds={duration_s}")


def _ending(content: bytes) -> str:
    """How the file's name ends: pages of Go are protobuf under gzip, others may send folded stacks."""
    if content.startswith(GZIP):
        return "pb.gz"
    return "pb" if b"\x00" in content[:4096] or content[:1] == b"\x0a" else "folded"


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    said = getattr(error, "strerror", None) or str(error)
    return said.rstrip(".") or type(error).__name__
