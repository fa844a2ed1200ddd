"""What a long sweep costs at its end, beside what it cost at its beginning: memory, the time of a
trial, the journal, the report.

Run: .venv/bin/python benchmarks/long_sweep.py [--trials 100000] [--real 5000] Writes
docs/benchmarks/long_sweep.md. An eight-hour sweep of trials of 0.3 s is emulated: the first trials
of a program that ends at once are really run, and what was measured of them is measured again and
again, so that the harness records, judges and tells as many trials as those hours have. A sweep of
fewer trials, all of them really run, says whether the rest of it grows.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import psutil
import yaml

from deadzone import __version__
from deadzone.measurement import Measurement
from deadzone.run.sweep import running
from deadzone.run.sweep.measuring import Measuring
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.progress import Progress
from deadzone.run.workloads.base import Outcome
from deadzone.store.provenance import cpu_model, operating_system, usable_cores
from deadzone.store.run import RunFolder
from deadzone.study.design import Treatment

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "benchmarks" / "long_sweep.md"

GROWTH_TARGET_MB = 50.0
COST_TARGET = 0.10
READ_TARGET_S = 2.0
REPORT_TARGET_S = 30.0

LEVELS = 100
"""With a thousand replicates, the most that a study may have, they make a hundred thousand
trials."""

REPLAYED = 500
"""Trials that are really run before they come again."""

MARKS = 100
"""So many times a look is taken at what the harness has used."""

NO_DOUBTS = {"max_foreign_cpu": 999, "max_steal": 999, "max_pressure": 1, "max_clock_drift": 999}
"""Repeating trials would be measured too."""


@dataclass(frozen=True)
class Mark:
    """What the harness has used when so many trials were done: CPU time of its own [s], time [s],
    memory [MB]."""

    done: int
    cpu_s: float
    at_s: float
    rss_mb: float


@dataclass
class Marking(Progress):
    """A progress that looks at the process that it is in, every so many trials."""

    every: int
    marks: list[Mark] = field(default_factory=list)

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Look, where it is time."""
        if done % self.every == 0:
            self.marks.append(mark(done))
            print(f"{done:7} of {total}: {self.marks[-1].rss_mb:.0f} MB", flush=True)


class Replaying(Measuring):
    """A measuring whose first trials are real; what was measured of them comes again, now."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kept: list[tuple[Measurement, Outcome]] = []
        self._done = 0

    def measure(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        """A trial, or one of those before again."""
        if len(self._kept) < REPLAYED:
            self._kept.append(super().measure(treatment))
            return self._kept[-1]
        self._done += 1
        measured, outcome = self._kept[self._done % REPLAYED]
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return replace(measured, started_at=now), outcome


@dataclass(frozen=True)
class Swept:
    """A long sweep: its marks, what memory it took at most while its tables were written [MB], and
    its run."""

    marks: list[Mark]
    peak_mb: float
    run: RunFolder

    @property
    def growth_mb(self) -> float:
        """Memory before the last hundredth of the sweep less that after the first [MB]."""
        return self.marks[-1].rss_mb - self.marks[1].rss_mb

    def costs_ms(self) -> list[float]:
        """CPU time of the harness a trial between marks [ms]."""
        pairs = zip(self.marks[1:], self.marks[2:], strict=False)
        return [(b.cpu_s - a.cpu_s) / (b.done - a.done) * 1000 for a, b in pairs]

    def cost_ms(self, at_end: bool) -> float:
        """Its median over the last tenth of the trials, or the first."""
        costs = self.costs_ms()
        tenth = max(len(costs) // 10, 1)
        return median(costs[-tenth:] if at_end else costs[:tenth])


@dataclass(frozen=True)
class Took:
    """What something took: time [s], CPU time [s], memory at most [MB]."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def mark(done: int) -> Mark:
    """A look at this process."""
    rss_mb = psutil.Process().memory_info().rss / 1e6
    return Mark(done, time.process_time(), time.monotonic(), rss_mb)


def sweep(name: str, trials: int, folder: Path, emulated: bool) -> Swept:
    """Sweep a program that ends at once. emulated: whether only the first trials are really run."""
    document: dict[str, Any] = {
        "study": name,
        "workload": {"kind": "command", "argv": ["true", "{threads}"]},
        "factors": {"threads": list(range(1, LEVELS + 1))},
        "design": {"replicates": trials // LEVELS, "warmup": 0, "rehearsal": False},
        "trust": NO_DOUBTS,
    }
    study = folder / "notebooks" / "studies" / f"{name}.yaml"
    study.parent.mkdir(parents=True, exist_ok=True)
    study.write_text(yaml.safe_dump(document))
    shutil.copy(ROOT / "notebooks" / "phases.ipynb", study.parents[1])
    opened = open_run(str(study), runs=folder / "data" / "runs")
    progress = Marking(max(trials // MARKS, 1))
    how = Replaying if emulated else Measuring
    with patch.object(running, "measuring_of", lambda plan, run, around: how(plan, around)):
        run = running.run_sweep(opened.plan, opened.run, progress)
    return Swept(progress.marks, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, run)


def took(folder: Path, *command: str) -> Took:
    """Run a command in a process of its own."""
    environment = {**os.environ, "DEADZONE_HOME": str(folder)}
    began = time.monotonic()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return Took(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)


READ = (
    "import sys, time; from pathlib import Path; from deadzone.store.run import RunFolder; run = "
    "RunFolder(Path(sys.argv[1])); run.study(); {}"
)


def read(folder: Path, run: RunFolder) -> Took:
    """Read the journal, less what starting and loading take."""
    empty, whole = (
        took(folder, sys.executable, "-c", READ.format(what), str(run.folder))
        for what in ("pass", "run.records()")
    )
    return Took(whole.wall_s - empty.wall_s, whole.cpu_s - empty.cpu_s, whole.peak_mb)


def verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def page(
    real: Swept, swept: Swept, reading: Took, reporting: Took, page_mb: float, load: float
) -> str:
    """The page in docs/benchmarks/."""
    first, last = swept.cost_ms(at_end=False), swept.cost_ms(at_end=True)
    real_first, real_last = real.cost_ms(at_end=False), real.cost_ms(at_end=True)
    trials = len(swept.run.finished())
    journal_mb = swept.run.journal_file.stat().st_size / 1e6
    rows = [
        (
            "memory of the harness grows by",
            f"{swept.growth_mb:.1f} MB",
            f"{GROWTH_TARGET_MB:g} MB",
            swept.growth_mb < GROWTH_TARGET_MB,
        ),
        (
            "CPU time of the harness a trial grows by",
            f"{last / first - 1:+.1%}",
            f"{COST_TARGET:.0%}",
            last / first - 1 < COST_TARGET,
        ),
        (
            f"the journal of {journal_mb:.0f} MB is read in",
            f"{reading.wall_s:.1f} s",
            f"{READ_TARGET_S:g} s",
            reading.wall_s < READ_TARGET_S,
        ),
        (
            "the report is made in",
            f"{reporting.wall_s:.1f} s",
            f"{REPORT_TARGET_S:g} s",
            reporting.wall_s < REPORT_TARGET_S,
        ),
    ]
    lines = [
        "# A long sweep",
        "",
        f"Written by `{' '.join(('benchmarks/long_sweep.py', *sys.argv[1:]))}`; not edited by "
        "hand.",
        "",
        f"deadzone {__version__}, Python {sys.version.split()[0]}; {datetime.now(UTC):%Y-%m-%d}; "
        f"{usable_cores()} cores of {cpu_model()}, Linux {os.uname().release}, "
        f"{operating_system()}; load average when it began: {load:.2f}.",
        "",
        f"{trials:,} trials of `true` at {LEVELS} levels, which make eight hours of 0.3 s. The "
        f"first {REPLAYED} of them were really run; what was measured of them was then measured "
        "again and again, and recorded, judged and told as any trial is.",
        "",
        "| over the sweep | measured | target: less than | |",
        "| --- | --- | --- | --- |",
        *(f"| {what} | {found} | {target} | {verdict(met)} |" for what, found, target, met in rows),
        "",
        f"A trial costs the harness {first:.2f} ms of CPU time in the first tenth of the sweep and "
        f"{last:.2f} ms in the last. In a sweep of {len(real.run.finished()):,} trials that were "
        f"all really run it is {real_first:.2f} ms and {real_last:.2f} ms, and memory grows by "
        f"{real.growth_mb:.1f} MB. Growth of memory is from the first hundredth of the trials to "
        "the last. When the tables are written, at the end, the process takes up to "
        f"{swept.peak_mb:.0f} MB for that while: the journal is read into memory.",
        "",
        f"CPU time: {reading.cpu_s:.1f} s for the journal, {reporting.cpu_s:.1f} s for the report "
        f"with the notebook's kernel. The report's page has {page_mb:.1f} MB: so many trials are "
        "drawn as one picture.",
        "",
        "| trials done | CPU time a trial | memory of the harness |",
        "| --- | --- | --- |",
        *(
            f"| {one.done:,} | {cost:.2f} ms | {one.rss_mb:.0f} MB |"
            for one, cost in list(zip(swept.marks[2:], swept.costs_ms(), strict=True))[
                :: MARKS // 10
            ]
        ),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument(
        "--real", type=int, default=5_000, help="trials of the sweep that are all really run"
    )
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".benchmark-") as name:
        folder = Path(name)
        real = sweep("real", options.real, folder, emulated=False)
        swept = sweep("long", options.trials, folder, emulated=True)
        reading = read(folder, swept.run)
        reporting = took(
            folder, sys.executable, "-m", "deadzone.cli.main", "report", str(swept.run.folder)
        )
        page_mb = (
            folder / "reports" / "long" / swept.run.run_id / "index.html"
        ).stat().st_size / 1e6
        text = page(real, swept, reading, reporting, page_mb, load)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
