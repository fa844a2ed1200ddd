"""The http workload: one request a trial, its phases timed by libcurl in a client process of its
own."""

import json
import os
import re
import string
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from deadzone.plugins import (
    Command,
    Level,
    Measurement,
    Outcome,
    Status,
    StudyError,
    Workload,
    WorkloadError,
    check_placeholders,
    fill,
    filled,
    masked,
    placed,
)
from deadzone.run.workloads.command import find_number, found_at
from deadzone.run.workloads.ffmpeg import BUNDLED, find_ffmpeg, generated_clip
from deadzone.study.workload_spec import CLIP
from deadzone_services.specs import FormFileSpec, HttpWorkloadSpec

CLIENT = "deadzone_services.http_client"

ANSWER = "answer"
"""Where the client puts the body of an answer."""

MEASURED = (
    *("dns_s", "connect_s", "tls_s", "pretransfer_s", "posttransfer_s", "ttfb_s", "total_s"),
    *("connecting_s", "tls_handshake_s", "upload_s", "waiting_s", "server_s"),
    *("sent_bytes", "received_bytes", "http_status", "new_connections", "client_cpu_s"),
    *("service_s", "service_receive_s"),
)
"""Responses of every request, as far as it got; data/README.md says what each one is."""

AS_WRITTEN = ("method", "has_body", "timeout_s", "verify_tls")
"""What the client is told of the request just as the study has it."""

PARTS = {
    "connecting_s": ("dns_s", "connect_s"),
    "upload_s": ("pretransfer_s", "posttransfer_s"),
    "waiting_s": ("posttransfer_s", "ttfb_s"),
    "server_s": ("ttfb_s", "total_s"),
    "tls_handshake_s": ("connect_s", "tls_s"),
}
"""The two times between which each part of a request lies; without TLS, tls_s is 0."""

SHOWN_BODY = 200
"""How much of an unexpected answer stands in the message [characters]."""


class HttpWorkload(Workload):
    """One request; its status and body decide whether the trial succeeded."""

    def __init__(
        self, spec: HttpWorkloadSpec, folder: Path, treatments: Sequence[Mapping[str, Level]] = ()
    ) -> None:
        """folder: where the study file lies; relative files start there."""
        self._spec = spec
        self._folder = folder
        self.responses: tuple[str, ...] = (*MEASURED, *spec.responses)
        self._clip: Path | None = None

    def uses(self, factor: str) -> bool:
        """Whether the factor stands in the address, a header or the body."""
        return factor in placed(self._spec.templates())

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError for a placeholder that is neither a factor nor a file, or a response
        measured already."""
        check_placeholders(self._spec.templates(), (*factors, CLIP))
        if taken := set(self._spec.responses) & set(MEASURED):
            raise StudyError(
                f"workload.responses.{taken.pop()} is measured of every request; call it otherwise."
            )

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Draw the clip where it is used, and see that pycurl is there."""
        import pycurl

        for header, variable in self._spec.headers_from_env.items():
            if variable not in os.environ:
                raise WorkloadError(
                    f"workload.headers_from_env.{header}: the variable {variable} is not set."
                )
        facts: dict[str, Any] = {"program": "libcurl", "program_version": str(pycurl.version)}
        if CLIP in placed(self._spec.templates()):
            clip = generated_clip(find_ffmpeg(BUNDLED), self._spec.clip)
            self._clip = clip.path
            facts |= {**clip.facts(), "clip_bytes": clip.path.stat().st_size}
        return facts

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Write down the request for the client. The file is for this user's eyes only, and gone
        with the scratch."""
        request = self._request({**levels, CLIP: str(self._clip)}, scratch)
        path = scratch / "request.json"
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(request, file)
        (scratch / ANSWER).unlink(missing_ok=True)
        return Command(argv=(sys.executable, "-m", CLIENT, str(path)))

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """What the client measured, and whether the answer is what it must be."""
        try:
            answer = json.loads(measurement.stdout.strip().splitlines()[-1])
        except (ValueError, IndexError):
            reason = (measurement.stderr.strip().splitlines() or ["nothing"])[-1]
            return Outcome(
                failure=masked(f"the client ended with exit code {measurement.exit_code}: {reason}")
            )
        measured = _with_parts({name: answer[name] for name in MEASURED if name in answer})
        failure = answer["failure"] or self._judge(measured, (scratch / ANSWER).read_bytes())
        status: Status | None = "timeout" if answer.get("timed_out") else None
        return Outcome(
            measured, failure and masked(failure), wall_s=measured.get("total_s"), status=status
        )

    def _request(self, values: Mapping[str, Level], scratch: Path) -> dict[str, Any]:
        spec = self._spec
        url = fill(spec.url, values)
        if urlsplit(url).scheme not in ("http", "https"):
            raise WorkloadError(f"workload.url: {masked(url)} is no address of http or https.")
        headers = {name: fill(value, values) for name, value in spec.headers.items()}
        headers |= {name: os.environ[variable] for name, variable in spec.headers_from_env.items()}
        body = None if spec.json_body is None else json.dumps(filled(spec.json_body, values))
        if body is not None and "content-type" not in map(str.lower, headers):
            headers["Content-Type"] = "application/json"
        form = {name: self._part(part, values) for name, part in (spec.form or {}).items()}
        return {
            "url": quote(url, safe=string.punctuation),
            "headers": headers,
            "form": form or None,
            "body": body,
            "body_file": spec.body_file and str(self._file(spec.body_file, values)),
            **{name: getattr(spec, name) for name in AS_WRITTEN},
            "ca_file": spec.ca_file and str((self._folder / spec.ca_file).resolve()),
            "body_to": str(scratch / ANSWER),
        }

    def _part(self, part: str | FormFileSpec, values: Mapping[str, Level]) -> Any:
        if isinstance(part, str):
            return fill(part, values)
        path = self._file(part.file, values)
        return {"file": str(path), "filename": path.name, "content_type": part.content_type}

    def _file(self, template: str, values: Mapping[str, Level]) -> Path:
        path = (self._folder / fill(template, values)).resolve()
        if not path.is_file():
            raise WorkloadError(f"workload: the file to upload, {path}, is missing.")
        return path

    def _judge(self, measured: dict[str, float], body: bytes) -> str | None:
        """Why an answer is not what it must be; None if it is, with the responses in its body added
        to what was measured."""
        answer, status = self._spec.answer, int(measured["http_status"])
        begins = body[:SHOWN_BODY].decode("utf-8", errors="replace").strip() or "nothing"
        if status not in answer.status:
            wanted = ", ".join(map(str, answer.status))
            return f"wrong status: {status} where {wanted} is expected; the body begins: {begins}"
        if measured["received_bytes"] < answer.min_bytes:
            return (
                f"body too short: {measured['received_bytes']:,.0f} bytes where "
                f"{answer.min_bytes:,} are expected"
            )
        text = body.decode("utf-8", errors="replace")
        if answer.regex and not re.search(answer.regex, text, re.MULTILINE):
            return f"wrong body: it does not match {answer.regex!r}; it begins: {begins}"
        if answer.json_path and not found_at(answer.json_path, text):
            return f"wrong body: there is nothing at {answer.json_path!r}; it begins: {begins}"
        for name, extraction in self._spec.responses.items():
            if (value := find_number(extraction, text)) is None:
                return f"the body holds no number for the response {name}"
            measured[name] = value
        return None


def _with_parts(times: Mapping[str, float]) -> dict[str, float]:
    """The measured times, and the parts between them."""
    parts = {name: float(value) for name, value in times.items()}
    for name, (start, stop) in PARTS.items():
        if start in parts and stop in parts:
            parts[name] = max(0.0, parts[stop] - parts[start])
    return parts
