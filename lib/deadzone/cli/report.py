"""`deadzone report`: publish the report of a run again."""

import json
from typing import TYPE_CHECKING, get_args

import click

from deadzone.cli.options import comment_options, notebook_option, tell
from deadzone.errors import EXIT_MOVED
from deadzone.extras import missing_sentence
from deadzone.language.messages import LANGUAGES, speaking
from deadzone.study.spec import Analysis

if TYPE_CHECKING:
    from deadzone.report.document.publishing import Published


def warn_of_pdf(published: "Published") -> None:
    """Say on stderr that a report has no PDF, and which extra brings what writes it."""
    if published.pdf is None:
        tell(f"The report has no PDF: {missing_sentence('typst')}")


@click.command("report")
@click.argument("run")
@notebook_option
@click.option(
    "--analysis", type=click.Choice(get_args(Analysis)), help="Notebook; default as the study says."
)
@click.option("--lang", type=click.Choice(LANGUAGES), help="Language of the report.")
@comment_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    run: str,
    parameters: tuple[tuple[str, str], ...],
    analysis: str | None,
    lang: str | None,
    form: str | None,
    only_if: str | None,
    as_json: bool,
) -> None:
    """Analyse RUN (an id, a folder, or STUDY/latest) and publish its report as page, PDF and
    notebook. With --only-if moved it ends with exit code 6 if something moved."""
    from deadzone import places
    from deadzone.cli.parameters import overrides_of
    from deadzone.report.document.publishing import publish_run
    from deadzone.store.run import RunFolder

    given = overrides_of(parameters, None, None, None) | ({"lang": lang} if lang else {})
    run_folder = RunFolder.find(places.runs_folder(), run)
    published = publish_run(run_folder, given, analysis)
    warn_of_pdf(published)
    moved, comment = False, ""
    if form or only_if:
        from deadzone.report.sweep.report import comment_on

        with speaking(str(given.get("lang", LANGUAGES[0]))):
            moved, comment = comment_on(run_folder, published, given)
    if only_if and not moved:
        return
    shown = {
        "report": str(published.front),
        "page": str(published.page),
        "pdf": published.pdf and str(published.pdf),
    }
    click.echo(json.dumps(shown) if as_json else comment if form else str(published.front))
    if only_if:
        raise click.exceptions.Exit(EXIT_MOVED)
