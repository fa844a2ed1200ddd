"""One summary of several runs of pytest: what passed, what failed, what was skipped, and what would bring each.

The runs append to a record, a line a test (`pytest --record FILE`); `python tests/tally.py FILE RUNS` adds it up, and
`python tests/tally.py FILE` names what failed, so that one more run can try it. With `--skipped-in FILE` only the tests run that
an earlier run had skipped.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

SOME_FAILED = 1
NO_TEST_RAN = 5
"""Exit codes of pytest: which failed is on the record, and a half without tests to run is no failure of theirs."""


class Recorder:
    """Appends what becomes of each test to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _append(self, **line: Any) -> None:
        with self.path.open("a", encoding="utf-8") as record:
            record.write(json.dumps(line) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
            self._append(
                test=report.nodeid,
                outcome=report.outcome,
                reason=reason.removeprefix("Skipped: "),
                wall_s=round(report.duration, 2),
            )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read has tests that nobody counts."""
        if report.failed:
            self._append(test=report.nodeid, outcome="failed", reason="it cannot be collected", wall_s=0.0)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._append(ended=int(exitstatus))


def addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", type=Path, help="append what becomes of each test to this file")
    parser.addoption("--skipped-in", type=Path, help="run only the tests that were skipped in this record")


def configure(config: pytest.Config) -> None:
    path = config.getoption("--record")
    if path and not hasattr(config, "workerinput"):  # of xdist, the process that hears of all tests
        path.parent.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(path))


def keep_skipped(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what was not skipped in the record that was named, if one was."""
    path = config.getoption("--skipped-in")
    if path:
        wanted = {test for test, (outcome, _) in outcomes(read(path)).items() if outcome == "skipped"}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
        items[:] = [item for item in items if item.nodeid in wanted]


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a record; none if there is no such file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def outcomes(lines: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """What became of each test at last, and why it was skipped: an error after the test outweighs its passing."""
    found: dict[str, tuple[str, str]] = {}
    for line in lines:
        if "test" in line:
            found[line["test"]] = line["outcome"], line["reason"]
    return found


def failed(lines: list[dict[str, Any]]) -> list[str]:
    """The tests that failed when they were last tried."""
    return [test for test, (outcome, _) in outcomes(lines).items() if outcome == "failed"]


def summary(lines: list[dict[str, Any]], runs: int) -> tuple[str, bool]:
    """The sentences of the summary, and whether all is well. runs: how many runs there were at least."""
    last = outcomes(lines)
    counts = Counter(outcome for outcome, _ in last.values())
    missed = {line["test"] for line in lines if line.get("outcome") in ("rerun", "failed")}
    again = sorted(test for test in missed if last[test][0] == "passed")
    said = [
        f"{counts['passed']} passed ({len(again)} of them not at once), {counts['failed']} failed, {counts['skipped']} skipped"
    ]
    said += [f"FAILED {test}" for test in failed(lines)]
    said += [f"passed when tried once more: {test}" for test in again]
    reasons = Counter(reason for outcome, reason in last.values() if outcome == "skipped")
    said += [f"{count:5}  skipped: {reason}" for reason, count in reasons.most_common()]
    packages = {package for reason in reasons for package in re.findall(r"apt install ([\w.+-]+)", reason)}
    if packages:
        said.append(f"On Debian and Ubuntu most of these run after: apt install {' '.join(sorted(packages))}")
    ends = [line["ended"] for line in lines if "ended" in line]
    all_ended = len(ends) >= runs and not set(ends) - {0, SOME_FAILED, NO_TEST_RAN}
    if not all_ended:
        said.append("Not all tests were run: a run of pytest was interrupted, or could not begin; see above.")
    return "\n".join(said), all_ended and not counts["failed"]


if __name__ == "__main__":
    record = read(Path(sys.argv[1]))
    if not sys.argv[2:]:
        sys.stdout.writelines(f"{test}\n" for test in failed(record))
        sys.exit()
    text, is_well = summary(record, int(sys.argv[2]))
    print(f"\n{text}")
    sys.exit(0 if is_well else 1)
