"""oha: `--output-format json` (older versions: `--json`), one row a test."""

from collections.abc import Iterator

from deadzone.store.imports.document import Node
from deadzone.store.imports.json_format import JsonFormat
from deadzone.store.imports.plausible import Row
from deadzone.store.imports.result import milliseconds

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

UNCORRECTED = (
    "oha was run without --latency-correction as far as its figures show, or nothing stalled: a "
    "server that stalls is asked less often meanwhile, so the percentiles flatter it."
)
UNKNOWN = (
    "oha does not say whether it corrected latencies (--latency-correction), and its figures do "
    "not show it; without, the percentiles flatter a server that stalls."
)


def _rows(document: Node) -> Iterator[Row]:
    summary, kept = document.child("summary"), document.child("latencyPercentiles")
    failures = _counts(document, "errorDistribution")
    answers = _counts(document, "statusCodeDistribution")
    cut_off = failures.pop(CUT_OFF, 0)
    refused = sum(count for code, count in answers.items() if code[:1] not in "123")
    yield {
        "wall_s": summary.number("total"),
        "requests": sum(answers.values()),
        "achieved_rate": summary.number("requestsPerSec"),
        "latency_mean_ms": milliseconds(summary.number("average")),
        "latency_min_ms": milliseconds(summary.number("fastest")),
        **{f"latency_{p.replace('.', '_')}_ms": milliseconds(kept.number(p)) for p in PERCENTILES},
        "latency_max_ms": milliseconds(summary.number("slowest")),
        "errors": sum(failures.values()) + refused,
        "unfinished": cut_off,
        "transferred_bytes": summary.count("totalData"),
        "throughput_bytes_s": summary.number("sizePerSec"),
    }


def _counts(document: Node, key: str) -> dict[str, int]:
    """How often each happened, by its name."""
    return {name: node.count_itself() for name, node in document.entries(key).items()}


def _doubts(document: Node) -> list[str]:
    """Whether latencies count from when a request was due is not in the file; the first byte gives
    it away."""
    summary = document.child("summary")
    first_byte = document.number("details", "firstByte", "average")
    mean = summary.number("average")
    if not first_byte or mean is None:
        return [UNKNOWN]
    if mean <= ALIKE * first_byte:
        return [UNCORRECTED]
    is_small = (summary.number("sizePerRequest") or SMALL_BYTES + 1) <= SMALL_BYTES
    return [] if is_small else [UNKNOWN]


read_oha = JsonFormat(
    tool="oha",
    version="1.4",
    write="--output-format json",
    rows=_rows,
    needs=("achieved_rate",),
    traps=(),
    doubts=_doubts,
)
