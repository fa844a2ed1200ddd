"""`deadzone run`: execute a study's notebooks with papermill, watching the sweep's journal meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadzone.cli.parameters import overrides_of, study_options
from deadzone.cli.report import warn_of_language
from deadzone.cli.sweep import print_plan

if TYPE_CHECKING:
    from deadzone.store.run import Run
    from deadzone.study.spec import Study


@click.command("run")
@study_options
def command(
    study: str,
    parameters: tuple[tuple[str, str], ...],
    parameter_file: Path | None,
    replicates: int | None,
    warmup: int | None,
    resume: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Sweep STUDY, fit its phases and publish the report, by executing the notebooks.

    -p and -f set parameters of the notebooks, or values of the study by name or key path.
    """
    from deadzone.report.secrets import refuse_secrets

    given = overrides_of(parameters, parameter_file, replicates, warmup)
    refuse_secrets(given)
    analysis, overrides = _split(given)
    warn_of_language(analysis.get("lang"))
    if dry_run:
        print_plan(study, overrides, as_json)
        return
    run = _sweep(study, overrides, resume)
    page = _publish(run, analysis)
    click.echo(
        json.dumps({"run_id": run.run_id, "folder": str(run.folder), "report": str(page)})
        if as_json
        else str(page)
    )


def _split(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which parameters are the analysis notebook's, and which are the study's."""
    from deadzone import places
    from deadzone.report.execution import notebook_parameters
    from deadzone.study.spec import Study

    names = set(notebook_parameters(places.notebook("phases"))) - {"run", "table", *Study.model_fields}
    return {n: v for n, v in given.items() if n in names}, {n: v for n, v in given.items() if n not in names}


def _publish(run: Run, analysis: dict[str, Any]) -> Path:
    """Publish page, PDF and notebook; returns the study's front page."""
    from deadzone.report.publishing import publish_run

    return publish_run(run, analysis).front


def _sweep(study: str, overrides: dict[str, Any], resume: str | None) -> Run:
    """Execute the sweep notebook; its own copy is kept in the run's folder."""
    from deadzone import places
    from deadzone.report.execution import execute
    from deadzone.store.run import Run, new_run_id
    from deadzone.study.loading import find_study
    from deadzone.sweep.opening import open_run
    from deadzone.sweep.progress import PROGRESS_VARIABLE
    from deadzone.sweep.running import resolved_study
    from deadzone.targets.leftovers import remove_leftovers

    path = find_study(study, places.study_folders()).resolve()
    if resume:
        opened = open_run(str(path), overrides, resume=resume)
        resolved, run = opened.study, opened.run
        parameters = {"resume": str(run.folder)}
    else:
        resolved = resolved_study(path, overrides)
        run = Run(places.runs_folder() / resolved.study / new_run_id())
        parameters = {"run_id": run.run_id}
    watcher = _Watcher(resolved, run)
    with tempfile.TemporaryDirectory(prefix="deadzone-sweep-") as scratch:
        executed = Path(scratch) / "sweep.ipynb"
        try:
            execute(
                places.notebook("sweep"),
                executed,
                {"study": str(path), "overrides": overrides, **parameters},
                environment={PROGRESS_VARIABLE: "silent"},
                watch=watcher.look,
                interrupt=watcher.interrupt,
            )
        finally:
            watcher.close()
            remove_leftovers()
            if executed.exists() and run.folder.is_dir():
                with contextlib.suppress(OSError):
                    shutil.copyfile(executed, run.folder / "sweep.ipynb")
    return run


class _Watcher:
    """Reads the journal that the notebook writes, and draws the progress of it here."""

    def __init__(self, study: Study, run: Run) -> None:
        from deadzone.store.journal import JournalTail
        from deadzone.study.design import plan
        from deadzone.sweep.estimate import Estimate
        from deadzone.sweep.progress import progress_on

        self._run = run
        self._journal = JournalTail(run.journal_file)
        self._left = {trial.trial: trial for trial in plan(study)}
        self._total = len(self._left)
        self._estimate = Estimate(tuple(self._left.values()), study.design.cooldown_s)
        self._progress = progress_on()

    def look(self) -> None:
        """Show how far the sweep is, if the journal has grown; reads no record twice, for it must not disturb."""
        from deadzone.store.run import finished_trials

        new = self._journal.new_records()
        if not new:
            return
        for record in new:
            self._estimate.add(record)
        for number in finished_trials(new) & self._left.keys():
            self._estimate.finish(self._left.pop(number))
        following = next(iter(self._left.values()), None)
        current = following.treatment.label() if following else "fitting and reporting"
        self._progress.show(self._total - len(self._left), self._total, current, self._estimate.left_s())

    def interrupt(self) -> None:
        """Ask the process that measures to stop; it cleans up behind itself."""
        writer = self._run.writer()
        if writer and writer != os.getpid():
            with contextlib.suppress(OSError):
                os.kill(writer, signal.SIGINT)

    def close(self) -> None:
        """Leave one line that says where the trials are."""
        if not self._run.journal_file.exists():
            self._progress.close("Nothing was measured.")
            return
        records = self._run.records()
        trusted = sum(1 for record in records if record["trusted"])
        self._progress.close(
            f"Run {self._run.run_id}: {len(records)} trials measured, {trusted} of them trusted, in {self._run.folder}"
        )
