"""`deadzone report`: publish the report of a run again."""

import json
from typing import TYPE_CHECKING, get_args

import click

from deadzone.cli.options import notebook_option
from deadzone.extras import missing_sentence
from deadzone.language.messages import LANGUAGES
from deadzone.study.spec import Analysis

if TYPE_CHECKING:
    from deadzone.report.document.publishing import Published


def warn_of_pdf(published: "Published") -> None:
    """Say on stderr that a report has no PDF, and which extra brings what writes it."""
    if published.pdf is None:
        click.echo(f"deadzone: The report has no PDF: {missing_sentence('typst')}", err=True)


@click.command("report")
@click.argument("run")
@notebook_option
@click.option(
    "--analysis", type=click.Choice(get_args(Analysis)), help="Notebook; default as the study says."
)
@click.option("--lang", type=click.Choice(LANGUAGES), help="Language of the report.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    run: str,
    parameters: tuple[tuple[str, str], ...],
    analysis: str | None,
    lang: str | None,
    as_json: bool,
) -> None:
    """Analyse RUN (an id, a folder, or STUDY/latest) and publish its report as page, PDF and
    notebook."""
    from deadzone import places
    from deadzone.cli.parameters import overrides_of
    from deadzone.report.document.publishing import publish_run
    from deadzone.store.run import RunFolder

    given = overrides_of(parameters, None, None, None) | ({"lang": lang} if lang else {})
    published = publish_run(RunFolder.find(places.runs_folder(), run), given, analysis)
    warn_of_pdf(published)
    pdf = published.pdf and str(published.pdf)
    shown = {"report": str(published.front), "page": str(published.page), "pdf": pdf}
    click.echo(json.dumps(shown) if as_json else str(published.front))
