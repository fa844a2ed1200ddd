"""`deadzone fit`: phases of any table of measurements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click


@click.command("fit")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--knob", required=True, metavar="COL", help="Column of the knob.")
@click.option("--response", required=True, metavar="COL", help="Column of the response.")
@click.option(
    "--goal", type=click.Choice(["min", "max"]), default="min", show_default=True, help="Which way is better."
)
@click.option("--by", metavar="COL", help="Column of a second factor: one model for each of its values.")
@click.option(
    "--within",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Recommend the cheapest setting within this share of the best: 0.05 is 5 %.",
)
@click.option(
    "--slo", multiple=True, nargs=2, metavar="STATISTIC VALUE", help="Recommend the smallest that meets it."
)
@click.option("--cost", metavar="EXPRESSION", help='Recommend the least cost, e.g. "cpu_limit * wall_s".')
@click.option("-q", "--quiet", is_flag=True, help="Draw no picture.")
@click.option("--json", "as_json", is_flag=True, help="Print the model as JSON.")
def command(
    table: Path,
    knob: str,
    response: str,
    goal: str,
    by: str | None,
    within: float | None,
    slo: tuple[tuple[str, str], ...],
    cost: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Fit phases to TABLE (CSV or Parquet, one row a trial), and say what to set."""
    from deadzone.explaining.findings.examining import examine
    from deadzone.explaining.findings.experiment import Experiment
    from deadzone.explaining.phases.fit import fit_phases
    from deadzone.reports.sweep.terminal import drawn
    from deadzone.store.tables import read_table

    targets = {name: _number(name, text) for name, text in slo} or None
    wishes = {"within": within, "slo": targets, "cost": cost}
    frame = read_table(table)
    if by is None:
        model = fit_phases(frame, knob, response, goal=goal)
        advice = model.recommend(**wishes)
        facts: dict[str, Any] = model.to_dict()
        said = [*drawn(quiet or as_json, model, advice), str(model.summary())]
    else:
        models = fit_phases(frame, knob, response, goal=goal, by=by)
        advice = models.recommend(**wishes)
        slices = [{by: plain(value), **one.to_dict()} for value, one in models.items()]
        facts = {"knob": knob, "response": response, "goal": goal, "by": by, "slices": slices}
        said = [
            "\n".join([f"{by} = {value}", *drawn(quiet or as_json, one, one.recommend()), str(one.summary())])
            for value, one in models.items()
        ]
    one_curve = model if by is None else None
    found = examine(Experiment(frame, knob, response, goal, (by,) if by else (), model=one_curve))
    if as_json:
        findings = [one.to_dict() for one in found]
        click.echo(json.dumps({**facts, "recommendation": advice.to_dict(), "findings": findings}))
    else:
        # The summary of a single curve holds the advice for the usual goal already.
        asked = ", ".join(f"{name} {_shown(wish)}" for name, wish in wishes.items() if wish is not None)
        wanted = [f"For {asked}: {advice}"] if asked else [str(advice)] if by else []
        click.echo("\n".join([*map(str, found), *said, *wanted]))


def plain(value: Any) -> Any:
    """A value of a table as JSON knows it."""
    return value.item() if hasattr(value, "item") else value


def _shown(wish: object) -> str:
    if isinstance(wish, dict):
        return " and ".join(f"{name} {value:g}" for name, value in wish.items())
    return f"{wish}"


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise click.BadParameter(f"the target of {name} is {text!r}; it must be a number") from error
