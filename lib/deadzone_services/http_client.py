"""One HTTP request with libcurl, timed phase by phase: a small program of its own, so that its CPU
time is known.

    python -m deadzone_services.http_client REQUEST

REQUEST is a JSON file that says what to send; the answer's timings leave as JSON on standard
output, the body goes to the file that the request names. Times come from libcurl's *_TIME_T, which
are microseconds since the request began.

A trap that `curl -w` has too: before a large upload libcurl asks for leave with `Expect:
100-continue`, and STARTTRANSFER then is the time of that leave, whatever the server does
afterwards. So an empty `Expect:` is sent, unless the request asks for the leave on purpose.
"""

import contextlib
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pycurl

MICROSECONDS = 1e6

MOST_BODY_BYTES = 16_000_000
"""How much of an answer is kept for its checks; more is counted and dropped [bytes]."""

TIMES = {
    "dns_s": "NAMELOOKUP_TIME_T",
    "connect_s": "CONNECT_TIME_T",
    "tls_s": "APPCONNECT_TIME_T",
    "pretransfer_s": "PRETRANSFER_TIME_T",
    "posttransfer_s": "POSTTRANSFER_TIME_T",
    "ttfb_s": "STARTTRANSFER_TIME_T",
    "total_s": "TOTAL_TIME_T",
}
"""Columns, and the names of libcurl's times; an older libcurl lacks POSTTRANSFER."""

TLS_ERRORS = (
    "E_PEER_FAILED_VERIFICATION",
    "E_USE_SSL_FAILED",
    *(name for name in dir(pycurl) if name.startswith("E_SSL_")),
)

FAILURES = {
    "DNS failure": ("E_COULDNT_RESOLVE_HOST", "E_COULDNT_RESOLVE_PROXY"),
    "connection refused": ("E_COULDNT_CONNECT",),
    "TLS failure": TLS_ERRORS,
    "time-out": ("E_OPERATION_TIMEDOUT",),
    "body too short": ("E_PARTIAL_FILE",),
    "connection closed": ("E_SEND_ERROR", "E_RECV_ERROR", "E_GOT_NOTHING"),
}
"""What libcurl's errors mean; not every version has them all."""

PHASES = ("dns_s", "connect_s", "tls_s", "pretransfer_s", "posttransfer_s", "ttfb_s")

UNREACHED = {"DNS failure": PHASES, "connection refused": PHASES[1:], "TLS failure": PHASES[2:]}
"""Times of phases that a failed request did not come to: libcurl gives them that of the failure."""

SERVER_TIMING = "server-timing"
SERVER_TIMES = {"total": "service_s", "receive": "service_receive_s"}
"""Entries of the header `Server-Timing` (W3C) and their columns: how long the service says it had
the request, and how much of it the service waited for the rest of the request."""

Request = dict[str, Any]


def server_timings(head: Iterable[bytes]) -> dict[str, float]:
    """What the service says in the header `Server-Timing` of its answer; head: its lines."""
    times: dict[str, float] = {}
    for line in head:
        name, _, value = line.decode("latin-1").partition(":")
        if name.strip().lower() == SERVER_TIMING:
            times |= server_times(value)
    return times


def server_times(value: str) -> dict[str, float]:
    """Columns of a `Server-Timing` header, whose durations are milliseconds; entries without one
    are passed over."""
    times = {}
    for entry in value.split(","):
        name, *options = (part.strip() for part in entry.split(";"))
        for option in options:
            key, _, number = option.partition("=")
            if key.strip().lower() == "dur" and name in SERVER_TIMES:
                with contextlib.suppress(ValueError):
                    times[SERVER_TIMES[name]] = max(0.0, float(number.strip().strip('"')) / 1000)
    return times


class Body:
    """The body of an answer: counted whole, kept up to a bound."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.size = 0

    def take(self, piece: bytes) -> int:
        """Called by libcurl with each piece."""
        self.size += len(piece)
        if len(self.kept) < MOST_BODY_BYTES:
            self.kept += piece
        return len(piece)


def perform(request: Request) -> dict[str, Any]:
    """Send a request; what was measured, with the failure in words if there was one."""
    curl, body = pycurl.Curl(), Body()
    prepare(curl, request)
    if request["keep_alive"]:
        open_connection(curl, request)
    carry(curl, request)
    before = time.process_time()
    head: list[bytes] = []
    curl.setopt(pycurl.HEADERFUNCTION, head.append)
    failure = attempt(curl, body)
    used = time.process_time() - before
    answer = {**measured(curl), **server_timings(head), "client_cpu_s": used, "failure": None}
    if failure:
        kind = kind_of(failure)
        missed = UNREACHED.get(kind, () if answer["http_status"] else ("ttfb_s",))
        answer = {name: value for name, value in answer.items() if name not in missed}
        answer |= {
            "failure": in_words(failure, kind, answer, request),
            "timed_out": kind == "time-out",
        }
    elif request["keep_alive"] and answer["new_connections"]:
        answer["failure"] = (
            "keep-alive: the server had closed the connection that the first request opened"
        )
    answer["received_bytes"] = body.size
    Path(request["body_to"]).write_bytes(body.kept)
    curl.close()
    return answer


def prepare(curl: pycurl.Curl, request: Request) -> None:
    """Options that every request of this process shares."""
    curl.setopt(pycurl.NOSIGNAL, 1)
    # a proxy of the environment would be measured in the service's place
    curl.setopt(pycurl.NOPROXY, "*")
    curl.setopt(pycurl.CONNECTTIMEOUT_MS, round(request["connect_timeout_s"] * 1000))
    curl.setopt(pycurl.TIMEOUT_MS, round(request["timeout_s"] * 1000))
    curl.setopt(pycurl.SSL_VERIFYPEER, int(request["verify_tls"]))
    curl.setopt(pycurl.SSL_VERIFYHOST, 2 if request["verify_tls"] else 0)
    if request["ca_file"]:
        curl.setopt(pycurl.CAINFO, request["ca_file"])
    if not request["keep_alive"]:
        curl.setopt(pycurl.FRESH_CONNECT, 1)
        curl.setopt(pycurl.FORBID_REUSE, 1)


def open_connection(curl: pycurl.Curl, request: Request) -> None:
    """A first request for nothing, which leaves its connection open; what it is answered does not
    matter."""
    curl.setopt(pycurl.URL, request["origin"])
    curl.setopt(pycurl.NOBODY, 1)
    attempt(curl, Body())
    curl.setopt(pycurl.NOBODY, 0)


def carry(curl: pycurl.Curl, request: Request) -> None:
    """Address, method, headers and body of the request itself."""
    curl.setopt(pycurl.URL, request["url"])
    curl.setopt(pycurl.HTTPGET, 1)
    headers = [
        f"{name}: {value}" if value else f"{name};" for name, value in request["headers"].items()
    ]
    if request["form"] is not None:
        form = pycurl.CurlMime(curl)
        for name, part in request["form"].items():
            if isinstance(part, str):
                form.add_field(name, part.encode())
            else:
                form.add_file(name, part["file"], part["filename"], part["content_type"])
        curl.setopt(pycurl.MIMEPOST, form)
    elif request["body"] is not None:
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.POSTFIELDS, request["body"].encode())
    elif request["body_file"] is not None:
        path = Path(request["body_file"])
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.POSTFIELDSIZE_LARGE, path.stat().st_size)
        curl.setopt(pycurl.READDATA, path.open("rb"))
    if not request["expect_100"]:
        headers.append("Expect:")
    curl.setopt(pycurl.HTTPHEADER, headers)
    if request["method"]:
        curl.setopt(pycurl.CUSTOMREQUEST, request["method"])


def attempt(curl: pycurl.Curl, body: Body) -> pycurl.error | None:
    """Perform what is set; the error, if there was one."""
    curl.setopt(pycurl.WRITEFUNCTION, body.take)
    try:
        curl.perform()
    except pycurl.error as error:
        return error
    return None


def measured(curl: pycurl.Curl) -> dict[str, Any]:
    """Times and sizes of the last request. A time that was not reached is missing."""
    known = {
        column: getattr(pycurl, name) for column, name in TIMES.items() if hasattr(pycurl, name)
    }
    times = {column: curl.getinfo(option) / MICROSECONDS for column, option in known.items()}
    return {
        **{column: value for column, value in times.items() if value > 0 or column in PHASES[:3]},
        "sent_bytes": int(curl.getinfo(pycurl.SIZE_UPLOAD_T)),
        "http_status": int(curl.getinfo(pycurl.RESPONSE_CODE)),
        "new_connections": int(curl.getinfo(pycurl.NUM_CONNECTS)),
    }


def kind_of(error: pycurl.error) -> str:
    """What a failure is called."""
    for kind, names in FAILURES.items():
        if error.args[0] in [getattr(pycurl, name, None) for name in names]:
            return kind
    return f"libcurl error {error.args[0]}"


def in_words(error: pycurl.error, kind: str, answer: dict[str, Any], request: Request) -> str:
    """What went wrong with a request, and in which phase."""
    if kind == "connection closed":
        in_upload = (
            request["has_body"]
            and answer.get("connect_s", 0) > 0
            and "posttransfer_s" not in answer
        )
        sent = (
            f"in the middle of the upload, after {answer['sent_bytes']:,} bytes of the body were "
            "sent"
        )
        kind = f"{kind} {sent if in_upload else 'before the answer was complete'}"
    return f"{kind}: {str(error.args[1]).rstrip('.')}"


if __name__ == "__main__":
    print(json.dumps(perform(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
