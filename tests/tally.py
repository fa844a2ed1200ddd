"""One summary of several runs of pytest: what passed, what failed, what was skipped, and what would
bring each.

The runs append to a record, a line a test, with the output of what failed and the CPU time of each
(`pytest --record FILE`). `python tests/tally.py total FILE RUNS` adds it up. `python tests/tally.py
busy FILE` names the tests that measured nothing because the machine was busy, for one more run.
`python tests/tally.py last FILE...` names those that were not run for it, those that are unsteady
and those that failed, with what they said, for the last lines of CI: they are all that its reader
sees of a long log. `python tests/tally.py cost FILE` keeps the CPU time of each file of tests.
With `--skipped-in FILE` only the tests run that an earlier run had skipped.
"""

from __future__ import annotations

import json
import re
import resource
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
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

FINAL = {"kept", "hypothesis"}
"""Marks of tests that are never tried again: of what a kill or a fault leaves behind, and of
properties, whose examples are the same in each run."""

COST = Path(__file__).with_name("cost.json")
"""CPU seconds of each file of tests, when they were last kept."""

LEAST_COST_S = 1.0
MOST_FILES = 10
"""Of a file that takes or grew by less nothing is said; so many that grew are named at most."""


class Recorder:
    """Appends what becomes of each test to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()  # a test may be in another folder when it ends

    def _append(self, **line: Any) -> None:
        with self.path.open("a", encoding="utf-8") as record:
            record.write(json.dumps(line) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self._append(used=report.nodeid, cpu_s=dict(report.user_properties).get("cpu_s", 0.0))
        if report.when == "call" or report.outcome != "passed":
            reason = (
                report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
            )
            self._append(
                test=report.nodeid,
                outcome=report.outcome,
                reason=reason.removeprefix("Skipped: "),
                wall_s=round(report.duration, 2),
                **({"output": output_of(report)} if report.failed else {}),
                **({"final": True} if FINAL & set(report.keywords) else {}),
            )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read has tests that nobody counts."""
        if report.failed:
            said = {"reason": "it cannot be collected", "output": output_of(report)}
            self._append(test=report.nodeid, outcome="failed", wall_s=0.0, final=True, **said)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._append(ended=int(exitstatus))


class Meter:
    """Counts the CPU time of each test, with its fixtures and the processes that it waited for."""

    before = 0.0

    def pytest_runtest_logstart(self) -> None:
        self.before = cpu_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        report: Any = yield
        if call.when == "teardown":
            report.user_properties.append(("cpu_s", round(cpu_s() - self.before, 3)))
        return report


def cpu_s() -> float:
    """CPU time of this process and of those that it waited for [s]."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def output_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The traceback of a failure and what the test printed, the end of it where it is long."""
    texts = [report.longreprtext, *(f"-- {title}\n{text}" for title, text in report.sections)]
    return "\n".join(texts)[-MOST_OUTPUT:]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", type=Path, help="append what becomes of each test to this file")
    parser.addoption(
        "--skipped-in", type=Path, help="run only the tests that were skipped in this record"
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--record")
    if path:
        config.pluginmanager.register(Meter())
    if path and not hasattr(config, "workerinput"):  # of xdist, the process that hears of all tests
        path.parent.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(path))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what was not skipped in the record that was named, if one was."""
    path = config.getoption("--skipped-in")
    if path:
        skipped = {test for test, outcome in outcomes(read(path)).items() if outcome == "skipped"}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in skipped])
        items[:] = [item for item in items if item.nodeid in skipped]


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a record; none if there is no such file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def tries(lines: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Of each test a line for each run of pytest: an error after the test outweighs its passing."""
    by_test: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    run = 0
    for line in lines:
        run += "ended" in line
        if "test" in line:
            by_test[line["test"]][run] = line
    return {test: list(runs.values()) for test, runs in by_test.items()}


def outcomes(lines: list[dict[str, Any]]) -> dict[str, str]:
    """What became of each test: passed, skipped, failed, or unsteady, where it failed and, tried
    again, passed or could not be measured for neighbours."""
    return {test: _outcome(runs) for test, runs in tries(lines).items()}


def _outcome(runs: list[dict[str, Any]]) -> str:
    tried = {run["outcome"] for run in runs}
    if "failed" not in tried:
        return str(runs[-1]["outcome"])
    is_final = any(run["outcome"] == "failed" and run.get("final") for run in runs)
    may_pass = "passed" in tried or runs[-1]["reason"].startswith(BUSY)
    return "failed" if is_final or not may_pass else "unsteady"


def of(lines: list[dict[str, Any]], outcome: str) -> list[str]:
    """The tests of which this became."""
    return [test for test, became in outcomes(lines).items() if became == outcome]


def reasons(lines: list[dict[str, Any]]) -> dict[str, str]:
    """Why each skipped test was skipped."""
    last = tries(lines)
    return {test: last[test][-1]["reason"] for test in of(lines, "skipped")}


def busy(lines: list[dict[str, Any]]) -> list[str]:
    """The tests that were last skipped because neighbours disturbed what they measured."""
    return [test for test, reason in reasons(lines).items() if reason.startswith(BUSY)]


def has_ended(lines: list[dict[str, Any]], runs: int) -> bool:
    """Whether so many runs of pytest, or more, came to their end."""
    ends = [line["ended"] for line in lines if "ended" in line]
    return len(ends) >= runs and not set(ends) - {0, SOME_FAILED, NO_TEST_RAN}


def summary(lines: list[dict[str, Any]], runs: int) -> tuple[str, bool]:
    """The sentences of the summary, and whether all is well. runs: how many there were at least."""
    counts = Counter(outcomes(lines).values())
    said = [", ".join(f"{counts[name]} {name}" for name in ("passed", "failed", "skipped"))]
    said[0] += f", {counts['unsteady']} unsteady" if counts["unsteady"] else ""
    said += [f"FAILED {test}" for test in of(lines, "failed")]
    said += [f"unsteady, failed once: {test}" for test in of(lines, "unsteady")]
    skips = Counter(reasons(lines).values())
    said += [f"{count:5}  skipped: {reason}" for reason, count in skips.most_common()]
    packages = {
        package for reason in skips for package in re.findall(r"apt install ([\w.+-]+)", reason)
    }
    if packages:
        said.append(
            "On Debian and Ubuntu most of these run after: apt install "
            f"{' '.join(sorted(packages))}"
        )
    said += [f"not run, the machine was too busy: {test}" for test in busy(lines)]
    said += grown(costs(lines), json.loads(COST.read_text()) if COST.is_file() else {})
    if not has_ended(lines, runs):
        said.append(
            "Not all tests were run: a run of pytest was interrupted, or could not begin; see "
            "above."
        )
    return "\n".join(said), has_ended(lines, runs) and not counts["failed"]


def costs(lines: list[dict[str, Any]]) -> dict[str, float]:
    """CPU seconds by file of tests."""
    by_file: Counter[str] = Counter()
    for line in lines:
        if "used" in line:
            by_file[file_of(line["used"])] += line["cpu_s"]
    return {file: round(cpu, 1) for file, cpu in sorted(by_file.items())}


def file_of(test: str) -> str:
    """The file that a test stands in."""
    return test.partition("::")[0]


def grown(now: dict[str, float], then: dict[str, float]) -> list[str]:
    """The CPU time of all tests in words, and of those that grew most, by what this machine takes
    for the others."""
    both = [file for file in now if then.get(file, 0.0) >= LEAST_COST_S]
    pace = statistics.median(now[file] / then[file] for file in both) if both else 1.0
    more = {file: now[file] - pace * then.get(file, 0.0) for file in now}
    most = sorted(more, key=lambda file: -more[file])[: MOST_FILES if then else 0]
    return [
        f"{sum(now.values()):,.0f} s of CPU time in tests",
        *(
            f"{now[file]:7.1f} s, {pace * then.get(file, 0.0):.1f} s of it expected: {file}"
            for file in most
            if more[file] > LEAST_COST_S
        ),
    ]


def main(action: str, *arguments: str) -> int:
    """What the make file and CI ask for; see the top of this file."""
    records = [read(Path(path)) for path in arguments if not path.isdecimal()]
    if action == "total":
        text, is_well = summary(records[0], int(arguments[1]))
        print(f"\n{text}")
        return 0 if is_well else 1
    if action == "cost":
        kept = {file: cpu for file, cpu in costs(records[0]).items() if cpu >= LEAST_COST_S}
        COST.write_text(json.dumps(kept, indent=0) + "\n")
    for lines in records if action in ("busy", "last") else []:
        said = said_last(lines) if action == "last" else map("{}\n".format, busy(lines))
        print(*said, sep="", end="")
    return 0


def said_last(lines: list[dict[str, Any]]) -> Iterator[str]:
    """What was not run, what is unsteady and what failed, with what it said."""
    yield from (f"NOT RUN, the machine was too busy: {test}\n" for test in busy(lines))
    for outcome in ("unsteady", "failed"):
        yield from (f"{outcome.upper()} {test}\n{why(lines, test)}" for test in of(lines, outcome))


def why(lines: list[dict[str, Any]], test: str) -> str:
    """The lines in which pytest says what was wrong, of the last try of a test that failed."""
    outputs = [run["output"] for run in tries(lines)[test] if "output" in run]
    last = outputs[-1].splitlines() if outputs else []
    said = [line[:MOST_COLUMNS] for line in last if line.startswith("E  ")]
    return "".join(f"    {line}\n" for line in said[:MOST_LINES])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
