"""oha: `--output-format json` (older versions: `--json`), one row a test."""

from pathlib import Path

from deadzone.errors import FormatError
from deadzone.store.imports.document import Node, number_in, parse_json, text_of
from deadzone.store.imports.result import READERS, Results, Row, milliseconds

TOOL = "oha"

PERCENTILES = ("p50", "p75", "p90", "p95", "p99", "p99.9")

CUT_OFF = "aborted due to deadline"
"""What oha says of requests that were under way when the test ended."""

ALIKE = 1.05
"""Mean response time over mean time to the first byte up to which the two are one measurement. With
latency correction the first counts from when a request was due, the second from when it was sent.
"""

SMALL_BYTES = 2**16
"""Answers up to this size take no time to read beyond the first byte, so the difference cannot come
from that."""

TOLD = READERS[TOOL]


def read_oha(path: Path) -> Results:
    """One row of an oha result. Seconds become milliseconds. Raises FormatError if the file is
    none."""
    document = parse_json(text_of(path), path, TOOL)
    summary = document.child("summary")
    if "requestsPerSec" not in summary or "latencyPercentiles" not in document:
        raise FormatError(
            f"{path}: is no result of oha: 'requestsPerSec' or 'latencyPercentiles' is missing."
        )
    errors, cut_off, answered = _outcomes(document, path)
    kept = document.child("latencyPercentiles")
    row: Row = {
        "wall_s": summary.number("total"),
        "requests": answered,
        "achieved_rate": summary.number("requestsPerSec"),
        "latency_mean_ms": milliseconds(summary.number("average")),
        "latency_min_ms": milliseconds(summary.number("fastest")),
        **{f"latency_{p.replace('.', '_')}_ms": milliseconds(kept.number(p)) for p in PERCENTILES},
        "latency_max_ms": milliseconds(summary.number("slowest")),
        "errors": errors,
        "unfinished": cut_off,
        "transferred_bytes": summary.count("totalData"),
        "throughput_bytes_s": summary.number("sizePerSec"),
    }
    return Results.read(path.name, TOOL, [row], _doubts(document, summary))


def _outcomes(document: Node, path: Path) -> tuple[int, int, int]:
    """Requests that failed, that the end cut off, and that were answered."""
    failures = {
        reason: node.count_itself()
        for reason, node in document.entries("errorDistribution").items()
    }
    cut_off = failures.pop(CUT_OFF, 0)
    answers = {
        number_in(code, path, "a status code") or 0: node.count_itself()
        for code, node in document.entries("statusCodeDistribution").items()
    }
    refused = sum(count for code, count in answers.items() if code >= 400)
    return sum(failures.values()) + refused, cut_off, sum(answers.values())


def _doubts(document: Node, summary: Node) -> list[str]:
    """Whether latencies count from when a request was due is not in the file; the first byte gives
    it away."""
    first_byte = document.number("details", "firstByte", "average")
    mean = summary.number("average")
    if not first_byte or mean is None:
        return [TOLD["unknown"]]
    if mean <= ALIKE * first_byte:
        return [TOLD["uncorrected"]]
    return (
        []
        if (summary.number("sizePerRequest") or SMALL_BYTES + 1) <= SMALL_BYTES
        else [TOLD["unknown"]]
    )
