"""Measure what the analysis of load tests promises: confidences, smallest pools, warm-ups; write
the table.

    python benchmarks/capacity.py

Services with a known truth are load-tested in simulation, so what a confidence states can be held
against how often it is true. Nothing here is timed, so neighbours do not matter. Writes
docs/benchmarks/capacity.md; nothing in it is typed by hand.
"""

from __future__ import annotations

import datetime
import platform
import sys
from pathlib import Path

import numpy as np
from synthetic.services import RATES, simulated_cells, simulated_service

from deadzone import __version__
from deadzone.analysis.objectives.bounds import Objective
from deadzone.steady_state.warmup import detect_warmup
from deadzone.store.provenance import cpu_model, usable_cores
from deadzone_load.capacity.feasibility import CONFIDENCE, feasibility

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "capacity.md"

STUDIES = 60
"""Simulated studies a row, of 18 cells each: a share of the many sure cells is then known to a
percent."""

WITH_HISTOGRAMS = 10
"""Studies a row where histograms are drawn again too, which takes longer."""

REPLICATES = (2, 3, 5, 10)
BANDS = ((0.0, 0.05), (0.05, 0.5), (0.5, 0.95), (0.95, 1.001))
SERIES = 100
SEED = 20261122


def main() -> int:
    """Measure and write the page."""
    page = [
        "# What the analysis of a load test promises",
        "",
        "Written by `benchmarks/capacity.py`; not edited by hand.",
        "",
        f"deadzone {__version__}, Python {platform.python_version()}, numpy {np.__version__}; "
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}; {usable_cores()} cores of {cpu_model()}; "
        f"seed {SEED}.",
        "",
        *_confidences(),
        *_warmups(),
    ]
    text = "\n".join(page) + "\n"
    print(text)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def _confidences() -> list[str]:
    """Stated confidence against truth, and whether the smallest pools that were named are good
    enough."""
    heads = " | ".join(f"{low:g} to {min(high, 1):g}" for low, high in BANDS)
    lines = [
        "## Confidence that a cell meets its target",
        "",
        "Simulated services (6 pools, 3 rates; trials differ by about 5 %, cells by a factor of "
        "1.5 in that) against a target on the mean. By stated confidence: the mean that was "
        "stated / the share that is true (cells). Last: how many of the pools named as the "
        f"smallest with a confidence of {CONFIDENCE:g} truly meet the target.",
        "",
        f"| trials a cell | histograms | {heads} | smallest pool is good enough |",
        f"| --- | --- |{' --- |' * (len(BANDS) + 1)}",
    ]
    rng = np.random.default_rng(SEED)
    for has_histograms, studies in ((False, STUDIES), (True, WITH_HISTOGRAMS)):
        lines += [_row(rng, replicates, has_histograms, studies) for replicates in REPLICATES]
    return [*lines, ""]


def _row(rng: np.random.Generator, replicates: int, has_histograms: bool, studies: int) -> str:
    said, true, chosen = [], [], []
    for _ in range(studies):
        truth = simulated_service(rng)
        bound = 1.13 * float(np.exp(rng.normal(np.log(np.median(truth.typical_ms)), 0.3)))
        objective = Objective("latency_mean_ms", "at_most", bound)
        found = feasibility(
            simulated_cells(truth, [objective], rng, replicates, 300, has_histograms), [objective]
        )
        for place, confidence in found.sure.items():
            said.append(confidence)
            true.append(truth.meets([objective], *place))
        named = [(found.smallest(rate).pool, rate) for rate in RATES]
        chosen += [truth.meets([objective], pool, rate) for pool, rate in named if pool is not None]
    stated, right = np.array(said), np.array(true)
    cells = []
    for low, high in BANDS:
        here = (stated >= low) & (stated < high)
        cells.append(
            f"{stated[here].mean():.2f} / {right[here].mean():.2f} ({here.sum()})"
            if here.any()
            else "-"
        )
    kept = "yes" if has_histograms else "no"
    return (
        f"| {replicates} | {kept} | {' | '.join(cells)} | {np.mean(chosen):.3f} of {len(chosen)} |"
    )


def _warmups() -> list[str]:
    """How often a planted warm-up is found and its end covered, and how often one is seen where
    there is none."""
    rng = np.random.default_rng(SEED)
    lines = [
        "## Warm-up",
        "",
        f"{SERIES} series a row: 30 s, 2,000 requests whose ln(latency) scatters by 0.5, the first "
        "seconds slower by a factor. The 90 % interval covers an end that lies within a bin (0.3 "
        "s) of it.",
        "",
        "| warm-up | factor | called a warm-up | end covered | said to matter |",
        "| --- | --- | --- | --- | --- |",
    ]
    for until, factor in (
        (0.0, 1.0),
        (1.0, 1.2),
        (1.0, 2.0),
        (1.0, 10.0),
        (5.0, 1.2),
        (5.0, 2.0),
        (15.0, 1.2),
    ):
        present, covered, matters = [], [], []
        for _ in range(SERIES):
            t = np.sort(rng.uniform(0, 30, 2000))
            found = detect_warmup(
                t, np.exp(0.5 * rng.standard_normal(2000)) * np.where(t < until, factor, 1.0)
            )
            present.append(found.is_present)
            covered.append(found.low_s - 0.31 <= until <= found.high_s + 0.31)
            matters.append(found.matters)
        lines.append(
            f"| {until:g} s | {factor:g} | {np.mean(present):.3f} | {np.mean(covered):.3f} | "
            f"{np.mean(matters):.3f} |"
        )
    return [*lines, ""]


if __name__ == "__main__":
    sys.exit(main())
