"""How long a report takes: from a stored run of 500 trials to page and PDF, and where the time
goes.

Each figure is the median of several rounds, in a fresh process a round as a person's command is
one; the targets are those of the project. Writes docs/benchmarks/reports.md.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "docs" / "benchmarks" / "reports.md"

ROUNDS = 5
LEVELS = 20
TRIALS = 500

MOST_FROM_NOTEBOOK_S = 2.0
"""Page and PDF from an executed notebook [s]."""

MOST_FROM_RUN_S = 8.0
"""Page and PDF from a stored run [s]."""

STUDY = """
study: bench
title: A program under a CPU limit
question: Which limit is enough?
workload: {{kind: command, argv: ["true"]}}
factors: {{cpu_limit: {{levels: {levels}, unit: cores}}}}
design: {{replicates: {replicates}, warmup: 0, timeout_s: 10}}
knob: cpu_limit
response: {{name: wall_s, unit: s, goal: min}}
"""


def main() -> int:
    """Measure and write the table; ends with 1 if a target is missed."""
    with tempfile.TemporaryDirectory(prefix="deadzone-bench-") as scratch:
        home = Path(scratch)
        _write_repository(home)
        _in_process(home)  # the first one compiles what is imported, once for an installation
        rounds = [_in_process(home) for _ in range(ROUNDS)]
    typical = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    text = _table(typical)
    print(text)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(text, encoding="utf-8")
    met = (
        typical["page_and_pdf"] <= MOST_FROM_NOTEBOOK_S and typical["end_to_end"] <= MOST_FROM_RUN_S
    )
    return 0 if met else 1


def _write_repository(home: Path) -> None:
    """A repository with the project's notebooks and one run."""
    import numpy as np

    from deadzone.store.run import RunFolder
    from deadzone.study.loading import parse_study

    (home / "notebooks" / "studies").mkdir(parents=True)
    for name in ("phases", "sweep"):
        (home / "notebooks" / f"{name}.ipynb").write_bytes(
            (ROOT / "notebooks" / f"{name}.ipynb").read_bytes()
        )
    (home / "notebooks" / "empty.ipynb").write_text(_empty_notebook())
    levels = [round(0.25 * i, 2) for i in range(1, LEVELS + 1)]
    study = parse_study(STUDY.format(levels=levels, replicates=TRIALS // LEVELS), "study.yaml")
    run = RunFolder.create(home / "data" / "runs", study, "run-1")
    rng = np.random.default_rng(7)
    for number in range(TRIALS):
        block, level = divmod(number, LEVELS)
        wall = 4 / min(2.0, levels[level]) * float(np.exp(0.02 * rng.standard_normal()))
        run.append(_record(number + 1, levels[level], wall, block + 1))
    run.write_tables()
    facts = {"recorded_at": "2026-03-05T10:20:30+00:00", "host": "bench", "cores_usable": 2}
    (run.folder / "provenance.json").write_text(json.dumps(facts))


def _record(trial: int, level: float, wall: float, block: int) -> dict[str, object]:
    started = f"2026-03-05T{10 + trial // 3600:02d}:{trial // 60 % 60:02d}:{trial % 60:02d}+00:00"
    return {
        "trial": trial, "attempt": 1, "final": True, "block": block, "replicate": block,
        "warmup": False, "started_at": started, "levels": {"cpu_limit": level}, "wall_s": wall,
        "user_s": wall, "sys_s": 0.0, "cpu_efficiency": min(2.0, level), "foreign_cpu": 0.0,
        "steal": 0.0, "memory_pressure": None, "io_pressure": None, "max_rss_bytes": 1000,
        "nr_periods": 10, "nr_throttled": 5, "throttled_s": 0.1, "exit_code": 0, "status": "ok",
        "error": None, "trusted": True, "distrust_reason": None, "responses": {},
    }  # fmt: skip


def _empty_notebook() -> str:
    import nbformat.v4 as v4
    from nbformat import writes

    cell = v4.new_code_cell("pass", metadata={"tags": ["parameters"]})
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return str(writes(v4.new_notebook(cells=[cell], metadata=metadata)))


def _in_process(home: Path) -> dict[str, float]:
    """One round in a process of its own."""
    environment = {**os.environ, "DEADZONE_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, __file__, "round"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    whole = json.loads(done.stdout.splitlines()[-1])
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "deadzone.cli.main", "report", "bench/run-1"], env=environment,
        check=True, capture_output=True,
    )  # fmt: skip
    return {**whole, "end_to_end": time.monotonic() - began}


def _one_round() -> None:
    """Time the steps one by one, and print them as JSON."""
    from deadzone import places
    from deadzone.report.document.document import document_of, page, read_notebook
    from deadzone.report.document.execution import execute
    from deadzone.report.document.pdf import pdf

    took: dict[str, float] = {}

    def timed(name: str, step: Callable[[], object]) -> object:
        began = time.monotonic()
        result = step()
        took[name] = time.monotonic() - began
        return result

    with tempfile.TemporaryDirectory() as scratch:
        executed = Path(scratch) / "executed.ipynb"
        timed("import_papermill", lambda: importlib.import_module("papermill"))
        timed("import_writers", lambda: importlib.import_module("typst"))
        timed("kernel_start", lambda: execute(places.notebook("empty"), executed, {}))
        timed(
            "papermill",
            lambda: execute(places.notebook("phases"), executed, {"run": "bench/run-1"}),
        )
        began = time.monotonic()
        document = document_of(read_notebook(executed))
        timed("html", lambda: page(document))
        timed("pdf", lambda: pdf(document))
        took["page_and_pdf"] = time.monotonic() - began
    print(json.dumps(took))


def _table(seconds: dict[str, float]) -> str:
    rows = (
        ("papermill executes the notebook", "papermill", ""),
        ("of which the kernel's start and end", "kernel_start", ""),
        ("HTML", "html", ""),
        ("PDF", "pdf", ""),
        ("HTML and PDF from an executed notebook", "page_and_pdf", f"{MOST_FROM_NOTEBOOK_S:g}"),
        ("`deadzone report`: from a stored run to both", "end_to_end", f"{MOST_FROM_RUN_S:g}"),
        ("import of papermill, before the kernel starts", "import_papermill", ""),
        ("import of Typst, while the kernel works", "import_writers", ""),
    )
    lines = [
        "# How long a report takes",
        "",
        f"A stored run of {TRIALS} trials at {LEVELS} levels; median of {ROUNDS} rounds on "
        f"{os.cpu_count()} cores (load average",
        f"{os.getloadavg()[0]:.1f} meanwhile), each in a fresh process. Made by `python "
        "benchmarks/reports.py`.",
        "",
        "| step | seconds | target |",
        "| --- | ---: | ---: |",
        *(f"| {name} | {seconds[key]:.2f} | {target} |" for name, key, target in rows),
        "",
        f"The kernel's start is {seconds['kernel_start'] / seconds['end_to_end']:.0%} of the "
        "whole.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["round"]:
        _one_round()
    else:
        sys.exit(main())
