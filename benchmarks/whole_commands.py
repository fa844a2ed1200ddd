"""Commands as a person types them, from start to exit: their wall and CPU time, and the modules
that they load."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RUNS = 5
"""Neighbours only add time, so the least of a few is nearest to what a command takes."""

LONG_RUNS = 2
"""Of a command that takes half a minute."""

TRY_GOAL_S = 0.7
FIT_GOAL_S = 0.6
REPORT_GOAL_S = 30.0

DEADZONE = (sys.executable, "-m", "deadzone.cli.main")

TRY = ("try", "-L", "n", "1,2,3,4", "-r", "5", "--", "true", "{n}")
HYPERFINE = ("hyperfine", "-N", "-L", "n", "1,2,3,4", "-r", "5", "true {n}")
FIT = ("fit", "table.csv", "--knob", "threads", "--response", "wall_s")
REPORT = ("run", "ffmpeg-cpu-limit", "--adaptive")

LEVELS, TRIALS = 16, 5
NOISE = (0.003, -0.011, 0.016, -0.004, 0.007)
"""What each trial of a level is off the curve [share]."""

WITNESS = """
import atexit, json, os, sys
def say():
    with open(os.path.join({folder!r}, f"{{os.getpid()}}.json"), "w") as handle:
        json.dump(sorted(sys.modules), handle)
atexit.register(say)
"""
"""Has every Python of a command tell which modules it held as it ended."""


@dataclass(frozen=True)
class Command:
    """The least of several runs of a command [s]. modules: how many all of its processes loaded,
    and how many are Deadzone's."""

    line: str
    wall_s: float
    cpu_s: float
    goal_s: float
    modules: tuple[int, int]


def measured(argv: Sequence[str], folder: Path) -> tuple[float, float]:
    """Wall and CPU time of a command and of all that it waited for [s]."""
    environment = {**os.environ, "DEADZONE_HOME": str(folder), "TERM": "xterm-256color"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        argv, cwd=folder, env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL
    )
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def modules(argv: Sequence[str], folder: Path) -> tuple[int, int]:
    """How many modules the processes of a command load together, and how many of them are
    Deadzone's."""
    told = folder / "modules"
    told.mkdir()
    (told / "sitecustomize.py").write_text(WITNESS.format(folder=str(told)))
    measured(("env", f"PYTHONPATH={told}", *argv), folder)
    names = {name for path in told.glob("*.json") for name in json.loads(path.read_text())}
    shutil.rmtree(told)
    own = {name for name in names if name.partition(".")[0].startswith("deadzone")}
    return len(names), len(own)


def command(asked: Sequence[str], folder: Path, goal_s: float, runs: int = RUNS) -> Command:
    """Measure a command of Deadzone; the first run, which compiles what it loads, counts the
    modules alone."""
    argv = (*DEADZONE, *asked)
    held = modules(argv, folder)
    walls, cpus = zip(*(measured(argv, folder) for _ in range(runs)), strict=True)
    return Command(shlex.join(("deadzone", *asked)), min(walls), min(cpus), goal_s, held)


def whole_commands(folder: Path) -> list[Command]:
    """`deadzone fit` of a table of 16 levels, and what `make report` does after set-up."""
    (folder / "table.csv").write_text("".join(table()))
    return [command(FIT, folder, FIT_GOAL_S), command(REPORT, folder, REPORT_GOAL_S, LONG_RUNS)]


def table() -> list[str]:
    """Lines of a CSV: work that six threads share and more of them hinder."""
    lines = ["threads,wall_s\n"]
    for n in range(1, LEVELS + 1):
        wall_s = 10 / min(n, 6) + 0.02 * max(n - 6, 0)
        lines += [f"{n},{wall_s * (1 + NOISE[(n + i) % TRIALS]):.6f}\n" for i in range(TRIALS)]
    return lines


@dataclass(frozen=True)
class FirstAnswer:
    """Wall times of one line by `deadzone try` and by hyperfine, in turns [s]; start, fit and
    picture are among them."""

    deadzone: list[float]
    hyperfine: list[float]

    @property
    def added_s(self) -> float:
        """Between the least of each: neighbours only add time [s]."""
        return min(self.deadzone) - min(self.hyperfine)


def first_answer(folder: Path) -> FirstAnswer:
    """A sweep of `true` as somebody types it, in a terminal, in an empty folder."""
    commands = {
        "deadzone": ("script", "-qec", shlex.join((*DEADZONE, *TRY)), "/dev/null"),
        "hyperfine": HYPERFINE,
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS + 1):
        for name, argv in commands.items():
            times[name].append(measured(argv, folder)[0])
    return FirstAnswer(times["deadzone"][1:], times["hyperfine"][1:])


def verdict(met: bool) -> str:
    """Whether a goal is met, in Markdown."""
    return "met" if met else "**missed**"


def first_answer_lines(first: FirstAnswer) -> list[str]:
    """The section on the time to a first answer."""
    return [
        "## Time to a first answer",
        "",
        "`deadzone try -L n 1,2,3,4 -r 5 -- true {n}` in a terminal, start, fit and picture "
        "included, beside `hyperfine -N -L n 1,2,3,4 -r 5 'true {n}'`, in turns: the least of "
        f"{RUNS}.",
        "",
        f"Deadzone took {min(first.deadzone):.2f} s, hyperfine {min(first.hyperfine):.2f} s: "
        f"{first.added_s:.2f} s more. Target: at most {TRY_GOAL_S:g} s; "
        f"{verdict(first.added_s <= TRY_GOAL_S)}.",
        "Most of it is loading pandas, scipy and the models of a study; the machine is looked at "
        "for half a second, of which the trials before are a part, for neighbours that the "
        "kernel's tick cannot show.",
        "",
    ]


def command_lines(commands: Sequence[Command]) -> list[str]:
    """The section on whole commands."""
    return [
        "## Whole commands",
        "",
        f"The least of {RUNS} runs, of the last one of {LONG_RUNS}, from start to exit. It is what "
        "`make report` does after set-up: a sweep of ffmpeg, page and PDF. CPU is of all "
        "processes of a command, ffmpeg among them; modules are those that its Python processes "
        "load together.",
        "",
        "| command | wall | CPU | target | | modules | of them Deadzone's |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| `{one.line}` | {one.wall_s:.2f} s | {one.cpu_s:.2f} s | {one.goal_s:g} s | "
            f"{verdict(one.wall_s <= one.goal_s)} | {one.modules[0]:,} | {one.modules[1]} |"
            for one in commands
        ),
        "",
    ]
