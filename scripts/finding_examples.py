"""Measure an example of each finding and draw what was seen: programs in which the mistake is made
on purpose.

Used as: .venv/bin/python scripts/finding_examples.py [KEY ...]

The studies lie in docs/findings/examples; each is swept, and the trials that its finding names are
marked in the picture beside it. One whose finding is not found is told, and its picture left as it
is.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill

import pandas as pd
from finding_pages import WITHOUT_EXAMPLE
from matplotlib.figure import Figure

from deadzone import style
from deadzone.analysis.finding import Finding
from deadzone.analysis.findings.examining import CATALOGUE
from deadzone.analysis.phases.quantities import axis_label
from deadzone.errors import DeadzoneError
from deadzone.report.sweep.analysis import Source, analyse
from deadzone.report.sweep.source import load_source
from deadzone.run.sweep.opening import planned
from deadzone.run.sweep.running import run_sweep
from deadzone.store.run import RunFolder
from deadzone.study.loading import load_study

EXAMPLES = Path(__file__).parent.parent / "docs" / "findings" / "examples"
ATTEMPTS = 3
"""Chance decides what some trials do: an example that shows nothing is measured again."""

SEEN_IN = {
    "error_printed": "error_lines",
    "less_work": "items",
    "not_the_program": "cpu_s",
    "left_running": "cpu_s",
    "knob_not_used": "cpu_s",
    "limit_not_felt": "cpu_efficiency",
    "few_periods": "cpu_efficiency",
    "neighbours_follow": "foreign_cpu",
    "unit_changes": "wall_s",
    "few_values": "wall_s",
    "work_differs": "cpu_s",
}
"""The column in which a finding shows, where it is not the response in the order of the trials."""

BESIDE = {
    "client_full": """
import socket, threading
def answer(one):
    while one.recv(4): one.sendall(b"done")
server = socket.create_server(("127.0.0.1", 18766), backlog=64)
while True:
    threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()
""",
    "neighbours_follow": """
import socket, threading, time
def work(one):
    end = time.thread_time() + 0.02
    while time.thread_time() < end: pass
    one.close()
server = socket.create_server(("127.0.0.1", 18765), backlog=64)
while True:
    work(server.accept()[0])
""",
}
"""What else works on the machine while an example is measured."""


@contextmanager
def beside(key: str) -> Iterator[None]:
    """The other program of an example, where it has one."""
    if key not in BESIDE:
        yield
        return
    other = subprocess.Popen([sys.executable, "-I", "-S", "-c", BESIDE[key]])
    time.sleep(0.5)
    try:
        yield
    finally:
        other.kill()
        other.wait()


def measured(key: str, folder: Path) -> Source:
    """A run of an example, or the table that its loop writes."""
    if (loop := EXAMPLES / f"{key}.sh").exists():
        table = folder / "trials.csv"
        table.write_text(
            subprocess.run(["sh", loop], capture_output=True, text=True, check=True).stdout
        )
        return load_source(table=str(table), knob="n", response="wall_s")
    plan = planned(load_study(EXAMPLES / f"{key}.yaml"), folder)
    run = RunFolder.create(folder / "runs", plan.study)
    with beside(key):
        run_sweep(plan, run)
    return load_source(str(run.folder))


def found_in(key: str) -> tuple[Source, Finding]:
    """A run in which the finding was found. Raises DeadzoneError if several have none."""
    said: object = ""
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as folder:
            try:
                source = measured(key, Path(folder))
            except DeadzoneError as error:
                said = error
                continue
            findings = analyse(source, anyway=True).findings
        if found := next((one for one in findings if one.key == key), None):
            return source, found
        said = ", ".join(one.key for one in findings) or "nothing"
    raise DeadzoneError(f"{key} was not found in {ATTEMPTS} runs; the last said: {said}.")


def drawn(source: Source, found: Finding) -> Figure:
    """Every trial by the level and by its order, those that the finding names marked, and its
    sentence."""
    table = source.trials
    trials = table.assign(order=range(1, len(table) + 1))
    if "user_s" in trials:
        trials["cpu_s"] = trials["user_s"] + trials["sys_s"]
    beside = SEEN_IN.get(found.key, source.response)
    named = pd.Series(False, index=trials.index)
    if found.trials:
        named = trials["trial"].isin(found.trials)
    elif found.levels:
        named = trials[source.knob].isin(found.levels)
    lost = trials.get("status", pd.Series("ok", index=trials.index)).isin(["failed", "timeout"])
    levels = {
        level: place for place, level in enumerate(dict.fromkeys(sorted(trials[source.knob])))
    }
    by_level = trials[source.knob].map(levels)
    ordered = "trial, in the order of the run"
    right = (
        (trials["order"], ordered)
        if beside == source.response
        else (by_level, axis_label(source.knob))
    )
    with style.figure_style():
        figure = Figure(figsize=(8, 3.6), layout="constrained")
        for ax, (x, label_x), column in zip(
            figure.subplots(1, 2),
            ((by_level, axis_label(source.knob)), right),
            (source.response, beside),
            strict=True,
        ):
            y = pd.to_numeric(trials[column], errors="coerce")
            for some, colour, mark, label in (
                (~named & ~lost, style.TRIAL_COLOUR, "o", "other trials"),
                (named & ~lost, style.OUTLIER_COLOUR, "D", "named by the finding"),
                (lost, style.OUTLIER_COLOUR, "x", "failed or timed out"),
            ):
                if some.any():
                    ax.scatter(
                        x[some],
                        y[some],
                        c=colour,
                        marker=mark,
                        s=22,
                        alpha=0.8,
                        label=label,
                        zorder=3,
                    )
            ax.set_ylabel(axis_label(column))
            ax.set_ylim(bottom=min(0.0, float(y.min())))
            ax.set_xlabel(label_x)
            if x is by_level:
                ax.set_xticks(list(levels.values()), [f"{level:g}" for level in levels])
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.suptitle(fill(str(found.sentence), 110), x=0.01, ha="left", fontsize=9)
    return figure


def main(keys: list[str]) -> int:
    """Draw the examples asked for, or all."""
    missed = 0
    for key in keys or [key for key in CATALOGUE if key not in WITHOUT_EXAMPLE]:
        try:
            source, found = found_in(key)
        except DeadzoneError as error:
            print(error, flush=True)
            missed += 1
            continue
        with style.figure_style():
            drawn(source, found).savefig(
                EXAMPLES / f"{key}.png", dpi=110, metadata={"Software": None}
            )
        print(f"{key}: {found.sentence}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
