"""`deadzone attribute`: which difference makes a service slow."""

import json
from typing import Any

import click


@click.command("attribute")
@click.argument("run")
@click.option("--slow", metavar="NAME", help="The slow environment; default the slowest.")
@click.option("--fast", metavar="NAME", help="The fast environment; default the fastest.")
@click.option("--restored", metavar="NAME", help="The environment in which the limit was removed.")
@click.option("--by", metavar="COL", help="Column of the environments; default environment.")
@click.option(
    "--margin",
    default=0.1,
    help="A part below this share of the slowdown explains next to nothing.",
)
@click.option("--confidence", default=0.95, help="Confidence of intervals and verdicts.")
@click.option("--json", "as_json", is_flag=True, help="Print the attribution as JSON.")
def command(run: str, as_json: bool, **asked: Any) -> None:
    """Say which difference between the environments of RUN makes the slow one slow: CPU limit,
    network, disk, memory, client.

    RUN is a run (an id, a folder, or STUDY/latest) or a table (CSV or Parquet, one row a trial).
    """
    from deadzone_services.attribution.attributing import attribute

    result = attribute(run, **{name: value for name, value in asked.items() if value is not None})
    click.echo(json.dumps(result.to_dict()) if as_json else result.summary())
