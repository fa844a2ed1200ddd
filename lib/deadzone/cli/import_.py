"""`deadzone import`: result files of other tools as one tidy table."""

import inspect
import json
from pathlib import Path

import click

from deadzone.cli.options import FILE
from deadzone.errors import EXIT_PARTLY_READ
from deadzone.visible import visible


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
    help="A level that the files do not tell, e.g. threads=4.",
)
@click.option(
    "--incomplete",
    type=click.Choice(["fail", "skip"]),
    default="fail",
    help="Runs that were cut off: rows with the status failed, and exit code 9; or left out.",
)
@click.option("--json", "as_json", is_flag=True, help="Print rows and warnings as JSON.")
def command(
    form: str,
    files: tuple[Path, ...],
    output: Path | None,
    append: bool,
    stated: tuple[str, ...],
    incomplete: str,
    as_json: bool,
) -> None:
    """Turn result FILEs of another tool into a tidy table that `fit` and `compare` read.

    FORMAT is the name of the tool; --list prints them all. Ends with exit code 9 where a run in a
    file is incomplete.
    """
    from deadzone.store.imports.registry import read_result
    from deadzone.store.imports.result import tidy
    from deadzone.store.tables import appended, write_table

    results = [read_result(form, path) for path in files]
    skips = incomplete == "skip"
    table = tidy(
        [result.complete() if skips else result for result in results], dict(map(_setting, stated))
    )
    said_of: dict[str, list[Path]] = {}
    for path, result in zip(files, results, strict=True):
        for words in result.remarks:
            said_of.setdefault(words, []).append(path)
    sentences = [
        f"{path}{f' and {len(others)} more' if others else ''}: {words}"
        for words, (path, *others) in said_of.items()
    ]
    warnings = list(
        dict.fromkeys([*sentences, *(words for result in results for words in result.warnings)])
    )
    if append and output is None:
        raise click.UsageError("--append needs a table to add to: name it with -o.")
    if output is not None:
        write_table(appended(output, table) if append else table, output)
    if as_json:
        rows = json.loads(table.to_json(orient="records"))
        click.echo(
            json.dumps({"rows": rows, "warnings": warnings, "table": output and str(output)})
        )
    elif output is None:
        click.echo(table.to_csv(index=False), nl=False)
    else:
        rows_said = f"{len(table)} row{'s' if len(table) != 1 else ''}"
        click.echo(f"{output}: {rows_said}, {len(table.columns)} columns")
    for warning in () if as_json else warnings:
        click.echo(f"deadzone: {visible(warning)}", err=True)
    if not skips and any(result.is_partly_read for result in results):
        click.get_current_context().exit(EXIT_PARTLY_READ)


def _print_formats(context: click.Context, asked: bool) -> None:
    """Each format, with the version that was recorded, and what its numbers are not, where its
    reader has them; else what its module says of itself."""
    from deadzone.store.imports.registry import FORMATS

    if not asked:
        return
    for form, reader in FORMATS.items():
        about = (inspect.getdoc(inspect.getmodule(reader)) or "").partition("\n\n")[0]
        words = " ".join(getattr(reader, "traps", about.partition(": ")[2].split()))
        click.echo(f"{form:17} {getattr(reader, 'version', ''):8} {words}")
    context.exit()


def _setting(text: str) -> tuple[str, str]:
    name, equals, level = text.partition("=")
    if not equals or not name.strip().isidentifier() or not level.strip():
        raise click.BadParameter(
            f"{text!r} is not COLUMN=VALUE, for example threads=4", param_hint="--set"
        )
    return name.strip(), level.strip()
