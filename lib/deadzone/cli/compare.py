"""`deadzone compare`: before and after, of two runs or two tables."""

from __future__ import annotations

import json
import shlex
from typing import Any

import click

from deadzone.cli.options import comment_options, gone, wide_name_option, wide_option
from deadzone.errors import EXIT_WORSE

Strings = tuple[str, ...]


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option(
    "--response",
    "responses",
    multiple=True,
    metavar="COL",
    help="What to compare; may be repeated.",
)
@click.option(
    "--goal",
    "goals",
    type=click.Choice(["min", "max"]),
    multiple=True,
    help="Which way is better: once for all responses, or once each. By default as the study or "
    "the name says.",
)
@click.option(
    "--by",
    "factors",
    multiple=True,
    metavar="COL",
    help="Column of a factor; may be repeated. Found by default.",
)
@wide_option
@wide_name_option
@click.option("--threshold", default=0.03, help="A smaller change does not matter (a fraction).")
@gone("--margin", "two are the same within the --threshold, from which on a change matters.")
@click.option("--confidence", default=0.95, help="Of intervals and verdicts.")
@click.option(
    "--fail-on",
    type=click.Choice(["worse"]),
    help="Exit with code 5 where something is shown to be worse.",
)
@comment_options
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(
    a: str,
    b: str,
    responses: Strings,
    goals: Strings,
    factors: Strings,
    fail_on: str | None,
    form: str | None,
    only_if: str | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Compare B with A, treatment by treatment: better, worse, no change that matters, or
    undecided.

    A and B are runs (an id, a folder, or STUDY/latest) or tables (CSV or Parquet, one row a trial).
    """
    from deadzone.verbs.comparing import compare

    result = compare(a, b, responses, goals, by=factors, **limits)
    if as_json:
        said = json.dumps(result.to_dict())
    else:
        said = result.markdown(shlex.join(["deadzone", "compare", a, b])) if form else str(result)
    if result.has_moved or not only_if:
        click.echo(said)
    if fail_on and result.is_worse:
        raise click.exceptions.Exit(EXIT_WORSE)
