"""`deadzone try`: the study of one line."""

import json
import os
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from deadzone import places
from deadzone.cli.claims import claims_shown, fail_where_claims_fell, judged_of
from deadzone.cli.options import FILE, details_option, gone, places_asked, role_option
from deadzone.cli.parameters import measuring_options
from deadzone.cli.sweep import print_rehearsal
from deadzone.errors import (
    EXIT_FINDING,
    LineError,
    OtherWorkloadError,
    SaidAs,
    StoreError,
    StudyError,
    WorkloadError,
)
from deadzone.language.messages import _
from deadzone.run.sweep.forecast import preview
from deadzone.run.sweep.progress import Progress, progress_on
from deadzone.store.command_lines import (
    TRY,
    TRY_FOLDER_FILE,
    TRY_LINE_FILE,
    command_line,
    name_of,
    try_folder,
)
from deadzone.store.provenance import usable_cores
from deadzone.store.run import RunFolder
from deadzone.study.design import levels_of
from deadzone.study.levels import format_level
from deadzone.study.loading import parse_study
from deadzone.study.masking import MASK, masked_line
from deadzone.study.plan import Plan
from deadzone.study.trying import OPTIONS, in_words_of_line, study_of_line, study_text
from deadzone.visible import visible


@click.command(
    "try", context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False}
)
@click.argument("command_line", nargs=-1, metavar="-- COMMAND [ARGUMENT]...")
@click.option("-L", "--parameter-list", "lists", nargs=2, multiple=True, metavar="NAME LEVELS",
              help="Levels of a parameter: 1,2,4 or a range 1..32, of which 8 to 12 are chosen.")  # fmt: skip  # noqa: E501
@click.option("-P", "--parameter-scan", "scans", nargs=3, multiple=True, metavar="NAME FIRST LAST",
              help="Levels of a parameter from FIRST to LAST.")  # fmt: skip
@click.option("-D", "--parameter-step-size", "steps", multiple=True, metavar="STEP",
              help="Step of the -P in the same place; default 1.")  # fmt: skip
@click.option(
    "--cpu-limit", metavar="LEVELS", help="CPU limits in cores, such as 0.25..2 or 0.5,1,none."
)
@click.option(
    "--memory-limit", metavar="LEVELS", help="Memory limits, such as 64MiB..1GiB or 256MiB,none."
)
@click.option("-r", "--runs", "replicates", default=5, type=click.IntRange(1),
              help="Trials of each level.")  # fmt: skip
@click.option("-w", "--warmup", default=1, type=click.IntRange(0),
              help="Warm-up trials of each level.")  # fmt: skip
@role_option
@measuring_options
@click.option("--search", type=click.IntRange(1), metavar="TRIALS",
              help="Find the best combination of several parameters in so many trials, such as 60. Up to 24 more sweep each parameter that matters. The first level of each is that of today.")  # fmt: skip  # noqa: E501
@click.option("-s", "--setup", metavar="CMD", help="Run once before all trials.")
@click.option("-p", "--prepare", metavar="CMD", help="Run before each trial, not measured.")
@click.option("-c", "--cleanup", metavar="CMD", help="Run once after all trials.")
@click.option("-i", "--ignore-failure", is_flag=True, help="Any exit code is a success.")
@click.option("-N", "shell", flag_value="none", help="Without a shell; this is the default.")
@click.option(
    "-S",
    "--shell",
    default="none",
    metavar="SHELL",
    help="Run the command in a shell, such as sh or bash; none for no shell.",
)
@click.option("-n", "--command-name", "name", metavar="NAME", help="Name of the study.")
@click.option("--response", metavar="REGEX|COLUMN",
              help="What is judged: an expression whose first group is the number, or a column; default wall_s.")  # fmt: skip  # noqa: E501
@click.option("--goal", type=click.Choice(["min", "max"]),
              help="Which way is better; by default what the response's name says.")  # fmt: skip
@click.option(
    "--output",
    metavar="PROGRAM",
    help="Read the results that this program prints, such as pgbench.",
)
@click.option(
    "--timeout", "timeout_s", type=float, metavar="SECONDS", help="Longest time a trial may take."
)
@click.option("--on-change", type=click.Choice(["stop", "continue"]),
              help="What --resume does if the program has changed; default stop.")  # fmt: skip
@gone("--export-json", "`deadzone export RUN --json` writes the trials as records.")
@gone("--export-csv", "`deadzone export RUN` writes the trials as CSV.")
@click.option("--save", type=FILE, metavar="FILE", help="Write the study file that does the same.")
@click.option("--report", is_flag=True, help="Publish the report.")
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="No plan, no progress, no picture: the setting and its doubts.",
)
@details_option
@click.option("-y", "--yes", is_flag=True, help="Ask nothing on the way.")
def command(**given: Any) -> None:
    """Sweep COMMAND over the levels of its {name}s, and say where they pay and what to set.

    \b
    deadzone try -L threads 1,2,4,8 -- xz -T{threads} -k -f input
    deadzone try -P threads 1 16 -D 1 -L level 1,2 --prepare 'make clean' -- make -j{threads} CFLAGS=-O{level}
    deadzone try --cpu-limit 0.25..2 -r 5 -w 1 -- ./render scene
    deadzone try -L clients 1..32 --output pgbench --response achieved_rate --goal max -- pgbench -S -c {clients} bench
    """  # noqa: E501
    try:
        _measure(given, given["quiet"] or given["as_json"])
    except (StudyError, WorkloadError) as error:
        raise LineError(*_in_words(error)) from error
    except OtherWorkloadError as error:
        error.args = _in_words(error)
        raise


def _in_words(error: Exception) -> tuple[str, ...]:
    """The sentences of an error, in the words of the line."""
    sentences = (in_words_of_line(str(text)) for text in error.args)
    return tuple(sentence[:1].upper() + sentence[1:] for sentence in sentences)


def _measure(given: dict[str, Any], quiet: bool) -> None:
    """Measure what the line asks for, or say what it would."""
    from deadzone.run.sweep.opening import planned
    from deadzone.verbs.sweeping import measure

    given["at"] = places_asked(given)
    runs, resume = places.runs_folder(), given["resume"]
    if given["command_line"]:
        document = study_of_line(given["command_line"], given, usable_cores())
        plan = planned(parse_study(document, ""), Path.cwd())
        resume = f"{plan.study.study}/latest" if resume == "latest" else resume
        run = RunFolder.find(runs, resume) if resume else None
        if path := given["save"]:
            _save(path, document, quiet)
    else:
        run = _without_its_line(runs, resume)
        study, asked = run.study(), given["on_change"]
        target = study.target.model_copy(update={"on_change": asked} if asked else {})
        plan = planned(study.model_copy(update={"target": target}), Path.cwd())
    if not quiet or (given["dry_run"] and not given["as_json"]):
        _print_plan(plan)
    if given["dry_run"] or given["rehearse"]:
        if given["as_json"] and not given["rehearse"]:
            known = (run.records(), run.finished()) if run else ((),)
            click.echo(json.dumps(preview(plan, *known)))
        if plan.warning and not quiet:
            click.echo(plan.warning)
        if given["rehearse"]:
            print_rehearsal(plan, given["as_json"])
        return
    beside = {TRY_LINE_FILE: f"{masked_line(_line())}\n", TRY_FOLDER_FILE: str(Path.cwd())}
    run = run or RunFolder.create(runs, plan.study, beside=beside)
    progress = Progress() if quiet else progress_on()
    if not (given["yes"] or quiet) and sys.stdin.isatty() and sys.stderr.isatty():
        progress.ask = partial(click.confirm, default=True, err=True)
    measure(plan, run, progress)
    _print_result(run, given)


def _without_its_line(runs: Path, name: str | None) -> RunFolder:
    """The run to go on with, whose study says what its line did. Raises click.UsageError where a
    command is missing, StoreError for a run that needs its line."""
    typed = click.get_current_context().get_parameter_source
    options = (*OPTIONS, "minus_one", "zero", "save")
    if not name or any(typed(option) is ParameterSource.COMMANDLINE for option in options):
        raise click.UsageError("Missing argument '-- COMMAND [ARGUMENT]...'.")
    run = RunFolder.find(runs, name)
    line, folder = command_line(run), try_folder(run)
    if not line:
        raise StoreError(
            f"Run {run.run_id} goes on in Python, with the arguments of its `dz.sweep` and "
            f"`resume={run.run_id!r}`."
        )
    if not line.startswith(TRY) or MASK in line:
        told = "as it was typed, with its secrets" if MASK in line else f"`{line}`"
        raise StoreError(
            f"Run {run.run_id} goes on with its whole line, {told}, and `--resume {run.run_id}`."
        )
    if folder != str(Path.cwd()):
        raise StoreError(f"Run {run.run_id} goes on where it began: `cd {shlex.quote(folder)}`.")
    return run


def _line() -> str:
    """The line as it was typed."""
    return visible(" ".join(shlex.join(["deadzone", *sys.argv[1:]]).splitlines()))


def _save(path: Path, document: dict[str, Any], quiet: bool) -> None:
    """Write the study file; its program still runs in the folder that this line was typed in."""
    folder = os.path.relpath(Path.cwd(), path.resolve().parent)
    if folder != ".":
        document = {**document, "workload": {**document["workload"], "cwd": folder}}
    with SaidAs(StudyError, f"{path}: the study file cannot be written"):
        path.write_text(study_text(document, _line(), str(path)), encoding="utf-8")
    if not quiet:
        click.echo(
            f"The study file is {path}; `deadzone run {shlex.quote(str(path))}` does the same and "
            "publishes the report."
        )


def _print_plan(plan: Plan) -> None:
    design = plan.study.design
    shown = (
        f"{name} {', '.join(map(format_level, levels))}"
        for name, levels in levels_of(plan.study).items()
    )
    click.echo(visible(f"{plan.study.study}: {' x '.join(shown)}"))
    if design.kind == "search":
        click.echo(
            _(
                "At most {trials} trials of {n:count} treatments, chosen as the search goes on.",
                n=len(plan.treatments),
                trials=plan.most_trials,
            )
        )
        return
    if plan.is_adaptive:
        click.echo(
            _(
                "The sweep measures those of {n:count} treatments that add the most information "
                "per second. --dry-run of a study says how long that may take.",
                n=len(plan.treatments),
            )
        )
        return
    counted = f"{n} treatments," if (n := len(plan.treatments)) > 1 else "one treatment"
    times = "once" if design.replicates == 1 else f"{design.replicates} times"
    click.echo(
        f"{len(plan.trials)} trials: {counted} {times} in random "
        f"order{f', after {design.warmup} of each for warm-up' if design.warmup else ''}"
    )


def _print_result(run: RunFolder, given: dict[str, Any]) -> None:
    """What was found, what became of the claims, and where the run is kept."""
    from deadzone.report.sweep.analysis import analyse
    from deadzone.report.sweep.source import load_source
    from deadzone.report.sweep.terminal import in_terminal, terminal_of

    analysis, judged = analyse(load_source(str(run.folder))), judged_of(run)
    page = None
    if given["report"]:
        from deadzone.report.document.publishing import publish_run

        page = publish_run(run).front
    if given["as_json"]:
        shown: dict[str, Any] = {
            "run_id": run.run_id,
            "folder": str(run.folder),
            "report": page and str(page),
            "models": [
                {"slice": curve.name, **curve.model.to_dict(curve.advice)} for curve in analysis
            ],
            "recommendation": analysis.recommendation,
            "findings": [finding.to_dict() for finding in analysis.findings],
            **claims_shown(judged),
        }
        click.echo(json.dumps(shown))
    else:
        quiet = given["quiet"]
        answer = in_terminal(analysis, terminal_of(sys.stdout), given["details"], quiet)
        click.echo("\n".join([in_words_of_line(answer), *map(str, judged)]))
        if not quiet:
            click.echo(f"Run: {os.path.relpath(run.folder)}")
            click.echo(f"Report: {page}" if page else f"Report: deadzone report {name_of(run)}")
    if analysis.is_spoilt:
        raise click.exceptions.Exit(EXIT_FINDING)
    fail_where_claims_fell(judged, given["fail_on"])
