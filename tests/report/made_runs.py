"""Runs on disk that nobody has to measure."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from nbformat import v4

import deadzone as package
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study

ROOT = Path(package.__file__).parents[2]

LEVELS = (0.25, 0.5, 1, 1.5, 2, 2.5, 3, "none")

STUDY = """
study: probe
title: A program under a CPU limit
question: Which limit is enough?
workload: {kind: command, argv: ["true"]}
factors: {cpu_limit: {levels: [0.25, 0.5, 1, 1.5, 2, 2.5, 3, none], unit: cores}}
design: {replicates: 4, warmup: 0, timeout_s: 10, cooldown_s: 0.5}
knob: cpu_limit
response: {name: wall_s, unit: s, goal: min}
"""

PROVENANCE = {
    "recorded_at": "2026-03-05T10:20:30+00:00", "host": "measuring-host", "cpu_model": "Some CPU",
    "target": "local", "cores_usable": 2, "memory_bytes": 8 * 2**30,
    "limits_mechanism": "cgroup-v2", "git_commit": "0123456789abcdef",
}  # fmt: skip


def new_repository(home: Path) -> Path:
    """A repository of the test's own with the project's notebooks."""
    (home / "notebooks" / "studies").mkdir(parents=True)
    for name in ("phases", "sweep"):
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", home / "notebooks")
    return home


def write_notebook(path: Path, *cells: nbformat.NotebookNode) -> Path:
    """Write a notebook for the kernel of this environment."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel}), path)
    return path


def brief_notebook(path: Path, text: str, *sources: str) -> Path:
    """Write a notebook that takes a run and says a text, in place of a whole analysis. sources: of
    cells below it."""
    parameters = 'run: str = "latest"  # run to analyse\ntolerance: float = 0.03  # a share'
    given = v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    return write_notebook(path, v4.new_markdown_cell(text), given, *map(v4.new_code_cell, sources))


def record(trial: int, level: Any, wall: float, block: int, **changes: Any) -> dict[str, Any]:
    started = datetime(2026, 3, 5, 10, 20, 30, tzinfo=UTC) + timedelta(seconds=2 * trial)
    return {
        "trial": trial, "attempt": 1, "final": True, "block": block, "replicate": block,
        "warmup": False, "started_at": started.isoformat(), "levels": {"cpu_limit": level},
        "wall_s": wall, "user_s": wall, "sys_s": 0.0, "cpu_efficiency": 1.0, "foreign_cpu": 0.0,
        "steal": 0.0, "memory_pressure": None, "io_pressure": None, "max_rss_bytes": 1000,
        "nr_periods": 10, "nr_throttled": 0 if level == "none" else 5, "throttled_s": 0.1,
        "exit_code": 0, "status": "ok", "error": None, "trusted": True, "distrust_reason": None,
        "responses": {}, **changes,
    }  # fmt: skip


def curve(level: Any) -> float:
    """Wall time of a program that can use two cores [s]."""
    return 4 / min(2.0, 9.0 if level == "none" else float(level))


Change = Callable[[dict[str, Any]], dict[str, Any] | None]


def write_run(
    home: Path, change: Change | None = None, run_id: str = "run-1", replicates: int = 4
) -> RunFolder:
    """Write a run: `change` takes a record of the journal and gives the one to write, or None to
    leave it out."""
    rng = np.random.default_rng(4)
    run = RunFolder.create(home / "data" / "runs", parse_study(STUDY, "study.yaml"), run_id)
    for number in range(replicates * len(LEVELS)):
        block, level = number // len(LEVELS) + 1, LEVELS[number % len(LEVELS)]
        took = curve(level) * float(np.exp(0.01 * rng.standard_normal()))
        line = record(number + 1, level, took, block)
        kept = change(line) if change else line
        if kept:
            run.append(kept)
    run.write_tables()
    (run.folder / "provenance.json").write_text(json.dumps(PROVENANCE))
    return run


def write_runs(home: Path, *factors: float, **changed: Any) -> list[RunFolder]:
    """Write runs of one study, a day apart, each as slow as a factor says. changed: circumstances
    of those whose factor is not 1."""
    runs: list[RunFolder] = []
    for number, factor in enumerate(factors):
        run_id = f"run-{number:02}"
        if factor in factors[:number]:
            alike = runs[factors.index(factor)].folder
            run = RunFolder(shutil.copytree(alike, alike.with_name(run_id)))
        else:
            run = write_run(home, partial(_slower, factor), run_id)
        facts = {**PROVENANCE, "recorded_at": f"2026-03-{number + 1:02}T10:00:00+00:00"}
        run.write_provenance(facts | (changed if factor != 1 else {}))
        runs.append(run)
    return runs


def _slower(factor: float, line: dict[str, Any]) -> dict[str, Any]:
    return {**line, "wall_s": line["wall_s"] * factor}
