"""One HTTP request with libcurl, timed phase by phase: a small program of its own, so that its CPU
time is known.

    python -m deadzone_services.http_client REQUEST

REQUEST is a JSON file that says what to send; the answer's timings leave as JSON on standard
output, the body goes to the file that the request names. Times come from libcurl's *_TIME_T, which
are microseconds since the request began.

A trap that `curl -w` has too: before a large upload libcurl asks for leave with `Expect:
100-continue`, and STARTTRANSFER then is the time of that leave, whatever the server does
afterwards. So an empty `Expect:` is sent.
"""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pycurl

MICROSECONDS = 1e6

CONNECT_TIMEOUT_MS = 10_000
"""Longest time until it is connected."""

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

DURATION = re.compile(r'(?i)(?:^|;)\s*dur\s*=\s*"?(\d+\.?\d*)')

Request = dict[str, Any]


def server_times(value: str) -> dict[str, float]:
    """Columns of the `Server-Timing` headers of an answer, whose durations are milliseconds;
    entries without one are passed over."""
    entries = [entry.partition(";") for entry in value.split(",")]
    return {
        SERVER_TIMES[name.strip()]: float(duration[1]) / 1000
        for name, _, options in entries
        if name.strip() in SERVER_TIMES and (duration := DURATION.search(options))
    }


def perform(request: Request) -> dict[str, Any]:
    """Send a request; what was measured, with the failure in words if there was one."""
    curl, head, kept = pycurl.Curl(), list[bytes](), bytearray()

    def keep(piece: bytes) -> None:
        if len(kept) < MOST_BODY_BYTES:
            kept.extend(piece)

    carry(curl, request)
    curl.setopt(pycurl.WRITEFUNCTION, keep)
    curl.setopt(pycurl.HEADERFUNCTION, head.append)
    before, failure = time.process_time(), None
    try:
        curl.perform()
    except pycurl.error as error:
        failure = error
    used = time.process_time() - before
    lines = (line.decode("latin-1").partition(":") for line in head)
    said = ",".join(text for name, _, text in lines if name.strip().lower() == SERVER_TIMING)
    answer = {**measured(curl), **server_times(said), "client_cpu_s": used, "failure": None}
    if failure:
        kind = kind_of(failure)
        missed = UNREACHED.get(kind, () if answer["http_status"] else ("ttfb_s",))
        answer = {name: value for name, value in answer.items() if name not in missed}
        answer["failure"] = in_words(failure, kind, answer, request)
        answer["timed_out"] = kind == "time-out"
    Path(request["body_to"]).write_bytes(kept)
    return answer


def carry(curl: pycurl.Curl, request: Request) -> None:
    """Address, method, headers and body of the request, and its bounds."""
    headers = [
        f"{name}: {value}" if value else f"{name};" for name, value in request["headers"].items()
    ]
    options = {
        pycurl.NOSIGNAL: 1,
        # a proxy of the environment would be measured in the service's place
        pycurl.NOPROXY: "*",
        pycurl.CONNECTTIMEOUT_MS: CONNECT_TIMEOUT_MS,
        pycurl.TIMEOUT_MS: round(request["timeout_s"] * 1000),
        pycurl.SSL_VERIFYPEER: int(request["verify_tls"]),
        pycurl.SSL_VERIFYHOST: 2 if request["verify_tls"] else 0,
        pycurl.CAINFO: request["ca_file"],
        pycurl.URL: request["url"],
        pycurl.HTTPHEADER: ["Expect:", *headers],
        pycurl.CUSTOMREQUEST: request["method"],
        pycurl.NOBODY: 1 if request["method"] == "HEAD" else None,
    }
    if request["form"] is not None:
        form = pycurl.CurlMime(curl)
        for name, part in request["form"].items():
            if isinstance(part, str):
                form.add_field(name, part.encode())
            else:
                form.add_file(name, part["file"], part["filename"], part["content_type"])
        options[pycurl.MIMEPOST] = form
    elif request["body"] is not None:
        options[pycurl.POSTFIELDS] = request["body"].encode()
    elif request["body_file"] is not None:
        path = Path(request["body_file"])
        options[pycurl.POST] = 1
        options[pycurl.POSTFIELDSIZE_LARGE] = path.stat().st_size
        options[pycurl.READDATA] = path.open("rb")
    for option, value in options.items():
        if value is not None:
            curl.setopt(option, value)


def measured(curl: pycurl.Curl) -> dict[str, Any]:
    """Times and sizes of the last request. A time that was not reached is missing."""
    known = {
        column: getattr(pycurl, name) for column, name in TIMES.items() if hasattr(pycurl, name)
    }
    times = {column: curl.getinfo(option) / MICROSECONDS for column, option in known.items()}
    return {
        **{column: value for column, value in times.items() if value > 0 or column in PHASES[:3]},
        "sent_bytes": int(curl.getinfo(pycurl.SIZE_UPLOAD_T)),
        "received_bytes": int(curl.getinfo(pycurl.SIZE_DOWNLOAD_T)),
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
        uploads = request["has_body"] and answer.get("connect_s", 0) > 0
        kind += (
            f" in the middle of the upload, after {answer['sent_bytes']:,} bytes of the body"
            if uploads and "posttransfer_s" not in answer
            else " before the answer was complete"
        )
    return f"{kind}: {str(error.args[1]).rstrip('.')}"


if __name__ == "__main__":
    print(json.dumps(perform(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
