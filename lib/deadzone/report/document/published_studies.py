"""Publishing the published studies: `notebooks/published/<study>.ipynb` becomes
`reports/<study>/reference/`.

Everything is made from the committed tables alone: publishing again gives the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deadzone import places
from deadzone.errors import ReportError, check_known
from deadzone.language.formats import date
from deadzone.report.document.publishing import publish_index, publish_notebook, write_front_page
from deadzone.store.reference import reference_package

INDEX = "published.html"
"""The index of these reports, committed as they are; `index.html` also holds the reports of runs,
and is not."""

FOLDER = "reference"
"""Name of a published study's report among the runs of its study."""


def published_studies() -> dict[str, str]:
    """The notebook of each published study, by the study's name."""
    paths = sorted((places.notebooks_folder() / "published").glob("*.ipynb"))
    return {path.stem.replace("_", "-"): f"published/{path.stem}" for path in paths}


def publish_reference(studies: Sequence[str] = ()) -> list[Path]:
    """Execute and publish the reports of published studies; all of them where none is named.

    Returns the folder of each. Raises ReportError if a study is unknown, or a report cannot be
    written.
    """
    known = published_studies()
    for name in studies:
        check_known(ReportError, f"No published study {name!r}", name, known, "There are:")
    folders = [_publish(name, known[name]) for name in studies or known]
    publish_index(name=INDEX, run_id=FOLDER)
    return folders


def _publish(study: str, notebook: str) -> Path:
    folder = places.reports_folder() / study / FOLDER
    tables = {f"../../../data/reference/{study}/datapackage.json": "tables (CSV)"}
    publish_notebook(places.notebook(notebook), {}, folder, links=tables, head=_head(study))
    write_front_page(folder.parent)
    return folder


def _head(study: str) -> dict[str, Any]:
    """What the head of the page says of the document that the figures are from."""
    document = reference_package(study)["sources"][0]
    author = document.get("author") or document.get("series") or "not stated"
    day = str(document.get("date") or "")
    told = (
        ("Document", str(document["title"])),
        ("Author", str(author)),
        ("Date", date(day, "en") if day else "not stated"),
    )
    return {"study": study, "run_id": FOLDER, "date": day, "facts": told}
