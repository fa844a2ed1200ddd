"""`deadzone report`: publish the report of a run again."""

from __future__ import annotations

import json

import click


@click.command("report")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(run: str, as_json: bool) -> None:
    """Analyse RUN (an id, a folder, or STUDY/latest) and publish its report."""
    from deadzone import places
    from deadzone.report.publishing import publish_run
    from deadzone.store.run import Run

    page = publish_run(Run.find(places.runs_folder(), run))
    click.echo(json.dumps({"report": str(page)}) if as_json else str(page))
