"""What the harness costs: the time it adds to a trial and to a first answer, how true its wall
times are, and what whole commands take.

Run: .venv/bin/python benchmarks/harness.py [--trials 500] [--rounds 30] Writes
docs/benchmarks/harness.md. Turns in which others used the machine are measured again: on a busy one
the figures would say more of the neighbours than of Deadzone.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import yaml
from whole_commands import Command as WholeCommand
from whole_commands import (
    FirstAnswer,
    command_lines,
    first_answer,
    first_answer_lines,
    verdict,
    whole_commands,
)

from deadzone import __version__
from deadzone.cli.main import LOOK_FOR_GARBAGE_AFTER
from deadzone.measurement import Command
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.running import run_sweep
from deadzone.run.targets.interference import MachineReading, between, read_machine
from deadzone.run.targets.local import LocalTarget
from deadzone.store.programs import program_version
from deadzone.store.provenance import cpu_model, operating_system, usable_cores
from deadzone.store.records import Journal
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "benchmarks" / "harness.md"

ADDED_TARGET_MS = 1.0
DIFFERENCE_TARGET = 0.02

PROGRAM_S = 0.05
TRIALS_A_ROUND = 10
"""Few enough that both programs meet the same neighbours, enough that starting hyperfine weighs
little."""

QUIET_CORES = 0.15
"""CPU that others may use during a turn, as in a study's default [cores]."""

MOST_TURNS = 8
"""So many times the rounds asked for are tried on a machine that does not become quiet."""

SWEEPS = 5
"""Neighbours only add time, so the least of a few sweeps is nearest to what the harness adds."""

NO_DOUBTS = {"max_foreign_cpu": 999, "max_steal": 999, "max_pressure": 1, "max_clock_drift": 999}
"""Repeating trials would be measured too."""


@dataclass(frozen=True)
class Added:
    """Time added to each trial of a sweep, by its number of trials [ms], and what others did
    meanwhile [cores]."""

    trials: int
    mechanism: str
    per_trial_ms: float
    flush_ms: float
    foreign_cpu: float


@dataclass(frozen=True)
class Comparison:
    """Wall times of one program, as two harnesses measured it in turns [s]; rounds that others
    disturbed are left out."""

    deadzone: list[float]
    hyperfine: list[float]
    disturbed: int

    @property
    def difference(self) -> float:
        """Deadzone's median over hyperfine's, less one."""
        return median(self.deadzone) / median(self.hyperfine) - 1


@contextmanager
def disk_folder() -> Iterator[Path]:
    """A folder on the disk that runs are kept on, not on a memory-backed one."""
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".benchmark-") as name:
        yield Path(name)


def _parts(smaller: Added, larger: Added) -> tuple[float, float]:
    """What is added once a sweep [s] and with each trial [ms], by the line through two sweeps."""
    small, large = (one.trials * one.per_trial_ms for one in (smaller, larger))
    each_ms = (large - small) / max(larger.trials - smaller.trials, 1)
    return (small - smaller.trials * each_ms) / 1e3, each_ms


def added(trials: int) -> Added:
    """Sweep a program that does nothing: what is not its wall time, the harness added."""
    document = {
        "study": "added",
        "workload": {"kind": "command", "argv": ["true"]},
        "factors": {"cpu_limit": [1, 2]},
        "design": {"replicates": trials // 2, "warmup": 0},
        "trust": NO_DOUBTS,
    }
    with disk_folder() as folder:
        study = folder / "added.yaml"
        study.write_text(yaml.safe_dump(document))
        opened = open_run(str(study), runs=folder)
        began = time.perf_counter()
        run = run_sweep(opened.plan, opened.run)
        took = time.perf_counter() - began
        walls = run.trials()["wall_s"].sum()
        return Added(
            trials,
            run.provenance()["limits_mechanism"],
            (took - walls) / trials * 1000,
            flush_ms(folder),
            run.trials()["foreign_cpu"].mean(),
        )


def least_added(trials: int) -> Added:
    """The least of a few sweeps."""
    return min((added(trials) for _ in range(SWEEPS)), key=lambda one: one.per_trial_ms)


def flush_ms(folder: Path) -> float:
    """Median time to append one line of a journal and flush it to this disk [ms]."""
    journal, times = Journal(folder / "flush.jsonl"), []
    for number in range(100):
        began = time.perf_counter()
        journal.append({"trial": number, "note": "x" * 600})
        times.append(time.perf_counter() - began)
    return median(times) * 1000


def busy_program() -> tuple[str, ...]:
    """A program that counts to a fixed number, which takes some 50 ms here."""
    count = 100_000
    while True:
        argv = (sys.executable, "-I", "-S", "-c", f"for _ in range({count}): pass")
        times = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run(argv, check=True)
            times.append(time.perf_counter() - began)
        if min(times) >= PROGRAM_S:
            return argv
        count = int(count * max(1.1, min(PROGRAM_S / min(times), 4)))


def compare(argv: tuple[str, ...], rounds: int) -> Comparison:
    """Measure the program in turns, so that both harnesses meet the same machine."""
    kept: list[tuple[list[float], list[float]]] = []
    tried = 0
    with LocalTarget(LocalTargetSpec()) as target:
        target.prepare(Treatment({"cpu_limit": "none"}))
        while len(kept) < rounds and tried < MOST_TURNS * rounds:
            tried += 1
            turns = {
                "deadzone": lambda: by_deadzone(target, argv),
                "hyperfine": lambda: by_hyperfine(argv),
            }
            order = list(turns) if tried % 2 else list(reversed(turns))
            times = {name: turns[name]() for name in order}
            if all(times.values()):
                kept.append((times["deadzone"], times["hyperfine"]))
    ours, theirs = ([t for turn in kept for t in turn[side]] for side in (0, 1))
    return Comparison(ours, theirs, tried - len(kept))


def by_deadzone(target: LocalTarget, argv: tuple[str, ...]) -> list[float]:
    """Wall times of a turn; none if others used the machine."""
    before, own = read_machine(), cpu_s()
    trials = [target.execute(Command(argv), 60) for _ in range(TRIALS_A_ROUND + 1)]
    used = cpu_s() - own + sum((trial.user_s or 0.0) + (trial.sys_s or 0.0) for trial in trials)
    return [trial.wall_s for trial in trials[1:]] if quiet(before, used) else []


def by_hyperfine(argv: tuple[str, ...]) -> list[float]:
    """Wall times of a turn; none if others used the machine."""
    before, own = read_machine(), cpu_s()
    with tempfile.NamedTemporaryFile(suffix=".json") as export:
        options = (
            "-N",
            "--warmup",
            "1",
            "--runs",
            str(TRIALS_A_ROUND),
            "--export-json",
            export.name,
        )
        subprocess.run(("hyperfine", *options, shlex.join(argv)), check=True, capture_output=True)
        times: list[float] = json.loads(Path(export.name).read_text())["results"][0]["times"]
    return times if quiet(before, cpu_s() - own) else []


def quiet(before: MachineReading, own_cpu_s: float) -> bool:
    seen = between(before, read_machine(), own_cpu_s)
    return (
        seen.foreign_cpu <= QUIET_CORES + seen.foreign_cpu_resolution and seen.steal <= QUIET_CORES
    )


def cpu_s() -> float:
    """CPU time of this process and of the children it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def report(
    results: list[Added],
    comparison: Comparison | None,
    first: FirstAnswer | None,
    commands: list[WholeCommand],
    load: float,
) -> str:
    """The page in docs/benchmarks/."""
    smallest, largest = results[0], results[-1]
    once_s, each_ms = _parts(smallest, largest)
    lines = [
        "# What the harness costs",
        "",
        f"Written by `{' '.join(('benchmarks/harness.py', *sys.argv[1:]))}`; not edited by hand.",
        "",
        f"deadzone {__version__}, Python {sys.version.split()[0]}, "
        f"{program_version(('hyperfine', '--version')) or 'no hyperfine'}; "
        f"{datetime.now(UTC):%Y-%m-%d}; {usable_cores()} cores of {cpu_model()}, Linux "
        f"{os.uname().release}, {operating_system()}; load average when it began: {load:.2f}.",
        "",
        "## Time added to a trial",
        "",
        "Wall time of a sweep of `true` less the sum of its trials' wall times, over its trials: "
        "setting the limit, reading the accounting, judging, and flushing the journal to the disk "
        f"included; loading the libraries, once a process, is not. The least of {SWEEPS} sweeps.",
        "",
        "| trials | limits by | added a trial | one flush to this disk alone | others used |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {one.trials} | {one.mechanism} | {one.per_trial_ms:.2f} ms | {one.flush_ms:.2f} ms "
            f"| {one.foreign_cpu:.2f} cores |"
            for one in results
        ),
        "",
        f"Target: at most {ADDED_TARGET_MS:g} ms with {largest.trials} trials; "
        f"{verdict(largest.per_trial_ms <= ADDED_TARGET_MS)}. What is added is reading: the "
        "control group, the machine, the account of time of every thread (`account: off` leaves "
        "that out), the neighbours. By the line through both sweeps "
        f"{each_ms:.1f} ms are of each trial, and {once_s:.1f} s of the sweep: the look at the "
        "machine, the rehearsal, the tables.",
        "",
        "## Wall time of a short program",
        "",
    ]
    if comparison is None:
        said = "hyperfine is not installed, so there is nothing to compare with."
        return "\n".join([*lines, said, "", *command_lines(commands)])
    if not comparison.deadzone:
        said = "Others used this machine in every round, so nothing can be said."
        return "\n".join(
            [
                *lines,
                said,
                "",
                *(first_answer_lines(first) if first else ()),
                *command_lines(commands),
            ]
        )
    ours, theirs = median(comparison.deadzone), median(comparison.hyperfine)
    return "\n".join(
        [
            *lines,
            "A program that counts to a fixed number, without a limit, measured in turns of "
            f"{TRIALS_A_ROUND} trials by Deadzone and by `hyperfine -N`; {comparison.disturbed} "
            f"rounds in which others used more than {QUIET_CORES} cores were left out.",
            "",
            "| harness | trials | median | least |",
            "| --- | --- | --- | --- |",
            f"| Deadzone | {len(comparison.deadzone)} | {ours * 1000:.2f} ms | "
            f"{min(comparison.deadzone) * 1000:.2f} ms |",
            f"| hyperfine | {len(comparison.hyperfine)} | {theirs * 1000:.2f} ms | "
            f"{min(comparison.hyperfine) * 1000:.2f} ms |",
            "",
            f"Difference of the medians: {comparison.difference:+.2%}. Target: within "
            f"{DIFFERENCE_TARGET:.0%}; {verdict(abs(comparison.difference) <= DIFFERENCE_TARGET)}.",
            "",
            *(first_answer_lines(first) if first else ()),
            *command_lines(commands),
        ]
    )


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=500, help="trials of the longer sweep")
    parser.add_argument("--rounds", type=int, default=30, help="turns of each harness")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    gc.set_threshold(LOOK_FOR_GARBAGE_AFTER)  # as the command does
    added(2)  # what is loaded and made ready once a process counts for no trial
    results = [least_added(max(2, options.trials // 5)), least_added(options.trials)]
    comparison = compare(busy_program(), options.rounds) if shutil.which("hyperfine") else None
    with disk_folder() as folder:
        first = (
            first_answer(folder) if shutil.which("hyperfine") and shutil.which("script") else None
        )
        commands = whole_commands(folder)
    page = report(results, comparison, first, commands, load)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
