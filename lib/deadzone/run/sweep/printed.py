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


def _singular(thing: str) -> str:
    return f"{thing[:-3]}y" if thing.endswith("ies") else thing[:-1]


NAMES = {form: thing for thing in THINGS for form in (thing, _singular(thing))}
"""The thing by its plural and its singular."""

MOST_COUNTS = 8
"""A program that prints more of them prints a table and no report of what it did."""

REPORT_BYTES = 16_384
"""What was done is said at the end."""

TOKEN = re.compile(r"[^\W\d_]+|\d[\w.,]*|[^\s\w]")
WHOLE = re.compile(r"(\d{1,15}|\d{1,3}(?:,\d{3}){1,4})[.,]?")
DONE = re.compile(r".*ed|done|read|written|sent|ok")
"""The word behind a thing that says what became of it."""

UNITS = {
    "/",
    "%",
    "per",
    "s",
    "sec",
    "secs",
    "seconds",
    "ms",
    "us",
    "ns",
    "min",
    "minutes",
    "kb",
    "mb",
    "gb",
    "bytes",
}
"""What is measured in these is no count of the thing before it."""


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
    for line in text[-REPORT_BYTES:].splitlines():
        tokens = TOKEN.findall(line.lower())
        for at, word in enumerate(tokens):
            if word in NAMES and tokens[at + 1 : at + 2] not in (["/"], ["per"]):
                words, number = _counted(tokens, at)
                if number and not NOT_DONE & set(words):
                    counts["_".join(words)] = int(number.replace(",", ""))
    return counts if len(counts) <= MOST_COUNTS else {}


def _counted(tokens: list[str], at: int) -> tuple[list[str], str]:
    """The words of a count whose thing stands at a place in a line, and its number; empty where
    there is none."""
    thing, behind = NAMES[tokens[at]], at + 1
    first = at
    while first > 0 and at - first < 2 and tokens[first - 1].isalpha():
        first -= 1
    sentences = (
        [thing, tokens[behind]]
        if behind < len(tokens) and DONE.fullmatch(tokens[behind])
        else [thing]
    )
    if first > 0 and (number := WHOLE.fullmatch(tokens[first - 1])):
        return [*tokens[first:at], *sentences], number[1]
    while behind < len(tokens) and behind - at <= 2 and tokens[behind].isalpha():
        behind += 1
    word_before = [word for word in tokens[max(first, at - 1) : at] if word != "of"]
    words = [*word_before, thing, *tokens[at + 1 : behind]]
    equals = tokens[behind : behind + 1] in ([":"], ["="])
    number = WHOLE.fullmatch("".join(tokens[behind + equals : behind + equals + 1]))
    has_unit = UNITS & set(tokens[behind + equals + 1 : behind + equals + 2])
    stands = equals or behind == at + 1
    return words, number[1] if number and stands and not has_unit else ""
