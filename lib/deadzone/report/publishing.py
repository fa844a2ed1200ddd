"""Publishing: the executed analysis of a run becomes `reports/<study>/<run_id>/`, and the study's front page."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deadzone import places
from deadzone.errors import ReportError
from deadzone.report.execution import execute
from deadzone.report.page import notebook_page
from deadzone.store.run import Run

PAGE = "index.html"

FRONT_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{study}</title>
<meta http-equiv="refresh" content="0; url={run_id}/{page}"></head>
<body><p>The newest report of {study} is <a href="{run_id}/{page}">run {run_id}</a>.</p></body></html>
"""


def publish_run(run: Run, parameters: Mapping[str, Any] | None = None) -> Path:
    """Execute the analysis of a run and publish its page; returns the study's front page.

    parameters: of the notebook `phases`, besides the run. A notebook that fails is not published.

    Raises ReportError if it cannot be written, and whatever DeadzoneError the analysis raised.
    """
    study = run.study().study
    folder = places.reports_folder() / study / run.run_id
    with tempfile.TemporaryDirectory(prefix="deadzone-report-") as scratch:
        executed = Path(scratch) / "phases.ipynb"
        execute(places.notebook("phases"), executed, {"run": str(run.folder), **(parameters or {})})
        page = notebook_page(executed)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / PAGE).write_text(page, encoding="utf-8")
            shutil.copyfile(executed, folder / "report.ipynb")
            front = folder.parent / PAGE
            front.write_text(FRONT_PAGE.format(study=study, run_id=run.run_id, page=PAGE), encoding="utf-8")
        except OSError as error:
            raise ReportError(f"{folder}: the report cannot be written: {error.strerror}.") from error
    return front
