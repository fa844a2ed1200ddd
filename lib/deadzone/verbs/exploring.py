"""`explore`: menus and sliders over a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from deadzone.report.document.speaking import use_language
from deadzone.report.explorer.choices import ExplorerTable, list_tables
from deadzone.verbs.run import Run, load_run

if TYPE_CHECKING:
    from deadzone.report.explorer.widgets import Explorer

GIVEN = "table"
"""What a table is called that was given by hand."""


def explore(
    source: pd.DataFrame | Run | str | None = None,
    knob: str = "",
    response: str = "",
    *,
    goal: str = "",
    by: str | Sequence[str] = (),
    lang: str = "en",
) -> Explorer:
    """Menus for run, knob, response and slice, sliders for thresholds and tolerance, over the
    figure of the model.

    source: a table, one row a trial, with its knob and response; or what of the runs on this
    machine and the published curves is shown first: a run, its name, a study, or a published table
    (`thread-pools/outbound`). goal: min or max, by default what the name of the response says. by:
    other factors of a table, each combination of whose levels is a curve. lang: en or ko.

    `explorer.widget()` shows it; `explorer.require_view().model` is the model under the sliders.
    Raises ReportError for an unknown language, UnknownRunError where there is no such run.

    >>> explore(trials, "threads", "wall_s").widget()  # doctest: +SKIP
    """
    from deadzone.report.explorer.widgets import Explorer

    use_language(lang)
    if isinstance(source, pd.DataFrame):
        factors = (knob, *([by] if isinstance(by, str) else by))
        goals = {response: goal} if goal else {}
        table = ExplorerTable(source, knob, response, factors, goals)
        return Explorer({GIVEN: {GIVEN: lambda: table}})
    tables = list_tables()
    explorer = Explorer(tables)
    name = source.name if isinstance(source, Run) else source or ""
    if name and name not in tables:
        study, _, own = name.rpartition("/")
        explorer.study.value, explorer.run.value = (
            (study, own) if own in tables.get(study, ()) else load_run(name).name.split("/")
        )
    elif name:
        explorer.study.value = name
    return explorer
