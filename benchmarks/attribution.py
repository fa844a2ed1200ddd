"""Measure whether attribution names a planted cause and excludes the others; write the table.

    python benchmarks/attribution.py [RUNS]

The bundled service is slowed by a CPU limit, by a relay before the first byte, by flushes to the
disk, and by nothing, RUNS times each (default 20; some 20 minutes). Writes
docs/benchmarks/attribution.md; nothing in it is typed by hand.
"""

from __future__ import annotations

import datetime
import platform
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from planted_causes import (
    CAUSES,
    DELAY_S,
    DISK_BYTES_S,
    LIMIT_CORES,
    PADDING_BYTES,
    Verdict,
    run_once,
)

from deadzone import __version__
from deadzone.store.provenance import cpu_model, usable_cores

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "attribution.md"

RUNS = 20
WANTED = 19
"""Of 20 runs with a planted cause, in so many must it be named and the others excluded."""

BLOCKS = 8
"""Requests in each environment of a run."""


def main() -> int:
    """Run the rig and write the page; ends with 1 if too few verdicts are right."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    found: dict[str, list[Verdict]] = {cause: [] for cause in CAUSES}
    with tempfile.TemporaryDirectory(prefix="deadzone-attribution-") as scratch:
        for seed in range(1, runs + 1):
            for cause in CAUSES:  # in turns, so that no cause has the quiet hour to itself
                verdict = run_once(cause, Path(scratch) / cause, BLOCKS, seed)
                found[cause].append(verdict)
                print(_line(verdict, seed), flush=True)
    text = "\n".join(_page(found, runs)) + "\n"
    print(text)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0 if all(_right(verdicts) >= WANTED / RUNS * runs for verdicts in found.values()) else 1


def _page(found: dict[str, list[Verdict]], runs: int) -> list[str]:
    lines = [
        "# Does attribution name a planted cause?",
        "",
        "Written by `benchmarks/attribution.py`; not edited by hand.",
        "",
        f"deadzone {__version__}, Python {platform.python_version()}, numpy {np.__version__}; "
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}; {usable_cores()} cores of {cpu_model()}.",
        "",
        f"The bundled upload service in two environments, {BLOCKS} requests in each, in randomised "
        f"blocks (seeds 1 to {runs}). Planted: a limit of {LIMIT_CORES:g} cores; a relay that "
        f"holds back the first byte of the answer by {DELAY_S:g} s; a flush to the disk after "
        f"every piece of an upload of {PADDING_BYTES / 1e6:.1f} MB, on a disk that takes "
        f"{DISK_BYTES_S / 1e6:.0f} MB/s; nothing. Right means: the planted cause is confirmed and "
        "the four others are excluded; where nothing is planted, all five are excluded. Wanted "
        "are 19 of 20. No trial is repeated for its neighbours.",
        "",
        "| planted | right | wrong cause confirmed | planted cause excluded | undecided somewhere "
        "| slower by (median) | share explained (median) | a run takes |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_row(cause, verdicts) for cause, verdicts in found.items()]
    lines += [
        "",
        "Undecided, by hypothesis and reason:",
        "",
        "| planted | undecided |",
        "| --- | --- |",
    ]
    for cause, verdicts in found.items():
        why: Counter[str] = Counter()
        for verdict in verdicts:
            rows = verdict.result.hypotheses
            why.update(
                f"{row.hypothesis} ({row.why})"
                for row in rows.itertuples()
                if row.verdict == "undecided"
            )
        lines.append(
            f"| {cause} | {', '.join(f'{name}: {n}' for name, n in why.most_common()) or 'none'} |"
        )
    busy = [
        float(verdict.result.medians["plain"])
        for verdicts in found.values()
        for verdict in verdicts
    ]
    return [
        *lines,
        "",
        f"Median answer of the plain service: {np.median(busy):.2f} s, between {min(busy):.2f} and "
        f"{max(busy):.2f} s from run to run.",
    ]


def _row(cause: str, verdicts: list[Verdict]) -> str:
    planted = CAUSES[cause][1]
    n = len(verdicts)
    wrong = sum(bool(set(v.result.confirmed) - {planted}) for v in verdicts)
    denied = sum(planted in v.result.named("excluded") for v in verdicts)
    left = sum(bool(v.result.named("undecided")) for v in verdicts)
    slower = np.median([v.result.slowdown["difference_s"] for v in verdicts])
    share = "-"
    if planted:
        share = f"{100 * np.median([v.result.of(planted)['share'] for v in verdicts]):.0f} %"
    took = np.median([v.took_s for v in verdicts])
    return (
        f"| {cause} | {_right(verdicts)} of {n} | {wrong} | {denied} | {left} | {slower:.2f} s | "
        f"{share} | {took:.0f} s |"
    )


def _right(verdicts: list[Verdict]) -> int:
    return sum(verdict.is_right for verdict in verdicts)


def _line(verdict: Verdict, seed: int) -> str:
    rows = verdict.result.hypotheses
    said = ", ".join(
        f"{row.hypothesis} {row.verdict}{f' ({row.why})' if row.why else ''}"
        for row in rows.itertuples()
    )
    return (
        f"{seed:3d} {verdict.cause:14s} {'right' if verdict.is_right else 'NOT RIGHT'} in "
        f"{verdict.took_s:.0f} s: {said}"
    )


if __name__ == "__main__":
    sys.exit(main())
