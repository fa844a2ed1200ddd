"""Whether the engines of the disk workload agree: fio and the built-in one on one disk, in
turns.

Run: .venv/bin/python benchmarks/disk.py [--replicates 7] [--folder FOLDER] Writes
docs/benchmarks/disk.md. The engines take turns within each block of trials, so that neighbours and
the device's own moods fall on all alike; ratios are of medians, with bootstrap intervals.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from deadzone import __version__
from deadzone.errors import TargetError
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.running import run_sweep
from deadzone.store.programs import program_version
from deadzone.store.provenance import cpu_model, operating_system, usable_cores

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "benchmarks" / "disk.md"

ENGINES = ("fio", "builtin")
BLOCKS = ("4KiB", "64KiB", "1MiB")
OPERATIONS = ("first_write", "overwrite", "read")

AGREEMENT = 0.10
"""Engines agree where their ratio is within this, or noise cannot tell it from 1. Below 64 KiB
Python's own time a call shows beside that of a fast device, which is stated and no target."""

NO_DOUBTS = {
    "max_foreign_cpu": 999,
    "max_steal": 999,
    "max_pressure": 1,
    "max_clock_drift": 999,
    "max_attempts": 1,
}
"""Turns make the neighbours' share the same for all engines; repeating trials would only wear the
disk."""

LIMITS = {"io_bandwidth_limit": 40_000_000, "iops_limit": 2_000}
"""Under limits far below what the disk can do, the engines must agree whatever the neighbours
do."""

DRAWS, SEED = 4000, 1993


def measured(
    folder: Path, replicates: int, name: str = "disk-engines", limits: dict[str, int] | None = None
) -> tuple[pd.DataFrame, dict[str, object]]:
    """Trials of every engine, block size and operation; and the run's provenance."""
    document: dict[str, Any] = {
        "study": name,
        "workload": {
            "kind": "disk",
            "folder": str(folder / "files"),
            "file_size": "256MiB",
            "duration_s": 1.0,
            "trial_bytes": "64MiB",
            "max_written_bytes": f"{max(8, replicates * 2)} GiB",
        },
        "factors": {
            "block_size": list(BLOCKS),
            "operation": list(OPERATIONS),
            "engine": list(ENGINES),
        },
        "design": {"replicates": replicates, "warmup": 1, "seed": 20231014, "timeout_s": 60},
        "response": {"name": "throughput_bytes_s", "unit": "bytes/s", "goal": "max"},
        "trust": NO_DOUBTS,
    }
    if limits:
        document["target"] = {"kind": "local", **limits}
        document["factors"] = {**document["factors"], "operation": list(OPERATIONS[1:])}
    study = folder / f"{name}.yaml"
    study.write_text(yaml.safe_dump(document))
    opened = open_run(str(study), runs=folder / "runs")
    run = run_sweep(opened.plan, opened.run)
    trials = run.trials()
    return trials[(~trials["warmup"].astype(bool)) & (trials["status"] == "ok")], run.provenance()


def compared(trials: pd.DataFrame) -> pd.DataFrame:
    """One row a treatment: MB/s of each engine, and the ratios to fio with their 95 % intervals."""
    rng, rows = np.random.default_rng(SEED), []
    for (size, operation), group in trials.groupby(["block_size", "operation"], sort=False):
        rates = {
            name: part["throughput_bytes_s"].to_numpy(float) / 1e6
            for name, part in group.groupby("engine")
        }
        row: dict[str, object] = {"block_size": size, "operation": operation}
        row |= {name: float(np.median(values)) for name, values in rates.items()}
        for name in ENGINES[1:]:
            a, b = rates["fio"], rates[name]
            draws = [
                np.median(rng.choice(b, len(b))) / np.median(rng.choice(a, len(a)))
                for _ in range(DRAWS)
            ]
            low, high = np.quantile(draws, [0.025, 0.975])
            ratio = float(np.median(b) / np.median(a))
            row |= {f"{name}_ratio": ratio, f"{name}_low": low, f"{name}_high": high}
            row[f"{name}_agrees"] = abs(ratio - 1) <= AGREEMENT or low <= 1 <= high
        rows.append(row)
    return pd.DataFrame(rows).sort_values(["operation", "block_size"])


def report(
    table: pd.DataFrame,
    limited: pd.DataFrame | None,
    facts: dict[str, object],
    replicates: int,
    load: float,
) -> str:
    """The page in docs/benchmarks/."""
    judged = [f"{name}_agrees" for name in ENGINES[1:]]
    agreeing, cells = int(table[judged].to_numpy(bool).sum()), table[judged].size
    lines = [
        "# Whether the engines of the disk workload agree",
        "",
        f"Written by `{' '.join(('benchmarks/disk.py', *sys.argv[1:]))}`; not edited by hand.",
        "",
        f"deadzone {__version__}, Python {sys.version.split()[0]}, "
        f"{program_version(('fio', '--version')) or 'no fio'}; "
        f"{datetime.now(UTC):%Y-%m-%d}; "
        f"{usable_cores()} cores of {cpu_model()}, Linux {os.uname().release}, "
        f"{operating_system()}; load average when it began: {load:.2f}.",
        "",
        f"Disk: {facts.get('disk_device')} ({facts.get('disk_kind')}), {facts.get('file_system')}, "
        f"scheduler {facts.get('disk_scheduler')}. One call under way at a time, past the page "
        f"cache, random data, 64 MiB a trial that writes and 1 s a trial that reads, {replicates} "
        "trials each, engines in turns. Median MB/s, and the ratio to fio with a 95 % interval.",
        "",
        "| operation | block (bytes) | fio | built-in | built-in / fio |",
        "| --- | --- | --- | --- | --- |",
        *(_line(row) for row in table.to_dict("records")),
        "",
        *_limited(limited),
        f"Within {AGREEMENT:.0%} of fio, or not told from it by noise: {agreeing} of {cells} "
        "comparisons.",
        "",
        "In blocks of 4 KiB a call takes some 30 µs on a fast device, and Python adds 5 to 10 µs "
        "between two calls: there the built-in engine's throughput is lower than fio's, while its "
        "latencies are the same. fio counts its time in whole milliseconds, which is 2 % of a "
        "trial of 50 ms.",
        "",
    ]
    return "\n".join(lines)


def _limited(table: pd.DataFrame | None) -> list[str]:
    """The engines under known limits, which are the truth then."""
    if table is None:
        return [
            "No I/O limit can be put in force here, so the engines were not compared under one.",
            "",
        ]
    return [
        f"The same under limits of {LIMITS['io_bandwidth_limit']:,} bytes/s and "
        f"{LIMITS['iops_limit']:,} calls/s, which {LIMITS['iops_limit'] * 4096 / 1e6:.1f} MB/s in "
        f"blocks of 4 KiB and {LIMITS['io_bandwidth_limit'] / 1e6:.0f} MB/s in larger ones follow "
        "from:",
        "",
        "| operation | block (bytes) | fio | built-in | built-in / fio |",
        "| --- | --- | --- | --- | --- |",
        *(_line(row) for row in table.to_dict("records")),
        "",
    ]


def _line(row: dict[str, object]) -> str:
    cells = [f"{float(str(row[name])):,.0f}" for name in ENGINES]
    for name in ENGINES[1:]:
        ratio, low, high = (float(str(row[f"{name}_{part}"])) for part in ("ratio", "low", "high"))
        cells.append(f"{ratio:.2f} ({low:.2f} to {high:.2f})")
    return f"| {row['operation']} | {row['block_size']:,} | {' | '.join(cells)} |"


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=ROOT)
    parser.add_argument("--report", type=Path, default=REPORT)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix=".benchmark-") as name:
        trials, facts = measured(Path(name), arguments.replicates)
        try:
            limited = compared(
                measured(Path(name), arguments.replicates, "disk-limited", LIMITS)[0]
            )
        except TargetError:
            limited = None
    text = report(compared(trials), limited, facts, arguments.replicates, load)
    arguments.report.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
