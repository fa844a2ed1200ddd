"""`deadzone compare`: before and after, of two runs or two tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from deadzone.cli.options import wide_name_option, wide_option
from deadzone.errors import EXIT_WORSE
from deadzone.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadzone.analysis.compare.samples import ComparisonSide
    from deadzone.analysis.finding import Finding


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
@click.option(
    "--margin",
    type=float,
    help="Within this the two are the same (a fraction); default: the threshold.",
)
@click.option("--confidence", default=0.95, help="Of intervals and verdicts.")
@click.option(
    "--fail-on",
    type=click.Choice(["worse"]),
    help="Exit with code 5 where something is shown to be worse.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(
    a: str,
    b: str,
    responses: Strings,
    goals: Strings,
    factors: Strings,
    fail_on: str | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Compare B with A, treatment by treatment: better, worse, no change that matters, or
    undecided.

    A and B are runs (an id, a folder, or STUDY/latest) or tables (CSV or Parquet, one row a trial).
    """
    from deadzone.analysis.compare.samples import analysed
    from deadzone.analysis.mechanisms.explaining import explain_change
    from deadzone.analysis.mechanisms.wording import change_sentences
    from deadzone.analysis.records import records
    from deadzone.verbs.comparing import compare, long_side, side

    wide, name = limits.pop("wide"), limits.pop("name")
    first, other = (long_side(side(each), responses, wide, name) for each in (a, b))
    names = (first.name, other.name) if first.name != other.name else (a, b)
    result = compare(first, other, responses, goals, by=factors, names=names, **limits)
    asked = result.responses
    before, after = (analysed(side.trials, result.factors, side.name)[0] for side in (first, other))
    why = explain_change(before, after, result.factors, asked[0], result.overall["goal"][0])
    pairs = [(side.name, finding) for side in (first, other) for finding in _findings(side, asked)]
    for name, finding in pairs:
        click.echo(f"deadzone: {visible(name)}: {finding}", err=True)
    findings = [{"of": name, **finding.to_dict()} for name, finding in pairs]
    explained = records(why.table) if why else []
    facts = {**result.to_dict(), "findings": findings, "mechanisms": explained}
    sentences = [str(result), *change_sentences(why, result.names, result.factors)]
    click.echo(json.dumps(facts) if as_json else "\n\n".join(sentences))
    if fail_on and result.is_worse:
        raise click.exceptions.Exit(EXIT_WORSE)


def _findings(side: ComparisonSide, responses: Sequence[str]) -> tuple[Finding, ...]:
    """What is wrong with the experiment of a run; of a plain table it is not known what its knob
    was."""
    from deadzone.analysis.findings.examining import examine
    from deadzone.analysis.findings.experiment import Experiment

    if not side.factors:
        return ()
    return examine(
        Experiment(side.trials, side.factors[0], responses[0], side.goal, side.factors[1:])
    )
