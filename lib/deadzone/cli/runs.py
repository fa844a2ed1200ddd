"""`deadzone runs`: the runs that are kept, and what may be removed of the older ones."""

import contextlib
import fcntl
import json
import shutil
from itertools import groupby
from typing import Any

import click

from deadzone import places
from deadzone.errors import StoreError
from deadzone.store.run import (
    CLAIMS_FILE,
    LOCK_FILE,
    OVERRIDES_FILE,
    PROVENANCE_FILE,
    STUDY_FILE,
    STUDY_NAME_FILE,
    VERDICT_FILE,
    RunFolder,
    list_runs,
)
from deadzone.study.quantity import size_text

SMALL = {STUDY_FILE, STUDY_NAME_FILE, OVERRIDES_FILE, PROVENANCE_FILE, VERDICT_FILE, LOCK_FILE}
"""Files of a run that history needs, and that stay."""

MEASURED = "measured"


@click.command("runs")
@click.argument("study", default="")
@click.option("--prune", is_flag=True, help="List the older runs whose trials may be removed.")
@click.option(
    "--keep", default=10, type=click.IntRange(1), help="Newest runs of each study that stay."
)
@click.option("-y", "--yes", is_flag=True, help="Remove what --prune lists.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(study: str, prune: bool, keep: int, yes: bool, as_json: bool) -> None:
    """List the runs of STUDY, by default of all studies, the oldest first: state, size and setting.

    --prune removes no run that is being measured, is published or claimed, or that the history of
    its study names. Verdict and study stay, so that history goes on.
    """
    runs = list_runs(places.runs_folder(), study or None)
    if prune:
        runs = _older(runs, keep)
    rows = [_row(run) for run in runs]
    if prune and yes:
        for run in runs:
            _remove(run)
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        size = size_text(row["bytes"])
        click.echo(
            f"{row['run']}  {row['date'][:16]:16}  {row['state']:9}  {size:>9}  {row['setting']}"
        )
    total = size_text(sum(row["bytes"] for row in rows))
    if not prune:
        click.echo(f"{len(rows)} runs, {total}, in {places.runs_folder()}")
    elif yes or not rows:
        click.echo(f"The trials of {len(rows)} runs are removed, {total}.")
    else:
        click.echo(f"`--yes` removes the trials of these {len(rows)} runs, {total}.")


def _row(run: RunFolder) -> dict[str, Any]:
    verdict, facts = {}, {}
    with contextlib.suppress(StoreError):  # a file that something damaged
        verdict, facts = run.verdict().get("recommendation", {}), run.provenance()
    files = [path for path in run.folder.rglob("*") if path.is_file()]
    setting = verdict.get("setting")
    return {
        "run": f"{run.folder.parent.name}/{run.run_id}",
        "date": facts.get("recorded_at", "-"),
        "state": _state(run),
        "bytes": sum(path.stat().st_size for path in files),
        "setting": "-" if setting is None else str(setting),
    }


def _state(run: RunFolder) -> str:
    """What a run is, and so whether it may be removed: one that is `measured` and no more may."""
    if _is_measuring(run):
        return "measuring"
    if (places.reports_folder() / run.folder.parent.name / run.run_id).exists():
        return "published"
    if (run.folder / CLAIMS_FILE).exists():
        return "claimed"
    return MEASURED if run.journal_file.exists() else "no trials"


def _is_measuring(run: RunFolder) -> bool:
    try:
        with (run.folder / LOCK_FILE).open("rb") as holder:
            fcntl.flock(holder, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _older(runs: list[RunFolder], keep: int) -> list[RunFolder]:
    """The runs whose trials may be removed, study by study."""
    from deadzone.report.sweep.history import history

    older: list[RunFolder] = []
    for study, group in groupby(
        sorted(runs, key=lambda run: run.folder.parent.name), lambda run: run.folder.parent.name
    ):
        free = [run for run in [*group][:-keep] if _state(run) == MEASURED]
        if free:
            frame = history(study)  # it keeps the verdict of each run, too
            named = {*frame.loc[frame["ratio"].notna() | (frame["study_changed"] != ""), "run"]}
            older += [run for run in free if run.run_id not in named]
    return older


def _remove(run: RunFolder) -> None:
    """Remove what a run measured; all of one without a verdict. Raises StoreError where it is being
    written."""
    with run.lock():
        kept = SMALL if (run.folder / VERDICT_FILE).exists() else ()
        for path in run.folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not kept:
        shutil.rmtree(run.folder)
