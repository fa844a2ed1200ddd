"""oha: `--output-format json` (older versions: `--json`), one row a test."""

from typing import Any

from deadzone.store.imports.formats import json_format
from deadzone.store.imports.plausible import Row

CUT_OFF = "aborted due to deadline"
"""What oha says of requests that were under way when the test ended."""

ALIKE = 1.05
"""Mean response time over mean time to the first byte up to which the two are one measurement. With
latency correction the first counts from when a request was due, the second from when it was sent.
"""

SMALL_BYTES = 2**16
"""Answers up to this size take no time to read beyond the first byte, so the difference cannot come
from that."""

UNCORRECTED = (
    "oha was run without --latency-correction as far as its figures show, or nothing stalled: a "
    "server that stalls is asked less often meanwhile, so the percentiles flatter it."
)
UNKNOWN = (
    "oha does not say whether it corrected latencies (--latency-correction), and its figures do "
    "not show it; without, the percentiles flatter a server that stalls."
)


def _outcomes(document: Any) -> Row:
    """What became of the requests, from how often each kind of answer and failure happened."""
    answers = document.get("statusCodeDistribution") or {}
    failures = {**(document.get("errorDistribution") or {})}
    unfinished = failures.pop(CUT_OFF, 0)
    refused = sum(n for code, n in answers.items() if code[:1] not in "123")
    return {
        "requests": sum(answers.values()),
        "errors": sum(failures.values()) + refused,
        "unfinished": unfinished,
    }


def _doubts(document: Any) -> list[str]:
    """Whether latencies count from when a request was due is not in the file; the first byte gives
    it away."""
    summary = document["summary"]
    first_byte = ((document.get("details") or {}).get("firstByte") or {}).get("average")
    mean = summary.get("average")
    if not first_byte or mean is None:
        return [UNKNOWN]
    if mean <= ALIKE * first_byte:
        return [UNCORRECTED]
    is_small = (summary.get("sizePerRequest") or SMALL_BYTES + 1) <= SMALL_BYTES
    return [] if is_small else [UNKNOWN]


read_oha = json_format("oha", more=_outcomes, doubts=_doubts)
