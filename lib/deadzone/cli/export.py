"""`deadzone export`: a run for other tools."""

import json
from pathlib import Path

import click

from deadzone import places
from deadzone.cli.options import FILE
from deadzone.errors import SaidAs, StoreError
from deadzone.store.run import RunFolder

FORMATS = ("csv", "hyperfine-json", "hyperfine-csv")
OPENMETRICS = "openmetrics"
"""A format of earlier releases."""


@click.command("export")
@click.argument("run")
@click.option(
    "--format", "form", type=click.Choice((*FORMATS, OPENMETRICS)), default="csv",
    metavar=f"[{'|'.join(FORMATS)}]",
)  # fmt: skip
@click.option("-o", "--output", type=FILE, help="File to write; standard output by default.")
@click.option("--json", "as_json", is_flag=True, help="Short for --format hyperfine-json.")
def command(run: str, form: str, output: Path | None, as_json: bool) -> None:
    """Write RUN (an id, a folder, or STUDY/latest): the tidy table as CSV, or its statistics as
    hyperfine's files."""
    if form == OPENMETRICS:
        raise click.UsageError(
            "--format openmetrics is gone: a line of `jq` in deploy/README.md makes the series of "
            "a run's trials.jsonl."
        )
    found = RunFolder.find(places.runs_folder(), run)
    if form == "csv" and not as_json:
        text = found.trials().to_csv(index=False)
    else:
        kind = found.study().workload.kind
        text = statistics_of(found, kind, as_csv=form == "hyperfine-csv" and not as_json)
    if output is None:
        click.echo(text, nl=False)
        return
    with SaidAs(StoreError, f"{output}: cannot be written"):
        output.write_text(text, encoding="utf-8")


def statistics_of(run: RunFolder, command: str, *, as_csv: bool) -> str:
    """The statistics of a run as hyperfine's CSV or JSON. command: what was run, for readers.
    Raises StoreError where no trial ended well."""
    from deadzone.store import exports

    rows = exports.results(run.trials(), command, run.study().factor_names())
    if not rows:
        raise StoreError(
            f"Run {run.run_id} has no trusted trial that ended well, so there are no statistics to "
            "write; `--format csv` writes every trial."
        )
    if as_csv:
        return exports.as_csv(rows).to_csv(index=False)
    return json.dumps({"results": rows}, indent=2) + "\n"
