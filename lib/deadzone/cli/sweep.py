"""`deadzone sweep`: measure a study."""

import contextlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from deadzone import places
from deadzone.cli.claims import claims_shown, fail_where_claims_fell, say_claims
from deadzone.cli.parameters import Asked, study_options
from deadzone.errors import EXIT_FINDING, DeadzoneError, StoreError
from deadzone.language.formats import number
from deadzone.language.messages import _
from deadzone.run.sweep.forecast import preview
from deadzone.run.sweep.opening import open_run, planned_file
from deadzone.run.sweep.progress import Progress, progress_on
from deadzone.store.command_lines import name_of
from deadzone.store.run import RunFolder, list_runs
from deadzone.study.design import WARMUP_BLOCK, PlannedTrial, refuse_unanswerable
from deadzone.study.loading import find_study
from deadzone.study.plan import Plan
from deadzone.visible import visible


@click.command("sweep")
@study_options
def command(asked: Asked) -> None:
    """Measure every trial of STUDY (a file, or the name of one in notebooks/studies) and record the
    run.

    Values of the study can be replaced by their key path: -p design.timeout_s 60, -p
    factors.cpu_limit "[1, 2]".
    """
    from deadzone.verbs.sweeping import measure

    if asked.dry_run or asked.rehearse:
        print_plan(asked)
        return
    opened = open_run(asked.study, asked.overrides, resume=asked.resume)
    measure(opened.plan, opened.run, progress_on())
    judged = say_claims(opened.run)
    if asked.as_json:
        shown = {"run_id": opened.run.run_id, "folder": str(opened.run.folder)}
        click.echo(json.dumps({**shown, **claims_shown(judged)}, ensure_ascii=False))
    else:
        click.echo(f"Next: deadzone report {visible(name_of(opened.run))}")
    fail_where_claims_fell(judged, asked.fail_on)


def _latest_records(runs: Sequence[RunFolder]) -> list[dict[str, Any]]:
    """What the latest run with trials measured; one that cannot be read is passed over."""
    for run in reversed(runs):
        with contextlib.suppress(StoreError):
            if records := run.records():
                return records
    return []


class _Notes(Progress):
    """What is noted of a rehearsal."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, sentence: str) -> None:
        """Keep it."""
        self.told.append(sentence)

    def close(self, sentence: str) -> None:
        """Nothing is recorded."""


def print_rehearsal(plan: Plan, as_json: bool = False) -> None:
    """Measure one trial at each end of the range and keep nothing; say what they took, what is
    wrong, and what the sweep will take.

    Ends with exit code 7 if there could be no verdict.
    """
    from deadzone.analysis.findings.rehearsing import judge_of
    from deadzone.run.sweep.running import run_sweep

    notes, response = _Notes(), plan.study.response.name
    ends = [PlannedTrial(i, WARMUP_BLOCK, 1, True, end) for i, end in enumerate(plan.ends, 1)]
    with tempfile.TemporaryDirectory(prefix="deadzone-rehearsal-") as folder:
        run = RunFolder.create(Path(folder), plan.study)
        try:
            run_sweep(plan, run, notes, lambda *_: iter([ends]))
        except DeadzoneError as error:
            error.args = error.args[:1]  # the rest says how to go on with what is kept
            raise
        records, findings = run.records(), judge_of(plan)(run.trials())
    ahead = preview(plan, records)
    if as_json:
        found = [finding.to_dict() for finding in findings]
        told = {"study": ahead["study"], "estimated_s": ahead["estimated_s"], "rehearsal": found}
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        for record in records:
            value = record["responses"].get(response)
            status = record["status"] if value is None else f"{response} {number(value)}"
            levels = ", ".join(f"{name} {level}" for name, level in record["levels"].items())
            click.echo(
                _(
                    "{levels}: {wall_s:number} s, {status}",
                    levels=levels,
                    wall_s=record["wall_s"],
                    status=status,
                )
            )
        click.echo(
            "\n".join([*notes.told, *map(str, findings)])
            or _("One trial at each end of the range showed nothing wrong.")
        )
        click.echo(_("estimated time of the sweep: {time}", time=ahead["estimated"]))
    if any(finding.severity == "stops" for finding in findings):
        raise click.exceptions.Exit(EXIT_FINDING)


def print_plan(asked: Asked, is_analysed: bool = False) -> None:
    """What a sweep would do, for --dry-run and --rehearse; of one that is to be resumed, what is
    left to do.

    is_analysed: whether the run is to give an answer. Raises StudyError where it could give none.
    """
    finished: set[int] = set()
    if asked.resume:
        opened = open_run(asked.study, asked.overrides, resume=asked.resume)
        plan, records, finished = opened.plan, opened.run.records(), opened.run.finished()
    else:
        plan = planned_file(find_study(asked.study, places.study_folders()), asked.overrides)
        records = _latest_records(list_runs(places.runs_folder(), plan.study.study))
    if is_analysed:
        refuse_unanswerable(plan.study, plan.treatments)
    if asked.rehearse:
        print_rehearsal(plan, asked.as_json)
        return
    ahead = preview(plan, records, finished)
    if asked.as_json:
        click.echo(json.dumps(ahead))
        return
    shown, is_search = ahead["treatments"], plan.study.design.kind == "search"
    times = "" if is_search else f" x {ahead['replicates']} replicates"
    click.echo(f"{ahead['study']}: {len(shown):,} treatments{times}")
    for treatment in () if is_search else shown:
        click.echo(visible("".join(f"  {name}={level}" for name, level in treatment.items())))
    if is_search:
        click.echo(
            f"at most {ahead['n_trials']} trials, chosen as the search goes on, and "
            f"{ahead['warmup']} of the baseline for warm-up"
        )
    elif plan.is_adaptive:
        click.echo(
            f"at most {ahead['n_trials']} trials, chosen as the sweep goes on, in no more time "
            f"than the grid takes, and {ahead['warmup']} for warm-up"
        )
    else:
        click.echo(f"{ahead['n_trials']} trials, {ahead['warmup']} of each treatment for warm-up")
    if finished:
        click.echo(f"{ahead['n_remaining']} of them are left")
    click.echo(f"estimated time: {ahead['estimated']}")
    if "warning" in ahead:
        click.echo(visible(ahead["warning"]))
