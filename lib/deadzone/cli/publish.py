"""`deadzone publish`: rebuild the index of all published reports."""

from __future__ import annotations

import json

import click

from deadzone.language.catalogue import LANGUAGES


@click.command("publish")
@click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    default=LANGUAGES[0],
    show_default=True,
    help="Language of the index.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(lang: str, as_json: bool) -> None:
    """Rebuild the index of reports/: every study with its newest verdict."""
    from deadzone.report.index import publish_index

    index = publish_index(lang)
    click.echo(json.dumps({"index": str(index)}) if as_json else str(index))
