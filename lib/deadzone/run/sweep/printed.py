"""What a program printed, as counts: from these it is seen whether its trials ended alike, and did
the same work."""

import re
from collections.abc import Mapping

ERROR_WORDS = re.compile(
    r"\b(errors?|fatal|panic(ked)?|exception|traceback|failed|failure|aborted|denied|refused|killed|"
    r"segmentation fault|out of memory)\b|오류|실패",
    re.IGNORECASE,
)
"""Words with which programs say that they did not do their work."""

THINGS = (
    "items", "frames", "rows", "records", "files", "lines", "requests", "messages", "transactions",
    "queries", "jobs", "tasks", "events", "entries", "documents", "docs", "images", "packets",
    "points", "objects", "pages", "keys", "inserts", "samples", "tuples", "orders", "tests",
    "commands", "packages",
)  # fmt: skip
"""What programs say they worked on. Bytes are not among them, for a setting that compresses better
prints fewer, nor iterations, for one that converges faster takes fewer."""

NOT_DONE = {
    "failed", "skipped", "rejected", "errored", "missing", "ignored", "dropped", "pending",
    "remaining", "left", "cached", "filtered", "invalid", "lost", "deleted", "retried", "slow",
    "error", "errors", "max", "min", "open", "per",
}  # fmt: skip
"""Words beside a thing that do not say how many of it were done."""


NAMES = {
    form: thing
    for thing in THINGS
    for form in (thing, re.sub("ies$", "y", thing).removesuffix("s"))
}
"""The thing by its plural and its singular."""

MOST_COUNTS = 8
"""A program that prints more of them prints a table and no report of what it did."""

REPORT_BYTES = 16_384
"""What was done is said at the end."""

WORD = r"[^\W\d]+"
COUNT = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?!\w|[.,]\w)"
THING = rf"\b(?:{'|'.join(NAMES)})\b"
DONE = r"(?:[^\W\d]*ed|done|read|written|sent|ok)\b"
UNIT = r"(?:[/%]|(?:per|s|sec|secs|seconds|ms|us|ns|min|minutes|kb|mb|gb|bytes)\b)"
"""What is measured in these is no count of the thing before it."""

COUNTED = re.compile(
    rf"(?<![\w.,])(?P<number>{COUNT})[.,]?(?P<words>(?:\s+{WORD}){{0,2}}?\s+{THING}(?!\s*(?:/|per\b))"
    rf"(?:\s+{DONE})?)"
    rf"|(?:of\s+)?(?P<named>(?:\b{WORD}\s+)?{THING})"
    rf"(?:(?P<behind>(?:\s+{WORD}){{0,2}})\s*[:=]|(?=\s))\s*(?P<told>{COUNT})(?!\s*{UNIT})"
)
"""`5000 rows processed`, or `events: 17`."""


def printed_counts(stdout: str, stderr: str, units: Mapping[str, str]) -> dict[str, int | str]:
    """Columns of the tidy table: how much was printed, the lines with an error word, the units
    beside the responses, and what the program says it did.

    stdout, stderr: the end of what was printed, as far as it is kept. units: by response.
    """
    lines, complaints = stdout.splitlines(), stderr.splitlines()
    return {
        "stdout_bytes": len(stdout.encode()),
        "stdout_lines": len(lines),
        "stderr_lines": len(complaints),
        "error_lines": sum(1 for line in (*lines, *complaints) if ERROR_WORDS.search(line)),
        "printed_units": " ".join(f"{name}={unit}" for name, unit in units.items()),
        "printed_work": " ".join(
            f"{name}={count}" for name, count in work_of(f"{stdout}\n{stderr}").items()
        ),
    }


def work_of(text: str) -> dict[str, int]:
    """What a program says it did: `5000 rows processed`, `events: 17`, `frame=  100`; of each the
    last that it printed.

    Counts are whole numbers; a rate (`rows/s`) is none.
    """
    counts: dict[str, int] = {}
    for line in text[-REPORT_BYTES:].lower().replace("_", " ").splitlines():
        for match in COUNTED.finditer(line):
            words = (match["words"] or f"{match['named']}{match['behind'] or ''}").split()
            if not NOT_DONE & {*words}:
                name = "_".join(NAMES.get(word, word) for word in words)
                counts[name] = int((match["number"] or match["told"]).replace(",", ""))
    return counts if len(counts) <= MOST_COUNTS else {}
