"""`publish`: a run, or a notebook, as a page and a PDF."""

from pathlib import Path
from typing import Any

from deadzone import places
from deadzone.errors import ReportError, check_type
from deadzone.language.messages import LANGUAGES
from deadzone.report.document.publishing import (
    Published,
    folder_for,
    publish_index,
    publish_notebook,
    publish_run,
    write_front_page,
)
from deadzone.store.run import RunFolder
from deadzone.verbs.run import Run

OF_A_NOTEBOOK = "notebook"
"""In place of a run's id, the folder of a report that is of no run."""


def publish(source: Run | str | Path, /, **parameters: Any) -> Published:
    """Execute a notebook afresh and publish it as page, PDF and notebook, and the index of all
    reports.

    source: a run, or its name, whose study's notebook is executed on it; or a notebook (a path
    ending in .ipynb). parameters: of the notebook. One that fails
    is not published, and what was published before stays.

    `.page` and `.pdf` are the files, `.pdf` None where Typst is not installed. Raises ReportError
    if it cannot be executed or written, UnknownRunError for no run.

    >>> publish("xz-threads/latest", tolerance=0.05).page  # doctest: +SKIP
    """
    check_type(ReportError, source, Run | str | Path, "A run or the path of a notebook")
    if not isinstance(source, Run) and Path(source).suffix == ".ipynb":
        published = _of_notebook(Path(source), parameters)
    else:
        runs = places.runs_folder()
        run = source.stored if isinstance(source, Run) else RunFolder.find(runs, str(source))
        published = publish_run(run, parameters)
    publish_index()
    return published


def _of_notebook(path: Path, parameters: dict[str, Any]) -> Published:
    if not path.is_file():
        raise ReportError(f"{path}: there is no such notebook.")
    own = places.reports_folder() / path.stem
    folder = folder_for(own / OF_A_NOTEBOOK, str(parameters.get("lang") or LANGUAGES[0]))
    publish_notebook(path, parameters, folder)
    return Published(folder, write_front_page(own))
