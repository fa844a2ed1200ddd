"""How soon the explorer answers, for runs of 10,000 trials: opening a curve, moving a slider,
comparing two runs.

Each figure is the median of several answers of the kernel, the figure written included; the browser
draws on top. Writes docs/benchmarks/explorer.md.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from deadzone.report.explorer.choices import ExplorerTable
from deadzone.report.explorer.widgets import Explorer

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "explorer.md"

MOST_S = 0.2
"""How long an answer may take [s]."""

SHAPES = ((10, 1000), (20, 500), (100, 100))
"""Levels of the knob, and trials at each."""

ROUNDS = 9


def table(levels: int, replicates: int, seed: int = 0) -> ExplorerTable:
    """A run that scales up to eight threads, with 3 % noise."""
    rng = np.random.default_rng(seed)
    threads = np.repeat(np.arange(1, levels + 1), replicates)
    wall = np.where(threads < 8, 64 / threads, 8) * np.exp(rng.normal(0, 0.03, len(threads)))
    frame = pd.DataFrame({"threads": threads, "wall_s": wall})
    return ExplorerTable(frame, "threads", "wall_s", ("threads",), {"wall_s": "min"})


def seconds(action: Callable[[], object]) -> float:
    """How long an action takes [s]."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def measure(levels: int, replicates: int) -> dict[str, float]:
    """Median times [s] of opening a run, of a slider, and of a slider with two runs shown."""
    tables = {
        "big": {
            "one": lambda: table(levels, replicates),
            "two": lambda: table(levels, replicates, 1),
        }
    }
    opened = [seconds(lambda: Explorer(tables)) for _ in range(3)]
    explorer = Explorer(tables)

    def slides() -> list[float]:
        values = 0.3 + 0.05 * np.arange(ROUNDS)
        return [
            seconds(lambda v=value: setattr(explorer.linear, "value", float(v))) for value in values
        ]

    alone = slides()
    explorer.second.value = "two"
    return {
        "open": statistics.median(opened),
        "slider": statistics.median(alone),
        "two": statistics.median(slides()),
    }


def main() -> int:
    """Measure and write the table; ends with 1 if a slider takes too long."""
    measure(5, 5)
    lines = [
        "# How soon the explorer answers",
        "",
        f"Runs of 10,000 trials; the target is {MOST_S * 1000:.0f} ms for a slider. Made by "
        "benchmarks/explorer.py.",
        "",
        "| levels x trials | open and fit (ms) | slider (ms) | slider, two runs (ms) |",
        "| --- | --: | --: | --: |",
    ]
    met = True
    for levels, replicates in SHAPES:
        found = measure(levels, replicates)
        met &= max(found["slider"], found["two"]) <= MOST_S
        cells = " | ".join(f"{1000 * found[name]:.0f}" for name in ("open", "slider", "two"))
        lines.append(f"| {levels} x {replicates} | {cells} |")
    text = "\n".join(lines) + "\n"
    print(text)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(text, encoding="utf-8")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
