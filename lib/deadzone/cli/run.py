"""`deadzone run`: execute a study's notebooks with papermill."""

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from deadzone import places
from deadzone.cli.claims import fail_where_claims_fell, say_claims
from deadzone.cli.options import details_option, gone, tell
from deadzone.cli.parameters import Asked, study_options
from deadzone.cli.report import warn_of_pdf
from deadzone.cli.sweep import print_plan
from deadzone.errors import EXIT_FINDING, EXIT_MOVED, ReportError, StudyError, check_known
from deadzone.language.messages import LANGUAGES, speaking
from deadzone.report.document.execution import execute, notebook_parameters, refuse_secrets
from deadzone.report.document.publishing import publish_run, read_entry, run_parameter
from deadzone.run.sweep.opening import open_run, planned_file
from deadzone.run.sweep.progress import PROGRESS_VARIABLE, shown_on
from deadzone.run.targets.undo_log import give_back_left_over
from deadzone.store.command_lines import way_on
from deadzone.store.run import RunFolder, new_run_id
from deadzone.study.design import refuse_unanswerable
from deadzone.study.direction import GOALS
from deadzone.study.loading import find_study, load_study
from deadzone.study.spec import Study

INSTEAD_OF_ARCHIVE = (
    "keep data/runs and reports on a volume, or copy both before and after the run, as in `rclone "
    "sync data/runs remote:runs`. See docs/how-to/schedule.md."
)


@click.command("run")
@study_options
@gone("--archive", INSTEAD_OF_ARCHIVE, "DEADZONE_ARCHIVE")
@click.option("-q", "--quiet", is_flag=True, help="Draw no picture: the setting and its doubts.")
@details_option
def command(asked: Asked, quiet: bool, details: bool) -> None:
    """Sweep STUDY, analyse the run and publish the report, by executing the notebooks.

    -p and -f set parameters of the notebooks, or values of the study by name or key path. Ends with
    exit code 6 if phases moved since the previous run of the study, and with 7 if something is
    wrong with the experiment. With --fail-on it ends with 8 if a claim fails.
    """
    refuse_secrets(asked.overrides)
    analysis, overrides = _split(asked.study, asked.overrides)
    asked = replace(asked, overrides=overrides)
    with speaking(str(analysis.get("lang", LANGUAGES[0]))):
        pass  # an unknown language is refused before anything runs, and so are other wishes
    if analysis:
        from deadzone.analysis.phases.recommend import check_options

        check_options(**{name: wish for name, wish in analysis.items() if wish != ""})
        goal = analysis.get("goal") or GOALS[0]
        check_known(StudyError, f"-p goal is {goal!r}", goal, GOALS, "Goals are")
    if asked.dry_run or asked.rehearse:
        print_plan(asked, is_analysed=True)
        return
    from deadzone.report.sweep.history import last_move
    from deadzone.report.sweep.regression_check import since_previous
    from deadzone.report.sweep.terminal import in_terminal, terminal_of

    run = _sweep(asked)
    since = since_previous(run, analysis)
    own = since.now if since and not analysis else None
    published = publish_run(run, analysis, moved=last_move(run, own))
    warn_of_pdf(published)
    terminal = None if asked.as_json else terminal_of(sys.stdout)
    if since and terminal:
        click.echo(in_terminal(since.now, terminal, details, quiet))
    else:
        tell(read_entry(published.folder).verdict)
    tell(since and since.sentence)
    judged = say_claims(run)
    moved = since is not None and since.moved
    if since and terminal is None:
        tell(*since.now.further())
    shown = {
        "run_id": run.run_id,
        "folder": str(run.folder),
        "report": str(published.front),
        "moved": moved,
        "recommendation": since.now.recommendation if since else None,
        "claims": [verdict.to_dict() for verdict in judged],
        "findings": [finding.to_dict() for finding in since.now.findings] if since else [],
    }
    click.echo(json.dumps(shown, ensure_ascii=False) if asked.as_json else str(published.front))
    if since and since.now.is_spoilt:
        raise click.exceptions.Exit(EXIT_FINDING)
    fail_where_claims_fell(judged, asked.fail_on)
    if moved:
        raise click.exceptions.Exit(EXIT_MOVED)


def _split(study: str, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which parameters are the analysis notebook's, and which are the study's."""
    path = find_study(study, places.study_folders())
    spec = load_study(path, given, only_own=True)
    notebook = places.notebook(spec.notebook or spec.analysis_notebook, path.resolve().parent)
    others = {run_parameter(notebook), "table", *Study.model_fields}
    names = {*notebook_parameters(notebook)} - others
    return {n: v for n, v in given.items() if n in names}, {
        n: v for n, v in given.items() if n not in names
    }


def _sweep(asked: Asked) -> RunFolder:
    """Execute the sweep notebook; its own copy is kept in the run's folder."""
    overrides = asked.overrides
    path = find_study(asked.study, places.study_folders()).resolve()
    if asked.resume:
        run = open_run(str(path), overrides, resume=asked.resume).run
        parameters = {"resume": str(run.folder)}
    else:
        plan = planned_file(path, overrides)
        refuse_unanswerable(plan.study, plan.treatments)
        run = RunFolder(places.runs_folder() / plan.study.study / new_run_id())
        parameters = {"run_id": run.run_id}
    with tempfile.TemporaryDirectory(prefix="deadzone-sweep-") as scratch:
        executed = Path(scratch) / "sweep.ipynb"
        try:
            execute(
                places.notebook("sweep"),
                executed,
                {"study": str(path), "overrides": overrides, **parameters},
                environment={PROGRESS_VARIABLE: shown_on(sys.stderr)},
                stderr=sys.stderr,
                interrupt=partial(_interrupt, run),
            )
        except ReportError as error:  # such as of a kernel that was killed
            on = f"go on with {way}" if (way := way_on(run)) else "nothing was measured"
            error.args = (*error.args, f"What was measured is kept; {on}.")
            raise
        finally:
            give_back_left_over(partial(click.echo, err=True))  # of a kernel that was killed
            if executed.exists() and run.folder.is_dir():
                with contextlib.suppress(OSError):
                    shutil.copyfile(executed, run.folder / "sweep.ipynb")
    return run


def _interrupt(run: RunFolder) -> bool:
    """Ask the kernel that measures to stop, which cleans up behind itself; False where none does
    yet."""
    writer = run.writer()
    if writer is None or writer == os.getpid():
        return False
    with contextlib.suppress(OSError):
        os.kill(writer, signal.SIGINT)
    return True
