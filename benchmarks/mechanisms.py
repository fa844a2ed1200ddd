"""Measure how often a planted mechanism is named, and a wrong one; write the table.

    python benchmarks/mechanisms.py [--seeds N]

Each program stops scaling by exactly one mechanism (planted_mechanisms.py) and is really run, so neighbours matter. Writes
docs/benchmarks/mechanisms.md; of it only what stands under the heading "By hand" is typed, and kept.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from pathlib import Path

from planted_mechanisms import PLANTED, built, trials

import deadzone
from deadzone.store.provenance import cpu_model, usable_cores

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "mechanisms.md"
BY_HAND = "\n## By hand\n"
REPLICATES = 6
SEEDS = 20


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = parser.parse_args().seeds
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder))
        if program is None:
            print("No C compiler; install gcc.")
            return 1
        rows = [_row(name, program, seeds) for name in PLANTED]
    page = [
        "# Which mechanism is named for a phase",
        "",
        "Written by `benchmarks/mechanisms.py`; only what stands under *By hand* is typed.",
        "",
        f"deadzone {deadzone.__version__}; {datetime.datetime.now(datetime.UTC):%Y-%m-%d}; {usable_cores()} cores of {cpu_model()}; "
        f"load of the machine {before:.1f} before and {os.getloadavg()[0]:.1f} after (a quiet one has about 0).",
        "",
        f"Each program is run at 3 levels with {REPLICATES} trials each, {seeds} times. Named: the planted mechanism is confirmed for "
        "some phase, or, where it scales to the end, none is. Wrong: another one is confirmed. Open: of the others, the share of "
        "verdicts that stay undecided.",
        "",
        "| program | mechanism | runs | named | wrong | open |",
        "| --- | --- | --- | --- | --- | --- |",
        *rows,
    ]
    _, heading, typed = (PAGE.read_text(encoding="utf-8") if PAGE.exists() else "").partition(BY_HAND)
    text = "\n".join(page) + "\n" + heading + typed
    print(text)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def _row(name: str, program: Path, seeds: int) -> str:
    of = PLANTED[name]
    named = wrong = open_ = others = 0
    for seed in range(seeds):
        frame = trials(program, of, REPLICATES, seed)
        table = deadzone.explain_phases(frame, deadzone.fit_phases(frame, of.knob, "wall_s")).table
        confirmed = set(table["mechanism"][table["verdict"] == "confirmed"])
        named += of.names in confirmed if of.names else not confirmed
        wrong += bool(confirmed - {of.names})
        rest = table[table["mechanism"] != of.names]
        open_ += int((rest["verdict"] == "undecided").sum())
        others += len(rest)
    return f"| {name} | {of.names or 'none'} | {seeds} | {named} | {wrong} | {open_ / others:.0%} |"


if __name__ == "__main__":
    sys.exit(main())
