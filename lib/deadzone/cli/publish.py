"""`deadzone publish`: rebuild the index of all published reports, or publish those of the published studies."""

import json

import click

from deadzone.language.catalogue import LANGUAGES


@click.command("publish")
@click.argument("studies", nargs=-1)
@click.option(
    "--reference",
    is_flag=True,
    help="First execute and publish the reports of the published STUDIES (all of them, if none is named).",
)
@click.option("--lang", type=click.Choice(LANGUAGES), default=LANGUAGES[0], help="Language of the index.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(studies: tuple[str, ...], reference: bool, lang: str, as_json: bool) -> None:
    """Rebuild the index of reports/: every study with its newest verdict."""
    from deadzone.reports.document.publishing import publish_index

    if studies and not reference:
        raise click.UsageError("STUDIES are those of the published studies: add --reference.")
    if reference:
        from deadzone.reports.document.published_studies import publish_reference

        publish_reference(studies)
    index = publish_index(lang)
    click.echo(json.dumps({"index": str(index)}) if as_json else str(index))
