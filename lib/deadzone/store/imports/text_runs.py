"""The runs in a text that a tool printed: where each begins, and what stands between them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

FIGURE = re.compile(r"^[ \t]*([A-Za-z][\w ()/.%-]*?)[ \t]*[:=][ \t]*[-+]?\d", re.MULTILINE)
"""A line that looks like one figure of a result, such as `latency stddev = 2.3 ms`."""

MARK = re.compile(r"[=#$*+>\[-]+\s*[^\s=#$*+>\[-].*")
"""A line that is set apart: `=== RUN 1 ===`, `# web-01`, `$ pgbench -c 10`."""

CHATTER = re.compile(
    r"starting vacuum|vacuuming|PASS|FAIL|ok\s|exit status|Found \d+ outliers|Benchmarking |Warning"
    r"|\d+ \(\d+\.\d+%\)|No change in|Change within|Performance has|Gnuplot|Compiling |Finished "
)
"""Beginnings of lines that tools print themselves between their results."""

LONGEST_NAME = 60
"""Characters of an unmarked line that may name a run, such as that of a host."""

ON_SCREEN = re.compile(r"\x1b\[[\d;]*m|^.*\r(?=.*\S)|\r+$", re.MULTILINE)
"""Colours, and what was on the screen before its line was written over."""

MARGIN = re.compile(r"^[ \t]+", re.MULTILINE)
"""Of a text that was copied into a page."""

WARM_UP = re.compile(r"warm.?(?:up|ing)", re.IGNORECASE)
"""What a heading says of a run that is not to be counted."""


@dataclass(frozen=True)
class TextRun:
    """One run. line: of the file at which it begins, counted from 1. heading: the nearest text
    above that is no part of a result; it holds until the next one."""

    text: str
    line: int
    heading: str | None


def plain_lines(text: str) -> str:
    """A text without colours and what was written over; as many lines as before."""
    return ON_SCREEN.sub("", text if "\n" in text else text.replace("\r", "\n"))


def flush(text: str) -> str:
    """A text whose lines begin at the left; as many lines as before."""
    return MARGIN.sub("", text)


def text_runs(
    text: str, begins: Sequence[str], is_read: Callable[[str], bool]
) -> Iterator[TextRun]:
    """The runs of a text in their order, flush left. begins: regular expressions of the lines of a
    run's head in their order, of which any may be missing. is_read: whether a line holds something
    of a result."""
    lines, text = text.split("\n"), flush(text)
    heads = "|".join(f"(?P<head{i}>{pattern})" for i, pattern in enumerate(begins))
    starts, reached = [], len(begins)
    for match in re.finditer(heads, text, re.MULTILINE):
        head = int(str(match.lastgroup).removeprefix("head"))
        if head <= reached:  # it does not go on with the head above it
            starts.append(match.start())
        reached = head
    heading, line, after = None, 1, 0
    for start, stop in pairwise([*starts, len(text)]):
        first, line = line, line + text.count("\n", after, start)
        heading = _heading(lines[first - 1 : line - 1], is_read) or heading
        after = start
        yield TextRun(text[start:stop], line, heading)


def _heading(before: Sequence[str], is_read: Callable[[str], bool]) -> str | None:
    """What names a run in the text before it: of the lines after the last that belongs to a result
    the last that is set apart, else the last short one without a colon."""
    named = None
    for line in reversed(before):
        if FIGURE.match(line) or is_read(line.lstrip()):
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
