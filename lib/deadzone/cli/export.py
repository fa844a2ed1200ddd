"""`deadzone export`: a run for other tools."""

from pathlib import Path

import click

from deadzone import places
from deadzone.cli.options import FILE, gone
from deadzone.errors import SaidAs, StoreError
from deadzone.store.run import RunFolder


@click.command("export")
@click.argument("run")
@gone(
    "--format",
    "export writes every trial as CSV, with --json as records. A line of `jq` in deploy/README.md "
    "makes series for OpenMetrics of a run's trials.jsonl.",
)
@click.option("-o", "--output", type=FILE, help="File to write; standard output by default.")
@click.option("--json", "as_json", is_flag=True, help="Write the rows as JSON.")
def command(run: str, output: Path | None, as_json: bool) -> None:
    """Write the tidy table of RUN (an id, a folder, or STUDY/latest) as CSV."""
    trials = RunFolder.find(places.runs_folder(), run).trials()
    text = trials.to_json(orient="records") if as_json else trials.to_csv(index=False)
    if output is None:
        click.echo(text, nl=as_json)
        return
    with SaidAs(StoreError, f"{output}: cannot be written"):
        output.write_text(text, encoding="utf-8")
