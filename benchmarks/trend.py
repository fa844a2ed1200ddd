"""Measure how often a run is said to have moved: when nothing moved, and when a phase did; write
the table.

    python benchmarks/trend.py

Pairs of runs are drawn from curves with known phases. In half of them both runs share one truth; in
the other half the second run's last breakpoint lies elsewhere, as after a release that scales
further, or less far. Writes docs/benchmarks/trend.md; nothing in it is typed by hand.
"""

from __future__ import annotations

import datetime
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from deadzone import __version__
from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.trend.movement import CERTAINTY, LEAST_CHANGE, movement
from deadzone.store.provenance import cpu_model, usable_cores

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "trend.md"
SEED = 20261122

PAIRS = 200
"""Pairs a cell: a share near 0.05 is then known to 0.015."""

LEVELS = np.array([1, 1.5, 2, 3, 4, 6, 8, 12, 16], dtype=float)
NOISES = ((0.01, 5), (0.02, 5), (0.05, 5), (0.02, 3), (0.02, 2), (0.02, 1))
"""Standard deviation of ln(response) of a trial, and trials a level."""

SHIFTS = (0, 1, 2, 3)
"""Levels by which the end of the linear phase moves between the two runs."""

SLOPE_RANGE = (0.6, 1.1)
FIRST_END = (2, 5)
MISFIT = 0.01
"""Each level's own lasting deviation, shared by both runs: alignment, cache sizes, thread
counts."""

DAY = 0.03
"""Scatter of the whole curve from one day to the next, as of a clock that runs slower."""


def main(pairs: int = PAIRS) -> int:
    """Measure and write the page."""
    head = " | ".join(
        "nothing" if shift == 0 else f"{shift} level{'s' * (shift > 1)}" for shift in SHIFTS
    )
    lines = [
        "# Whether phases moved since the previous run",
        "",
        "Written by `benchmarks/trend.py`; not edited by hand.",
        "",
        f"deadzone {__version__}, Python {platform.python_version()}, numpy {np.__version__}; "
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}; {usable_cores()} cores of {cpu_model()}.",
        "",
        f"Share of {pairs} pairs of runs said to have moved (family-wise certainty "
        f"{CERTAINTY:.0%}, smallest change of an elasticity {LEAST_CHANGE:g}), by how far the end "
        f"of the linear phase really moved. {len(LEVELS)} levels; each level's own deviation "
        f"{MISFIT:.0%}, shared by both runs; the whole curve scatters by {DAY:.0%} between days.",
        "",
        f"| noise of a trial | trials a level | {head} |",
        f"| --- | --- |{' --- |' * len(SHIFTS)}",
    ]
    for noise, replicates in NOISES:
        shares = [np.mean(list(_moved(noise, replicates, shift, pairs))) for shift in SHIFTS]
        lines.append(
            f"| {noise:.0%} | {replicates} | {' | '.join(f'{share:.3f}' for share in shares)} |"
        )
    text = "\n".join(lines) + "\n"
    print(text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def _moved(noise: float, replicates: int, shift: int, pairs: int) -> Iterator[bool]:
    rng = np.random.default_rng([SEED, shift, replicates, round(1000 * noise)])
    for _ in range(pairs):
        slope, end = rng.uniform(*SLOPE_RANGE), int(rng.integers(*FIRST_END))
        own = MISFIT * rng.standard_normal(len(LEVELS))
        models = [_fitted(rng, slope, end + extra, own, noise, replicates) for extra in (0, shift)]
        yield bool(movement(*models)["moved"].any())


def _fitted(
    rng: np.random.Generator, slope: float, end: int, own: np.ndarray, noise: float, replicates: int
) -> PhaseModel:
    """A run of a curve that pays up to the level at position `end`, then brings nothing."""
    x = np.log(LEVELS)
    truth = -slope * np.minimum(x, x[end]) + own + DAY * rng.standard_normal()
    values = np.tile(truth, replicates) + noise * rng.standard_normal(len(LEVELS) * replicates)
    frame = pd.DataFrame({"cores": np.tile(LEVELS, replicates), "wall_s": np.exp(values)})
    model = fit_phases(frame, "cores", "wall_s")
    assert isinstance(model, PhaseModel)
    return model


if __name__ == "__main__":
    sys.exit(main(*(int(text) for text in sys.argv[1:])))
