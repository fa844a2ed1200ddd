"""The runs in a text that a tool printed: where each begins, and what stands between them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

FIGURE = re.compile(r"^[ \t]*([A-Za-z][\w ()/.%-]*?)[ \t]*[:=][ \t]*[-+]?\d", re.MULTILINE)
"""A line that looks like one figure of a result, such as `latency stddev = 2.3 ms`."""

MARK = re.compile(r"[=#$*+>\[-]+\s*[^\s=#$*+>\[-].*")
"""A line that is set apart: `=== RUN 1 ===`, `# web-01`, `$ pgbench -c 10`."""

CHATTER = re.compile(
    r"starting vacuum|vacuuming|PASS|FAIL|ok\s|exit status|Found \d+ outliers|Benchmarking |Warning"
)
"""Beginnings of lines that tools print themselves between their results."""

LONGEST_NAME = 60
"""Characters of an unmarked line that may name a run, such as that of a host."""

WARM_UP = re.compile(r"warm.?(?:up|ing)", re.IGNORECASE)
"""What a heading says of a run that is not to be counted."""


@dataclass(frozen=True)
class TextRun:
    """One run. line: of the file at which it begins, counted from 1. heading: the nearest text
    above that is no part of a result; it holds until the next one."""

    text: str
    line: int
    heading: str | None


def text_runs(text: str, begins: str, is_read: Callable[[str], bool]) -> Iterator[TextRun]:
    """The runs of a text in their order. begins: a regular expression of how one begins. is_read:
    whether a line holds something of a result."""
    starts = [match.start() for match in re.finditer(begins, text, re.MULTILINE)]
    heading, line, after = None, 1, 0
    for start, stop in pairwise([*starts, len(text)]):
        heading = _heading(text[after:start], is_read) or heading
        line += text.count("\n", after, start)
        after = start
        yield TextRun(text[start:stop], line, heading)


def _heading(before: str, is_read: Callable[[str], bool]) -> str | None:
    """What names a run in the text before it: of the lines after the last that belongs to a result
    the last that is set apart, else the last short one without a colon."""
    named = None
    for line in reversed(before.splitlines()):
        if FIGURE.match(line) or is_read(line):
            break
        if MARK.fullmatch(line.rstrip()):
            return line.strip("=#*+>[]- \t")
        if (
            named is None
            and re.match(r"\w", line)
            and len(line) <= LONGEST_NAME
            and not re.search("[:=]", line.rstrip(": "))
            and not CHATTER.match(line)
        ):
            named = line.rstrip(": \t")
    return named


def not_read(text: str, spans: list[tuple[int, int]]) -> list[str]:
    """Names of the figures in a text that lie outside what was read, each once. spans: what was
    read, from and to."""
    return list(
        dict.fromkeys(
            found[1]
            for found in FIGURE.finditer(text)
            if not any(start < found.end() and found.start() < stop for start, stop in spans)
        )
    )
