"""Measure how often a history of runs raises a false alarm, and how soon a step is named; write the
table.

    python benchmarks/history.py [--otava PYTHON]

A history is looked at after every run from the fifth on, as its owner does. Stable ones have 50
runs; a false alarm is any, at any look. In the others the response becomes 5 % larger or smaller
after 20 to 34 runs, and it is asked whether a change within three runs of it is named at most eight
runs later. apache-otava sees the same numbers, as it is set when installed, where --otava names a
Python that has it: its dependencies are not to be had beside ours. Writes
docs/benchmarks/history.md; nothing in it is typed by hand.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from ruptures import KernelCPD

from deadzone import __version__
from deadzone.analysis.trend.changes import LEAST_RUNS, _partition, change_points
from deadzone.store.provenance import cpu_model, usable_cores

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "history.md"
SEED = 20261129

HISTORIES, RUNS, FIRST_LOOK = 200, 50, 5
NOISES = (0.0, 0.01, 0.02)
"""Standard deviation of ln(response) between runs."""

WITHIN, TRIALS = 0.01, 3
"""Standard deviation of one trial within a run, and trials at the setting."""

STEP, SOONEST, LATEST, WITHIN_RUNS, NEAR = float(np.log(1.05)), 20, 34, 8, 3

OTAVA = """
import json, sys
from otava.series import Metric, Series
def cuts(values):
    series = Series("t", None, [*range(len(values))], {"m": Metric(1, 1.0)}, {"m": values}, {})
    return [int(c.index) for c in series.analyze().change_points.get("m", [])]
json.dump([cuts(values) for values in json.load(sys.stdin)], sys.stdout)
"""

Method = Callable[[Sequence[np.ndarray]], list[list[int]]]
"""From histories as they are at a look, in logarithms, to where each is said to have changed."""


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--otava", metavar="PYTHON", help="a Python that has apache-otava")
    otava = parser.parse_args().otava
    methods: dict[str, Method] = {"deadzone": ours}
    if otava:
        methods["apache-otava"] = partial(of_otava, otava)
    lines = [
        "# What moved over the runs of a study",
        "",
        "Written by `benchmarks/history.py`; not edited by hand.",
        "",
        f"deadzone {__version__}, Python {platform.python_version()}, numpy {np.__version__}; "
        f"{datetime.date.today()}; {usable_cores()} cores of {cpu_model()}.",
        "",
        f"{HISTORIES} stable histories of {RUNS} runs and {HISTORIES} with a step of 5 %, looked "
        f"at after every run from the fifth on; {TRIALS} trials a run that scatter by "
        f"{WITHIN:.0%}. False alarms: stable histories with any. Named: steps found at most "
        f"{WITHIN_RUNS} runs later, within {NEAR} runs of where they were.",
        "",
        "| noise between runs | method | false alarms | steps named | runs until then, median |",
        "| --- | --- | --- | --- | --- |",
    ]
    for noise in NOISES:
        for name, method in methods.items():
            alarms, delays = measured(noise, method)
            median = f"{np.median(delays):g}" if delays else "-"
            row = (f"{noise:.0%}", name, alarms, f"{len(delays) / HISTORIES:.1%}", median)
            lines.append(f"| {' | '.join(map(str, row))} |")
            print(lines[-1], flush=True)
    lines += ["", as_ruptures()]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def measured(noise: float, method: Method) -> tuple[int, list[int]]:
    """Stable histories with a false alarm, and after how many runs each step that is named was."""
    rng = np.random.default_rng(SEED)
    scatter = np.hypot(noise, WITHIN / TRIALS**0.5)
    looks, steps = list[np.ndarray](), list[int]()
    for _ in range(HISTORIES):
        values = rng.normal(0, scatter, RUNS)
        looks += [values[:n] for n in range(FIRST_LOOK, RUNS + 1)]
        step = int(rng.integers(SOONEST, LATEST + 1))
        values = rng.normal(0, scatter, step + WITHIN_RUNS)
        values[step:] += STEP * rng.choice([-1, 1])
        looks += [values[: step + n] for n in range(1, WITHIN_RUNS + 1)]
        steps.append(step)
    said = iter(method(looks))
    alarms, delays = 0, list[int]()
    for step in steps:
        alarms += any(list(islice(said, RUNS + 1 - FIRST_LOOK)))
        near = [any(abs(cut - step) <= NEAR for cut in next(said)) for _ in range(WITHIN_RUNS)]
        if any(near):
            delays.append(near.index(True) + 1)
    return alarms, delays


def as_ruptures() -> str:
    """Whether the exact search finds the cuts that ruptures finds, over drawn series."""
    rng = np.random.default_rng(SEED)
    same = 0
    for _ in range(HISTORIES):
        values = np.cumsum(rng.normal(0, 0.01, int(rng.integers(6, 200))))
        penalty = float(rng.uniform(1e-5, 1e-2))
        search = KernelCPD(kernel="linear", min_size=LEAST_RUNS).fit(values.reshape(-1, 1))
        same += _partition(values, penalty) == search.predict(pen=penalty)[:-1]
    return (
        f"The cuts before small changes are left out are those of ruptures in {same} of "
        f"{HISTORIES} random walks."
    )


def ours(looks: Sequence[np.ndarray]) -> list[list[int]]:
    """What Deadzone says at each look."""
    return [change_points(v, np.full(len(v), WITHIN / TRIALS**0.5)) for v in looks]


def of_otava(python: str, looks: Sequence[np.ndarray]) -> list[list[int]]:
    """What apache-otava says at each look."""
    given = json.dumps([np.exp(values).tolist() for values in looks])
    ended = subprocess.run(
        (python, "-c", OTAVA), input=given, capture_output=True, text=True, check=True
    )
    return [list(map(int, cuts)) for cuts in json.loads(ended.stdout)]


if __name__ == "__main__":
    raise SystemExit(main())
