"""`deadzone fit`: phases of any table of measurements."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pandas as pd

from deadzone.analysis.findings.fitting import experiment_in
from deadzone.analysis.page import MOST_ROWS
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.roles import column_of
from deadzone.analysis.records import records
from deadzone.analysis.settings.answering import Answer
from deadzone.cli.options import (
    anyway_option,
    decision_options,
    details_option,
    minus_one_option,
    options_of,
    places_asked,
    role_option,
    tell,
    wide_name_option,
    wide_option,
    zero_option,
)
from deadzone.errors import EXIT_FINDING, FindingError, PhaseError, TableError, did_you_mean
from deadzone.report.sweep.analysis import Analysis, Source, analyse, explained_by_account
from deadzone.report.sweep.terminal import in_terminal, terminal_of
from deadzone.store.tables import (
    check_no_title,
    levels_in,
    long_table,
    read_table,
    repeats_in,
    turned,
)
from deadzone.visible import visible


@click.command("fit")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--knob", default="", metavar="COL", help="Column of the knob.")
@click.option(
    "--response", "responses", multiple=True, metavar="COL",
    help="Column of the response.",
)  # fmt: skip
@wide_option
@wide_name_option
@click.option(
    "--goal",
    type=click.Choice(["min", "max"]),
    help="Which way is better; by default what the response's name or unit says.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COL",
    help="Column of another factor: one curve for each of its values.",
)
@click.option(
    "--scale",
    type=click.Choice(["ratio", "interval", "words"]),
    help="Scale of the knob; by default what its levels suggest.",
)
@click.option(
    "--slo",
    multiple=True,
    type=(str, float),
    metavar="STATISTIC VALUE",
    help="Recommend the smallest that meets it.",
)
@click.option(
    "--failures",
    multiple=True,
    metavar="COLUMN",
    help="Column that counts failures, or holds their share.",
)
@click.option(
    "--k",
    type=click.Choice(["1000", "1024"]),
    help="What a K alone means in the knob's levels.",
)
@minus_one_option
@zero_option
@role_option
@decision_options
@anyway_option
@click.option("-q", "--quiet", is_flag=True, help="The setting and its doubts alone.")
@details_option
@click.option("--json", "as_json", is_flag=True, help="Print the model as JSON.")
def command(
    table: Path,
    knob: str,
    responses: tuple[str, ...],
    wide: str,
    name: str,
    goal: str | None,
    by: tuple[str, ...],
    scale: str | None,
    k: str | None,
    failures: tuple[str, ...],
    role: str | None,
    quiet: bool,
    details: bool,
    as_json: bool,
    anyway: bool,
    **asked: Any,
) -> None:
    """Fit phases to TABLE (CSV, Parquet, ..., or - for standard input; one row a trial), and say
    what to set.

    Ends with exit code 7 if something is wrong with the experiment, so that no setting is given.
    """
    options = options_of({**asked, "slo": dict(asked["slo"])})
    how = {"scale": scale, "places": places_asked(asked), "k": int(k) if k else None}
    frame, response = _read(table, knob, responses, wide, name)
    knob, response, *others = (
        _column(column_of(frame, column), column) for column in (knob, response, *by)
    )
    seen = experiment_in(frame, knob, response, goal, others, failures=failures, role=role or "")
    source = Source(**vars(seen), name=table.stem, title=table.stem, how=how)
    analysis = analyse(source, anyway, **options)
    if (answer := analysis.answer) is None:
        raise (FindingError if analysis.stopped else PhaseError)(analysis.problem)
    if as_json:
        advice = analysis.advice or answer.recommend(anyway=anyway, **options)
        click.echo(json.dumps(_facts(answer, advice, analysis, seen.table)))
    else:
        terminal = terminal_of(sys.stdout)
        is_whole = details or not (terminal or quiet)  # where nothing is drawn
        most_rows = None if details else MOST_ROWS
        click.echo(in_terminal(analysis, terminal, is_whole, quiet, most_rows))
    raise click.exceptions.Exit(EXIT_FINDING if analysis.is_spoilt else 0)


def _facts(
    answer: Answer, advice: Recommendation, analysis: Analysis, frame: pd.DataFrame
) -> dict[str, Any]:
    """The answer as it is printed with --json."""
    facts: dict[str, Any] = {
        "knob": answer.factors[-1],
        "response": answer.candidates.response,
        "goal": answer.candidates.goal,
        "goal_from": answer.candidates.goal_from,
        "phases": [],
        "outliers": [],
    }
    if answer.others:
        facts["by"] = ", ".join(answer.others)
        advised: list[Any] = [part.advice for part in analysis] or [None] * len(answer.models)
        facts["slices"] = [
            {**dict(zip(answer.others, levels, strict=True)), **model.to_dict(own)}
            for (levels, model), own in zip(answer.models.items(), advised, strict=True)
        ]
    for model in () if answer.others else answer.models.values():
        facts |= model.to_dict(advice)
        if why := explained_by_account(frame, model):
            facts["mechanisms"] = records(why.table)
    return {
        **facts,
        "settings": records(advice.table, whole=True),
        "recommendation": advice.to_dict(),
        "findings": [finding.to_dict() for finding in answer.findings],
    }


def _read(
    path: Path, knob: str, responses: Sequence[str], wide: str, name: str
) -> tuple[pd.DataFrame, str]:
    """The table, one row a trial, and its response; what a wide table becomes is said."""
    if len(responses) > 1:
        raise click.UsageError(
            f"--response is given {len(responses)} times, and a fit has one. If the columns are "
            f"repeats of one response: --response NAME --wide '{','.join(responses)}'. If they "
            "are levels of a factor: --name FACTOR --by FACTOR too."
        )
    table = read_table(path)
    if not knob or not responses:
        there = ", ".join(f"`{visible(str(column))}`" for column in table)
        asked = (
            "the knob" if responses else "the response" if knob else "the knob, which the response"
        )
        left = [name for name in map(str, table) if name not in (knob, *responses)]
        left = left if table.shape[1] == 2 else ["COL", "COL"]
        roles = ["--knob", knob or left[0], "--response", *(responses or left[-1:])]
        raise TableError(f"Which column is {asked}? There are {there}. Add `{shlex.join(roles)}`.")
    response = responses[0]
    first = str(table.columns[0])
    is_turned = first == knob or (knob not in table and bool(levels_in(table.columns)))
    is_row = is_turned and bool(table[first].eq(response).any())
    is_missing = column_of(table, response) not in table
    if is_row and is_missing:
        tell(f"the columns are levels of {knob}.")
        return turned(table.rename(columns={first: knob}), response), response
    check_no_title(table, path, (knob, response))
    if wide:
        rows = long_table(table, wide, response, name)
        tell(f"{wide} of {len(table):,} rows is {response} of {len(rows):,} trials.")
        return rows, response
    levels, repeats = levels_in(table.columns), repeats_in(table)
    are_levels = levels and not ("=" in levels[-1] and repeats)  # rep=1, rep=2
    others = [name for name in map(str, table) if name not in levels]
    if is_missing and are_levels and not did_you_mean(response, others):
        raise TableError(
            "The columns are levels: make a row of each with "
            f"`--wide '{','.join(levels)}' --name KNOB --knob KNOB --response NAME`."
        )
    for pattern, columns in repeats.items():
        if response in columns:
            tell(
                f"{', '.join(columns)} look like repeats; --wide '{pattern}' with --response NAME "
                "reads them all."
            )
        elif is_missing:
            raise TableError(
                f"The table has no column {response!r}, and {', '.join(columns)} look like repeats "
                f"of one response: read them with `--wide '{pattern}'`."
            )
    if f"{response}.1" in table:
        tell(
            f"{response} stands several times in the head line, read once: `--wide "
            f"'{response},{response}.*' --response NAME` reads all."
        )
    return table, response


def _column(column: str, asked: str) -> str:
    """The column that was found, said where it is called otherwise than it was asked for."""
    if column != asked:
        tell(f"{asked} is the column {column}.")
    return column
