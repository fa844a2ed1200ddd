"""`deadzone publish`: publish runs, notebooks or the published studies, and rebuild the index of
all reports."""

import json

import click

from deadzone.cli.options import gone, notebook_option
from deadzone.language.messages import LANGUAGES


@click.command("publish")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@notebook_option
@click.option(
    "--reference",
    is_flag=True,
    help="Publish the published studies that SOURCE names (all of them, if none is named).",
)
@click.option(
    "--lang", type=click.Choice(LANGUAGES), default=LANGUAGES[0], help="Language of the index."
)
@gone("--paper", "the PDF is A4, which a printer scales to its paper.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    sources: tuple[str, ...],
    parameters: tuple[tuple[str, str], ...],
    reference: bool,
    lang: str,
    as_json: bool,
) -> None:
    """Execute and publish each SOURCE as page, PDF and notebook. A SOURCE is a run (an id, a
    folder, or STUDY/latest) or a notebook (a path ending in .ipynb). Then rebuild the index of
    reports/: every study with its newest verdict."""
    from deadzone.report.document.publishing import publish_index, publish_reference

    pages: list[str] = []
    if reference:
        if parameters:
            raise click.UsageError("-p is of a run or a notebook, not of --reference")
        publish_reference(sources)
    else:
        from deadzone.cli.parameters import overrides_of
        from deadzone.verbs.publishing import publish

        given = overrides_of(parameters, None, None, None)
        pages = [str(publish(source, **given).page) for source in sources]
    index = str(publish_index(lang))
    if as_json:
        click.echo(json.dumps({"index": index} | ({"pages": pages} if pages else {})))
    else:
        click.echo("\n".join(pages or [index]))
