"""`deadzone fit`: phases of any table of measurements."""

from __future__ import annotations

import json
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
    zero_option,
)
from deadzone.errors import EXIT_FINDING
from deadzone.language.messages import _
from deadzone.study.levels import format_level
from deadzone.visible import visible

if TYPE_CHECKING:
    from deadzone.analysis.phases.recommend import Recommendation


@click.command("fit")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--knob", required=True, metavar="COL", help="Column of the knob.")
@click.option("--response", required=True, metavar="COL", help="Column of the response.")
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
    response: str,
    goal: str,
    by: tuple[str, ...],
    scale: str | None,
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
    from deadzone.analysis.findings.examining import barred_levels, examine
    from deadzone.analysis.findings.experiment import Experiment
    from deadzone.analysis.mechanisms.explaining import explained
    from deadzone.analysis.mechanisms.joints import joints_of
    from deadzone.analysis.mechanisms.wording import sentences, untold
    from deadzone.analysis.page import MOST_ROWS, wrapped
    from deadzone.analysis.phases.prepare import check_column, column_of
    from deadzone.analysis.records import records
    from deadzone.analysis.settings.answering import answer
    from deadzone.analysis.settings.wording import page
    from deadzone.analysis.surfaces.fitting import surface_of
    from deadzone.analysis.surfaces.wording import sentences as surface_sentences
    from deadzone.report.sweep.terminal import drawn
    from deadzone.store.tables import read_table
    from deadzone.study.response_cells import with_numbers

    targets = {name: _number(name, text) for name, text in asked["slo"]} or None
    advice_options = options_of({**asked, "slo": targets})
    frame = read_table(table)
    knob, response, *others = (
        _column(column_of(frame, name), name) for name in (knob, response, *by)
    )
    by, frame = tuple(others), with_numbers(frame, response)
    places = places_asked(asked)
    found = answer(frame, knob, response, goal, by=by, scale=scale, places=places)
    curve = None if by else found.models.get(())
    for column in failures:
        check_column(frame, column)
    seen = Experiment(
        frame, knob, response, goal, by, model=curve, failures=failures, role=role or ""
    )
    wrong = examine(seen)
    found = found.heeding(wrong)
    heeded: dict[str, Any] = {"barred": barred_levels(seen), "anyway": anyway}
    advice = found.recommend(**heeded, **advice_options)
    models = [(dict(zip(by, levels, strict=True)), one) for levels, one in found.models.items()]
    surface = surface_of(frame, (*by, knob), response, goal, {knob: (scale, places)})
    if as_json:
        facts: dict[str, Any] = {"knob": knob, "response": response, "goal": goal}
        facts |= {"phases": [], "outliers": []}
        if by:
            facts |= {
                "by": ", ".join(by),
                "slices": [{**where, **one.to_dict()} for where, one in models],
            }
        elif models:
            facts |= models[0][1].to_dict()
            if why := explained(frame, models[0][1]):
                facts |= {
                    "mechanisms": records(why.table),
                    "mechanisms_at_joints": records(joints_of(why)),
                }
        if surface:
            facts["surface"] = surface.to_dict()
        settings = records(advice.table, whole=True)
        findings = [one.to_dict() for one in wrong]
        told = {"settings": settings, "recommendation": advice.to_dict(), "findings": findings}
        click.echo(json.dumps({**facts, **told}))
        _end(advice)
    said = [wrapped(str(one)) for one in wrong]
    if quiet:
        doubts = dict.fromkeys(
            [*advice.caveats, *(text for _, one in models for text in one.warnings)]
        )
        said += [
            wrapped(text)
            for text in (advice.reason, *(_("Doubt: {doubt}", doubt=doubt) for doubt in doubts))
        ]
        click.echo("\n".join(said))
        _end(advice)
    for where, one in models:
        if where:
            said.append(visible(", ".join(f"{name} = {level}" for name, level in where.items())))
        own = one.recommend(**heeded) if by else found.recommend(**heeded)
        said += drawn(False, one, own)
        why = None if by else explained(frame, one)
        said.append(one.summary(own).page().text(None if details else MOST_ROWS))
        said += map(wrapped, [*sentences(why), *untold({}, why)])
    if by or not models or models[0][1].n_levels < len(found.candidates):
        said.append(page(found, found.recommend(**heeded)).text(None if details else MOST_ROWS))
    said += map(wrapped, surface_sentences(surface))
    if advice_options:  # what was said holds the advice for the usual goal already
        wished = ", ".join(f"{name} {_shown(wish)}" for name, wish in advice_options.items())
        said.append(wrapped(f"For {visible(wished)}: {advice}"))
    click.echo("\n".join(said))
    _end(advice)


def _end(advice: Recommendation) -> NoReturn:
    """End the command, with the exit code of a finding where one keeps a setting from being
    given."""
    raise click.exceptions.Exit(EXIT_FINDING if advice.is_stopped else 0)


def _shown(wish: object) -> str:
    if isinstance(wish, dict):
        return " and ".join(f"{name} {format_level(value)}" for name, value in wish.items())
    return str(wish)


def _column(found: str, asked: str) -> str:
    """The column that was found, said where it is called otherwise than it was asked for."""
    if found != asked:
        click.echo(f"deadzone: {visible(asked)} is the column {visible(found)}.", err=True)
    return found


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise click.BadParameter(
            f"the target of {name} is {text!r}; it must be a number"
        ) from error
