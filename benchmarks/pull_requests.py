"""Measure how often `compare --checkout` speaks of a commit that changes nothing, and how often it
finds one that does 5 % more work; write the table.

    python benchmarks/pull_requests.py [--alike 60] [--slower 20] [--minutes 170]

Each job makes a git repository with two commits of a program and runs the command, as a pipeline
does, for a minute; its comment is to be empty where the commits do the same. A change that is left
undecided is measured once more, as many minutes as ten allow. Jobs that are done lie in build/, and
the same command goes on. Writes docs/benchmarks/pull_requests.md; nothing in it is typed by hand.
Measure on a quiet machine.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from scipy.stats import binomtest

from deadzone import __version__
from deadzone.errors import EXIT_FINDING
from deadzone.store.provenance import cpu_model, operating_system, usable_cores

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "pull_requests.md"
DONE = ROOT / "build" / "pull_requests.jsonl"

JOB_S, LONGER_S = 60, 540
"""Of a job, and of its second measurement where the first leaves it undecided."""

PROGRAM_S = 0.4
"""What each program takes, about; the work is set for it on the machine that measures."""

MORE = 1.05

PROGRAMS = {
    "hashing": (
        "import hashlib\nblock = bytes(1 << 16)\n"
        "for _ in range(WORK):\n    hashlib.sha256(block).digest()\n"
    ),
    "sorting": (
        "import random\nrandom.seed(1)\nlines = [str(random.random()) for _ in range(20_000)]\n"
        "for _ in range(WORK):\n    sorted(lines)\n"
    ),
    "sqlite": (
        "import sqlite3\ndb = sqlite3.connect(':memory:')\n"
        "db.execute('create table t (n integer primary key, text text)')\n"
        "for i in range(WORK):\n"
        "    db.executemany('insert into t values (?, ?)', ((1000 * i + n, 'x' * n) for n in "
        "range(1000)))\n    db.execute('select sum(length(text)) from t').fetchone()\n"
    ),
}


def main() -> int:
    """Measure what is left, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alike", type=int, default=60)
    parser.add_argument("--slower", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=170, help="no job begins after these")
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    DONE.parent.mkdir(exist_ok=True)
    jobs = [*read()]
    for kind, more, count in (("slower", MORE, asked.slower), ("alike", 1.0, asked.alike)):
        for i in range(sum(job["kind"] == kind for job in jobs), count):
            if time.monotonic() > end:
                break
            jobs.append({"kind": kind, **measured([*PROGRAMS][i % len(PROGRAMS)], more)})
            with DONE.open("a", encoding="utf-8") as file:
                print(json.dumps(jobs[-1]), file=file)
            print(jobs[-1], flush=True)
    write(jobs)
    return 0


def read() -> Iterator[dict[str, object]]:
    """The jobs that are done."""
    if DONE.exists():
        yield from map(json.loads, DONE.read_text(encoding="utf-8").splitlines())


def measured(name: str, more: float) -> dict[str, object]:
    """One job, and what it said: moved, silent, or withheld where A differs from itself."""
    text, began = PROGRAMS[name], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        work = 64
        while (took := timed(program, text, work)) < PROGRAM_S:
            work = int(work * max(1.2, min(8.0, PROGRAM_S / took)))
        git(folder, "init", "--quiet", "--initial-branch", "main")
        for tag, share in (("before", 1.0), ("after", more)):
            program.write_text(f"# {tag}\nWORK = {round(work * share)}\n{text}", encoding="utf-8")
            git(folder, "add", "program.py")
            git(folder, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit",
                "--quiet", "-m", tag)  # fmt: skip
            git(folder, "tag", tag)
        said = compared(folder, round(JOB_S / 3 / took))
        again = said == "silent" and more > 1
        if again:
            said = compared(folder, round(LONGER_S / 3 / took))
    seconds = round(time.monotonic() - began)
    return {"program": name, "said": said, "again": again, "seconds": seconds}


def timed(program: Path, text: str, work: int) -> float:
    """Wall time of a program with so much work, the least of three [s]."""
    program.write_text(f"WORK = {work}\n{text}", encoding="utf-8")
    took = []
    for _ in range(3):
        began = time.monotonic()
        subprocess.run((sys.executable, str(program)), check=True)
        took.append(time.monotonic() - began)
    return min(took)


def compared(folder: str, trials: int) -> str:
    """What the command says of two commits, with so many trials of each."""
    ended = subprocess.run(
        (sys.executable, "-m", "deadzone.cli.main", "compare", "--checkout", "before", "after",
         "-r", str(trials), "--format", "markdown", "--only-if", "moved",
         "--", sys.executable, "program.py"),
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    if ended.returncode == EXIT_FINDING:
        return "withheld"
    if ended.returncode:
        raise SystemExit(ended.stderr)
    words = ("worse", "better")
    return next((word for word in words if f"| {word} |" in ended.stdout), "silent")


def git(folder: str, *words: str) -> None:
    """Ask git in a folder."""
    subprocess.run(("git", *words), cwd=folder, check=True, capture_output=True)


def write(jobs: list[dict[str, object]]) -> None:
    """The page."""
    lines = [
        "# Comments on pull requests",
        "",
        "Written by `benchmarks/pull_requests.py`; not edited by hand.",
        "",
        f"deadzone {__version__}, Python {platform.python_version()}; {datetime.date.today()}; "
        f"{usable_cores()} cores of {cpu_model()}, {operating_system()}.",
        "",
        f"`deadzone compare --checkout before after --only-if moved` of programs that take about "
        f"{PROGRAM_S:g} s, {JOB_S} s a job. Alike: the second commit changes a comment. Slower: it "
        f"does {MORE - 1:.0%} more work; where a minute leaves that undecided, it is measured "
        f"again, {LONGER_S // 60} minutes long. Withheld: the first commit differs from itself, "
        "and nothing is said of the second. Intervals are exact, at 95 %.",
        "",
        "| commits | program | jobs | speaks | withheld | found worse | in the first minute |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in ("alike", "slower"):
        of_kind = [job for job in jobs if job["kind"] == kind]
        for name in (*PROGRAMS, "all"):
            some = [job for job in of_kind if name in ("all", job["program"])]
            n, said = len(some), [job["said"] for job in some]
            spoke = said.count("worse") + said.count("better")
            soon = sum(job["said"] == "worse" and not job["again"] for job in some)
            found = (shown(said.count("worse"), n), soon) if kind == "slower" else ("", "")
            row = (kind, name, n, shown(spoke, n), said.count("withheld"), *found)
            lines.append(f"| {' | '.join(map(str, row))} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def shown(count: int, n: int) -> str:
    """A count with the exact interval of its share."""
    if not n:
        return "-"
    interval = binomtest(count, n).proportion_ci()
    return f"{count} ({interval.low:.0%} to {interval.high:.0%})"


if __name__ == "__main__":
    sys.exit(main())
