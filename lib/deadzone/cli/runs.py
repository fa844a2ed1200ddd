"""`deadzone runs`: the runs that are kept, and what may be removed of the older ones."""

import json
import shutil

import click

from deadzone import places
from deadzone.errors import StoreError
from deadzone.store.run import (
    JOURNAL_FILE,
    LOGS,
    PROFILES_FOLDER,
    VERDICT_FILE,
    RunFolder,
    list_runs,
)
from deadzone.study.quantity import size_text

LARGE = ("*.jsonl", "*.parquet", "*.ipynb", PROFILES_FOLDER, LOGS)
"""What pruning removes of a run that has a verdict; history needs the rest."""


@click.command("runs")
@click.argument("study", default="")
@click.option("--prune", is_flag=True, help="List the older runs whose trials may be removed.")
@click.option(
    "--keep", default=10, type=click.IntRange(1), help="Newest runs of each study to keep."
)
@click.option("-y", "--yes", is_flag=True, help="Remove what --prune lists.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(study: str, prune: bool, keep: int, yes: bool, as_json: bool) -> None:
    """List the runs of STUDY, by default of all studies, the oldest first: state, size and setting.

    --prune removes no run that is being measured, is published or claimed, or that the history of
    its study names. Verdict and study stay, so that history goes on.
    """
    from deadzone.verbs.run import runs

    if yes and not prune:
        raise click.UsageError("--yes removes what --prune lists: add `--prune`.")
    older = _older(study, keep) if prune else {}
    frame = runs(study or None)[::-1]
    frame = frame[frame["run"].isin(older)] if prune else frame
    for run in older.values() if yes else ():
        _remove(run)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    if as_json:
        click.echo(json.dumps(rows, default=str))
        return
    for row in rows:
        size, setting = size_text(row["bytes"]), row["setting"]
        told = f"{row['state']:9}  {size:>9}  {'-' if setting is None else setting}"
        click.echo(f"{row['run']}  {row['started_at'][:16]:16}  {told}")
    size = size_text(sum(row["bytes"] for row in rows))
    what = f"{len(rows)} run{'s' if len(rows) != 1 else ''}, {size}"
    if not prune:
        click.echo(f"{what}, in {places.runs_folder()}")
    elif yes:
        click.echo(f"The trials of {what}, are removed.")
    else:
        click.echo(f"`--yes` removes the trials of {what}.")


def _older(study: str, keep: int) -> dict[str, RunFolder]:
    """The runs whose trials may be removed, by name."""
    from deadzone.report.sweep.history import history
    from deadzone.verbs.run import state_of

    every = list_runs(places.runs_folder(), study or None)
    older: dict[str, RunFolder] = {}
    for name in sorted({run.folder.parent.name for run in every}):
        of_study = [run for run in every if run.folder.parent.name == name]
        old = [run for run in of_study[:-keep] if state_of(run) == "measured"]
        if free := [run for run in old if _is_read(run)]:
            frame = history(name)  # it keeps the verdict of each run, too
            named = {*frame.loc[frame["ratio"].notna() | (frame["study_changed"] != ""), "run"]}
            unkept = {run.run_id for run in free if not (run.folder / VERDICT_FILE).exists()}
            named |= unkept & {*frame["run"]}  # its verdict could not be written
            older |= {f"{name}/{run.run_id}": run for run in free if run.run_id not in named}
    return older


def _is_read(run: RunFolder) -> bool:
    """Whether a run can be read here, which one of a later release or another pack cannot."""
    try:
        run.study(), run.provenance(), run.records()
    except StoreError:
        return False
    return True


def _remove(run: RunFolder) -> None:
    """Remove what a run measured; all of one without a verdict. Raises StoreError where it is being
    written."""
    with run.lock():
        if not (run.folder / VERDICT_FILE).exists():
            shutil.rmtree(run.folder)
        paths = [path for pattern in LARGE for path in run.folder.glob(pattern)]
        for path in sorted(paths, key=lambda path: path.name == JOURNAL_FILE):  # it goes last
            shutil.rmtree(path) if path.is_dir() else path.unlink()
