"""`deadzone import`: result files of other tools as one tidy table."""

import inspect
import json
from pathlib import Path

import click

from deadzone.cli.options import FILE, gone, pairs, tell
from deadzone.errors import EXIT_PARTLY_READ


@click.command("import")
@click.argument("form", metavar="FORMAT")
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, asked: _print_formats(context, asked),
    help="Print the formats, and how far each can be believed.",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    help="Table to write, .csv or .parquet; default: CSV on the screen.",
)
@click.option("--append", is_flag=True, help="Add the rows to the table instead of replacing it.")
@click.option(
    "--set",
    "stated",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="A level that the files do not name, e.g. threads=4.",
)
@gone(
    "--incomplete", "a run that was cut off is a row with the status failed, which fit leaves out."
)
@click.option("--json", "as_json", is_flag=True, help="Print rows and warnings as JSON.")
def command(
    form: str,
    files: tuple[Path, ...],
    output: Path | None,
    append: bool,
    stated: tuple[str, ...],
    as_json: bool,
) -> None:
    """Turn result FILEs of another tool into a tidy table that `fit` and `compare` read.

    FORMAT is the name of the tool; --list prints them all. Ends with exit code 9 if a run in a
    file is incomplete.
    """
    from deadzone.store.imports.registry import read_result
    from deadzone.store.imports.result import tidy
    from deadzone.store.tables import appended, write_table

    if output and output.resolve() in [path.resolve() for path in files]:
        raise click.UsageError(f"{output} is one of the files that are read: name another with -o.")
    results = [read_result(form, path) for path in files]
    table = tidy(results, pairs("--set", stated, "COLUMN=VALUE, such as threads=4"))
    named = [
        f"{path}: {words}" for path, of in zip(files, results, strict=True) for words in of.remarks
    ]
    warnings = [*dict.fromkeys([*named, *(words for of in results for words in of.warnings)])]
    if append and output is None:
        raise click.UsageError("--append needs a table to add to: name it with -o.")
    if output is not None:
        write_table(appended(output, table) if append else table, output)
    if as_json:
        shown = {"warnings": warnings, "table": output and str(output)}
        click.echo(json.dumps({"rows": json.loads(table.to_json(orient="records")), **shown}))
    elif output is None:
        click.echo(table.to_csv(index=False), nl=False)
    else:
        plural = "s" if len(table) != 1 else ""
        click.echo(f"{output}: {len(table)} row{plural}, {len(table.columns)} columns")
    tell(*(() if as_json else warnings))
    if any(result.is_partly_read for result in results):
        click.get_current_context().exit(EXIT_PARTLY_READ)


def _print_formats(context: click.Context, asked: bool) -> None:
    """Each format, and what its numbers are not, where its reader has that; else what it reads."""
    from deadzone.store.imports.registry import FORMATS

    if not asked:
        return
    for form, reader in FORMATS.items():
        about = (inspect.getdoc(reader) or "").partition("Raises")[0].split()
        click.echo(f"{form:17} {' '.join(getattr(reader, 'traps', about))}")
    context.exit()
