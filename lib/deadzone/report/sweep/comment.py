"""The comment on a pull request that a run makes."""

import os
from collections.abc import Mapping
from typing import Any

from deadzone.language.markdown import markdown
from deadzone.report.document.display import Table
from deadzone.report.document.publishing import Published, read_entry
from deadzone.report.sweep import prose
from deadzone.report.sweep.claims import claims_moved, judged_of
from deadzone.report.sweep.regression_check import since_previous
from deadzone.report.sweep.report import SweepReport
from deadzone.store.run import RunFolder


def comment_on(
    run: RunFolder, published: Published, parameters: Mapping[str, Any]
) -> tuple[bool, str]:
    """Whether a phase or the verdict on a claim moved since the previous run of the study, and the
    comment in Markdown: the verdict, every setting, what moved, claims and doubts.

    parameters: of the notebook that made the report.
    """
    judged = judged_of(run)
    since = since_previous(run, parameters)
    moved = (since is not None and since.moved) or claims_moved(run, judged)
    entry = read_entry(published.folder)
    verdict, table = entry.verdict, None
    notes = [*map(str, judged)]
    if since:
        analysis = since.now
        verdict = analysis.verdict
        settings = SweepReport(analysis).treatments()
        table = next((block.frame for block in settings if isinstance(block, Table)), None)
        doubts = [*prose.title(analysis).doubts, *map(str, prose.doubts(analysis))]
        notes = [since.sentence, *notes, *doubts]
    return moved, markdown(
        f"{entry.title}: {verdict}", table, notes, os.path.relpath(published.page)
    )
