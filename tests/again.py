"""Tries the files of failed tests once more, one at a time, when the machine is quieter.

`python tests/again.py RECORD [OPTION OF PYTEST]...` appends to the record; `tests/tally.py` calls
a test that passes now unsteady. A defect fails again; a race on a busy machine seldom does, and
must not lose the work that the check guards.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import tally

MOST_FAILED = 10
"""With more failures than this something is broken, and nothing is tried again. What a file's tests
share may fail all of them: where they say the same, they count as one."""

QUIET_CORES = 0.5
LONGEST_WAIT_S = 120.0
LOOK_S = 2.0
"""How much of the machine others may use, how long this is waited for, and over what measured."""


def files(lines: list[dict[str, Any]]) -> list[str]:
    """The files to try again, with at least one failed test that may pass now."""
    failed = tally.of(lines, "failed")
    faults = {(tally.file_of(test), tally.why(lines, test) or test) for test in failed}
    if len(faults) > MOST_FAILED:
        return []
    last = tally.tries(lines)
    return sorted({tally.file_of(test) for test in failed if not last[test][-1].get("final")})


def wait_until_quiet() -> None:
    """Wait until other processes leave the machine alone, for two minutes at most."""
    until = time.monotonic() + LONGEST_WAIT_S
    cores = psutil.cpu_count() or 1
    while psutil.cpu_percent(LOOK_S) / 100 * cores >= QUIET_CORES and time.monotonic() < until:
        pass


def main(record: str, *options: str) -> None:
    for file in files(tally.read(Path(record))):
        wait_until_quiet()
        print(f"tried again: {file}", flush=True)
        subprocess.run((sys.executable, "-m", "pytest", "--record", record, *options, file))


if __name__ == "__main__":
    main(*sys.argv[1:])
