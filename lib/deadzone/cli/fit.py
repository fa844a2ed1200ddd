"""`deadzone fit`: phases of any table of measurements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from deadzone.cli.decision import decision_options, options_of
from deadzone.cli.options import (
    anyway_option,
    details_option,
    minus_one_option,
    places_asked,
    role_option,
    wide_name_option,
    wide_option,
    zero_option,
)
from deadzone.errors import EXIT_FINDING, TableError
from deadzone.language.messages import _
from deadzone.study.levels import format_level
from deadzone.visible import visible

if TYPE_CHECKING:
    import pandas as pd

    from deadzone.analysis.phases.recommend import Recommendation


@click.command("fit")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--knob", required=True, metavar="COL", help="Column of the knob.")
@click.option(
    "--response", "responses", required=True, multiple=True, metavar="COL",
    help="Column of the response.",
)  # fmt: skip
@wide_option
@wide_name_option
@click.option(
    "--goal", type=click.Choice(["min", "max"]), default="min", help="Which way is better."
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
    nargs=2,
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
    help="What a K alone stands for among the knob's levels.",
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
    goal: str,
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

    Ends with exit code 7 where something is wrong with the experiment, so that no setting is given.
    """
    from deadzone.analysis.findings.experiment import Experiment
    from deadzone.analysis.findings.fitting import examined
    from deadzone.analysis.mechanisms.explaining import explained
    from deadzone.analysis.mechanisms.wording import missing_measurements, sentences
    from deadzone.analysis.page import MOST_ROWS, wrapped
    from deadzone.analysis.phases.roles import check_column, check_roles, column_of
    from deadzone.analysis.records import records
    from deadzone.analysis.settings.wording import page
    from deadzone.report.sweep.terminal import drawn
    from deadzone.study.response_cells import with_numbers

    targets = {name: _number(name, text) for name, text in asked["slo"]} or None
    advice_options = options_of({**asked, "slo": targets})
    frame, response = _read(table, responses, wide, name)
    knob, response, *others = (
        _column(column_of(frame, column), column) for column in (knob, response, *by)
    )
    by, frame = tuple(others), with_numbers(frame, response)
    places, thousand = places_asked(asked), int(k) if k else None
    check_roles(frame, (knob, *by), response, goal)
    for column in failures:
        check_column(frame, column)
    seen = Experiment(frame, knob, response, goal, by, failures=failures, role=role or "")
    result = examined(seen, scale=scale, places=places, k=thousand)
    wrong = result.findings
    advice = result.recommend(anyway=anyway, **advice_options)
    models = [
        (dict(zip(by, levels, strict=True)), model) for levels, model in result.models.items()
    ]
    if as_json:
        facts: dict[str, Any] = {"knob": knob, "response": response, "goal": goal}
        facts |= {"phases": [], "outliers": []}
        if by:
            facts |= {
                "by": ", ".join(by),
                "slices": [{**where, **model.to_dict()} for where, model in models],
            }
        elif models:
            facts |= models[0][1].to_dict()
            if why := explained(frame, models[0][1]):
                facts["mechanisms"] = records(why.table)
        settings = records(advice.table, whole=True)
        findings = [finding.to_dict() for finding in wrong]
        decision = {"settings": settings, "recommendation": advice.to_dict(), "findings": findings}
        click.echo(json.dumps({**facts, **decision}))
        _end(advice)
    lines = [wrapped(str(finding)) for finding in wrong]
    if quiet:
        doubts = dict.fromkeys(
            [*advice.caveats, *(text for _, model in models for text in model.warnings)]
        )
        lines += [
            wrapped(text)
            for text in (advice.reason, *(_("Doubt: {doubt}", doubt=doubt) for doubt in doubts))
        ]
        click.echo("\n".join(lines))
        _end(advice)
    usual = result.recommend(anyway=anyway) if advice_options else advice
    for where, model in models:
        if where:
            lines.append(visible(", ".join(f"{name} = {level}" for name, level in where.items())))
        own = model.recommend(anyway=anyway) if by else usual
        lines += drawn(False, model, own)
        why = None if by else explained(frame, model)
        lines.append(model.summary(own).page().text(None if details else MOST_ROWS))
        lines += map(wrapped, [*sentences(why), *missing_measurements({}, why)])
    if by or not models or models[0][1].n_levels < len(result.candidates):
        lines.append(page(result, usual).text(None if details else MOST_ROWS))
    if advice_options:  # what was said holds the advice for the usual goal already
        wished = ", ".join(f"{name} {_shown(wish)}" for name, wish in advice_options.items())
        lines.append(wrapped(f"For {visible(wished)}: {advice}"))
    click.echo("\n".join(lines))
    _end(advice)


def _read(path: Path, responses: Sequence[str], wide: str, name: str) -> tuple[pd.DataFrame, str]:
    """The table, one row a trial, and its response; what a wide table becomes is said."""
    from deadzone.analysis.phases.roles import column_of
    from deadzone.store.tables import are_levels, numeric_names, read_table
    from deadzone.store.wide import long_table, repeats_in

    if len(responses) > 1:
        raise click.UsageError(
            f"--response is given {len(responses)} times, and a fit has one. Where the columns are "
            f"repeats of one response: --response NAME --wide '{','.join(responses)}'. Where they "
            "are levels of a factor: --name FACTOR --by FACTOR too."
        )
    table, response = read_table(path), responses[0]
    if wide:
        rows = long_table(table, wide, response, name)
        click.echo(
            f"deadzone: {visible(wide)} of {len(table):,} rows is {visible(response)} of "
            f"{len(rows):,} trials.",
            err=True,
        )
        return rows, response
    if are_levels(table.columns) and column_of(table, response) not in table:
        levels = ",".join(numeric_names(table.columns))
        raise TableError(
            "The columns are levels: make a row of each with "
            f"`--wide '{levels}' --name KNOB --knob KNOB --response NAME`."
        )
    for pattern, columns in repeats_in(table).items():
        if response in columns:
            click.echo(
                f"deadzone: {visible(', '.join(columns))} look like repeats; --wide "
                f"'{visible(pattern)}' with --response NAME reads them all.",
                err=True,
            )
        elif column_of(table, response) not in table:
            raise TableError(
                f"The table has no column {response!r}, and {', '.join(columns)} look like repeats "
                f"of one response: read them with --wide '{pattern}'."
            )
    return table, response


def _end(advice: Recommendation) -> NoReturn:
    """End the command, with the exit code of a finding where one keeps a setting from being
    given."""
    raise click.exceptions.Exit(EXIT_FINDING if advice.is_stopped else 0)


def _shown(wish: object) -> str:
    if isinstance(wish, dict):
        return " and ".join(f"{name} {format_level(value)}" for name, value in wish.items())
    return str(wish)


def _column(column: str, asked: str) -> str:
    """The column that was found, said where it is called otherwise than it was asked for."""
    if column != asked:
        click.echo(f"deadzone: {visible(asked)} is the column {visible(column)}.", err=True)
    return column


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise click.BadParameter(
            f"the target of {name} is {text!r}; it must be a number"
        ) from error
