"""Prints the tests that are known to fail now and then, with their ages, and fails while they are
more than a few.

Who sees an `unsteady` test in the last lines of `make test` or CI adds it to `tests/unsteady.txt`:
a line of the test, the date and what it said, apart by tabs. A test that is mended leaves the list,
and the commit says what raced.
"""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

LIST = Path(__file__).with_name("unsteady.txt")
MOST = 5


def lines(text: str) -> list[tuple[str, date, str]]:
    """Test, date and what it said."""
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return [(test, date.fromisoformat(seen), words) for test, seen, words in rows]


def main(path: str = str(LIST), today: str = "") -> int:
    listed = lines(Path(path).read_text())
    now = date.fromisoformat(today) if today else date.today()
    for test, seen, words in listed:
        print(f"unsteady for {(now - seen).days} days: {test}: {words}")
    if len(listed) > MOST:
        print(f"{len(listed)} tests are unsteady, {MOST} may be: mend one, see tests/unsteady.txt")
    return len(listed) > MOST


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
