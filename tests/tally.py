"""One summary of several runs of pytest: what passed, what failed, what was skipped, and what would
bring each.

The runs append to a record, a line a test, with the output of what failed (`pytest --record FILE`).
`python tests/tally.py total FILE RUNS` adds it up. `python tests/tally.py busy FILE` names the
tests that measured nothing because the machine was busy, for one more run. `python tests/tally.py
not-run FILE...` names those that were skipped for it in both, and what failed with what it said,
for the last lines of CI: they are all that its reader sees of a long log. With `--skipped-in FILE`
only the tests run that an earlier run had skipped.
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
"""Exit codes of pytest: which failed is on the record, and a half without tests to run is no
failure of theirs."""

MOST_OUTPUT = 20_000
"""Characters of a failure's output that are kept: a traceback and what the test printed last."""


MOST_LINES = 12
MOST_COLUMNS = 300
"""Of what a failure said, in the last lines of CI."""

BUSY = "this machine is too busy to measure it: "
"""How the reason of a skip begins that says so. Such a test is tried once more; CI names those that
were not run."""

MISSED = ("rerun", "failed")
"""Outcomes of a try that did not pass."""


class Recorder:
    """Appends what becomes of each test to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _append(self, **line: Any) -> None:
        with self.path.open("a", encoding="utf-8") as record:
            record.write(json.dumps(line) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            reason = (
                report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
            )
            output = {"output": output_of(report)} if report.outcome in MISSED else {}
            self._append(
                test=report.nodeid,
                outcome=report.outcome,
                reason=reason.removeprefix("Skipped: "),
                wall_s=round(report.duration, 2),
                **output,
            )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read has tests that nobody counts."""
        if report.failed:
            self._append(
                test=report.nodeid,
                outcome="failed",
                reason="it cannot be collected",
                wall_s=0.0,
                output=output_of(report),
            )

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._append(ended=int(exitstatus))


def output_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The traceback of a failure and what the test printed, the end of it where it is long."""
    texts = [report.longreprtext, *(f"-- {title}\n{text}" for title, text in report.sections)]
    return "\n".join(texts)[-MOST_OUTPUT:]


def addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", type=Path, help="append what becomes of each test to this file")
    parser.addoption(
        "--skipped-in", type=Path, help="run only the tests that were skipped in this record"
    )


def configure(config: pytest.Config) -> None:
    path = config.getoption("--record")
    if path and not hasattr(config, "workerinput"):  # of xdist, the process that hears of all tests
        path.parent.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(path))


def keep_skipped(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what was not skipped in the record that was named, if one was."""
    path = config.getoption("--skipped-in")
    if path:
        wanted = {
            test for test, (outcome, _) in outcomes(read(path)).items() if outcome == "skipped"
        }
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
        items[:] = [item for item in items if item.nodeid in wanted]


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a record; none if there is no such file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def outcomes(lines: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """What became of each test at last, and why it was skipped: an error after the test outweighs
    its passing."""
    found: dict[str, tuple[str, str]] = {}
    for line in lines:
        if "test" in line:
            found[line["test"]] = line["outcome"], line["reason"]
    return found


def failed(lines: list[dict[str, Any]]) -> list[str]:
    """The tests that failed when they were last tried."""
    return [test for test, (outcome, _) in outcomes(lines).items() if outcome == "failed"]


def busy(lines: list[dict[str, Any]]) -> list[str]:
    """The tests that were last skipped because neighbours disturbed what they measured."""
    return [
        test
        for test, (outcome, reason) in outcomes(lines).items()
        if outcome == "skipped" and reason.startswith(BUSY)
    ]


def summary(lines: list[dict[str, Any]], runs: int) -> tuple[str, bool]:
    """The sentences of the summary, and whether all is well. runs: how many runs there were at
    least."""
    last = outcomes(lines)
    counts = Counter(outcome for outcome, _ in last.values())
    missed = {line["test"] for line in lines if line.get("outcome") in MISSED}
    again = sorted(test for test in missed if last[test][0] == "passed")
    said = [
        f"{counts['passed']} passed ({len(again)} of them not at once), {counts['failed']} failed, "
        f"{counts['skipped']} skipped"
    ]
    said += [f"FAILED {test}" for test in failed(lines)]
    said += [f"passed when tried once more: {test}" for test in again]
    reasons = Counter(reason for outcome, reason in last.values() if outcome == "skipped")
    said += [f"{count:5}  skipped: {reason}" for reason, count in reasons.most_common()]
    packages = {
        package for reason in reasons for package in re.findall(r"apt install ([\w.+-]+)", reason)
    }
    if packages:
        said.append(
            "On Debian and Ubuntu most of these run after: apt install "
            f"{' '.join(sorted(packages))}"
        )
    said += [f"not run, the machine was too busy: {test}" for test in busy(lines)]
    ends = [line["ended"] for line in lines if "ended" in line]
    all_ended = len(ends) >= runs and not set(ends) - {0, SOME_FAILED, NO_TEST_RAN}
    if not all_ended:
        said.append(
            "Not all tests were run: a run of pytest was interrupted, or could not begin; see "
            "above."
        )
    return "\n".join(said), all_ended and not counts["failed"]


def main(action: str, *arguments: str) -> int:
    """What the make file and CI ask for; see the top of this file."""
    if action == "total":
        text, is_well = summary(read(Path(arguments[0])), int(arguments[1]))
        print(f"\n{text}")
        return 0 if is_well else 1
    for path in arguments:
        lines = read(Path(path))
        for test in busy(lines):
            print(test if action == "busy" else f"NOT RUN, the machine was too busy: {test}")
        if action == "not-run":
            print("".join(f"FAILED {test}\n{why(lines, test)}" for test in failed(lines)), end="")
    return 0


def why(lines: list[dict[str, Any]], test: str) -> str:
    """The lines in which pytest says what was wrong, of the last try of a test."""
    output = [line.get("output", "") for line in lines if line.get("test") == test][-1]
    said = [line[:MOST_COLUMNS] for line in output.splitlines() if line.startswith("E  ")]
    return "".join(f"    {line}\n" for line in said[:MOST_LINES])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
