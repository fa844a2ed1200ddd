"""Publishing the reports of the published studies: `reports/<study>/reference/`, each in every language.

The English report lies in that folder, a translation in a folder of its language within it. Everything is made
from the committed tables alone: publishing again gives the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path

from deadzone import places
from deadzone.contents import beside
from deadzone.errors import ReportError, check_known
from deadzone.language.catalogue import LANGUAGES, say, speaking
from deadzone.reports.document.fonts import REMEDY, korean_font
from deadzone.reports.document.publishing import (
    PAGE,
    own_name,
    publish_index,
    publish_notebook,
    write_front_page,
)

NOTEBOOKS: dict[str, str] = beside(__file__)
"""The notebook that reports each published study."""

INDEX = "published.html"
"""The index of these reports, committed as they are; `index.html` also holds the reports of runs, and is not."""

FOLDER = "reference"
"""Name of a published study's report among the runs of its study."""


def publish_reference(studies: Sequence[str] = ()) -> list[Path]:
    """Execute and publish the reports of published studies; all of them where none is named.

    Returns the folder of each. Raises ReportError if a study is unknown, no font with Korean letters is found,
    or a report cannot be written.
    """
    for name in studies:
        check_known(ReportError, f"No published study {name!r}", name, NOTEBOOKS, "There are:")
    if korean_font() is None:
        raise ReportError(f"The Korean reports need a font with Korean letters: {REMEDY}.")
    folders = [_publish(name) for name in studies or NOTEBOOKS]
    publish_index(name=INDEX, run_id=FOLDER)
    return folders


def _publish(study: str) -> Path:
    folder = places.reports_folder() / study / FOLDER
    for language in LANGUAGES:
        place = folder if language == LANGUAGES[0] else folder / language
        publish_notebook(NOTEBOOKS[study], {"lang": language}, place, links=_links(study, language))
    write_front_page(folder.parent)
    return folder


def _links(study: str, language: str) -> dict[str, str]:
    """From the report in a language to those in the others and to the tables: addresses and texts."""
    up = "" if language == LANGUAGES[0] else "../"
    folders = {
        other: "" if other == LANGUAGES[0] else f"{other}/" for other in LANGUAGES if other != language
    }
    found = {f"{up}{folder}{PAGE}": own_name(other) for other, folder in folders.items()}
    with speaking(language):
        found[f"{up}../../../data/reference/{study}/datapackage.json"] = say("study.tables")
    return found
