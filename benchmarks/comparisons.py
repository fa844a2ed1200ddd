"""Measure what `deadzone compare` promises: intervals, verdicts, speed; write
the table.

    python benchmarks/comparisons.py

Pairs of samples are drawn from four shapes of noise with a known ratio; every figure is a share of
such pairs. Writes docs/benchmarks/comparisons.md; nothing in it is typed by hand.
"""

from __future__ import annotations

import datetime
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from deadzone import __version__
from deadzone.analysis.compare.comparing import compare_tables, replicates_needed
from deadzone.analysis.compare.ratio import interval, resample
from deadzone.store.provenance import cpu_model, usable_cores

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "comparisons.md"

PAIRS = 400
"""Pairs a cell: a share near 0.95 is then known to 0.011."""

REPLICATES = (2, 3, 4, 5, 7, 10, 20)
SEED = 20261121

Noise = Callable[[np.random.Generator, int], np.ndarray]

NOISES: dict[str, Noise] = {
    "normal, 2 %": lambda rng, n: 0.02 * rng.standard_normal(n),
    "exponential, 3 %": lambda rng, n: rng.exponential(0.03, n),
    "t with 3 degrees of freedom, 2 %": lambda rng, n: 0.02 * rng.standard_t(3, n),
    "three trials in ten 5 % slower": lambda rng, n: (
        0.005 * rng.standard_normal(n) + 0.05 * (rng.random(n) < 0.3)
    ),
}
"""Deviations of ln(response) of n trials."""


def main() -> int:
    """Measure and write the page."""
    page = [
        "# What a comparison promises",
        "",
        "Written by `benchmarks/comparisons.py`; not edited by hand.",
        "",
        f"deadzone {__version__}, Python {platform.python_version()}, numpy {np.__version__}; "
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}; {usable_cores()} cores of {cpu_model()}.",
        "",
        *_coverage(),
        *_verdicts(),
        *_power(),
        *_speed(),
    ]
    text = "\n".join(page) + "\n"
    print(text)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def _coverage() -> list[str]:
    """How often the 95 % interval of the ratio of medians holds the true one."""
    rng = np.random.default_rng(SEED)
    head = " | ".join(map(str, REPLICATES))
    lines = [
        "## Intervals",
        "",
        f"Share of {PAIRS} pairs of samples whose 95 % interval held the true ratio, by trials a "
        "side.",
        "",
        f"| noise | {head} |",
        f"| --- |{' --- |' * len(REPLICATES)}",
    ]
    for name, noise in NOISES.items():
        cells = [
            f"{np.mean([_holds(rng, noise, n) for _ in range(PAIRS)]):.3f}" for n in REPLICATES
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def _holds(rng: np.random.Generator, noise: Noise, n: int) -> bool:
    a, b = (np.exp(noise(rng, n)) for _ in range(2))
    _, drawn = resample([(a, 1.1 * b)], together=(False, False), paired=False)
    low, high = interval(drawn[0], 0.95)
    return bool(low <= np.log(1.1) <= high)


def _verdicts() -> list[str]:
    """Which verdicts a known change gets, with the threshold of 3 %."""
    rng = np.random.default_rng(SEED)
    changes, words = (
        (1.0, 1.01, 1.03, 1.05, 1.10),
        ("better", "worse", "no change that matters", "undecided"),
    )
    lines = [
        "## Verdicts",
        "",
        f"Share of {PAIRS} pairs of 8 trials a side, normal noise of 2 %, threshold 3 %, smaller "
        "is better.",
        "",
        f"| true ratio | {' | '.join(words)} |",
        f"| --- |{' --- |' * len(words)}",
    ]
    for change in changes:
        found = [_verdict(rng, change, 8) for _ in range(PAIRS)]
        lines.append(
            f"| {change:g} | {' | '.join(f'{found.count(word) / PAIRS:.3f}' for word in words)} |"
        )
    return [*lines, ""]


def _verdict(rng: np.random.Generator, change: float, n: int) -> str:
    a, b = np.exp(0.02 * rng.standard_normal((2, n)))
    before, after = (pd.DataFrame({"wall_s": values}) for values in (a, change * b))
    return str(compare_tables(before, after, "wall_s").treatments["verdict"].iloc[0])


def _power() -> list[str]:
    """Whether the stated number of trials finds a change of 3 % four times in five."""
    rng = np.random.default_rng(SEED)
    lines = [
        "## Trials needed",
        "",
        "| noise of a trial | trials a side | change of 3 % found |",
        "| --- | --- | --- |",
    ]
    for noise in (0.01, 0.02, 0.04):
        n = replicates_needed(float(np.log(1.03)), noise, 1, 0.95) or 0
        found = [_is_found(rng, noise, n) for _ in range(PAIRS)]
        lines.append(f"| {noise:.0%} | {n} | {np.mean(found):.3f} |")
    return [*lines, ""]


def _is_found(rng: np.random.Generator, noise: float, n: int) -> bool:
    a, b = np.exp(noise * rng.standard_normal((2, n)))
    before, after = (pd.DataFrame({"wall_s": values}) for values in (a, 1.03 * b))
    return bool(compare_tables(before, after, "wall_s").treatments["p_value"].iloc[0] <= 0.05)


def _speed() -> list[str]:
    rng = np.random.default_rng(SEED)
    before, after = (
        pd.DataFrame(
            [
                {
                    "block": block,
                    "threads": level,
                    "wall_s": float(np.exp(0.02 * rng.standard_normal())),
                }
                for block in range(5)
                for level in range(1, 501)
            ]
        )
        for _ in range(2)
    )
    began = time.perf_counter()
    compare_tables(before, after, "wall_s")
    compared = time.perf_counter() - began
    return [
        "## Speed",
        "",
        f"- 500 treatments of 5 trials a side compared in {compared:.1f} s.",
    ]


if __name__ == "__main__":
    sys.exit(main())
