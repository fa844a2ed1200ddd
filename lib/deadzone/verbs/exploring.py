"""`explore`: a curve under menus and sliders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from deadzone.analysis.findings.columns import NO_SETTINGS
from deadzone.analysis.findings.fitting import experiment_in
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.roles import with_index
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE, Thresholds
from deadzone.errors import DeadzoneError, UnknownRunError
from deadzone.report.document.fonts import use_language
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.trials import Source
from deadzone.store.table import rows_at
from deadzone.study.direction import GOALS
from deadzone.study.scales import level_name
from deadzone.style import WIDTH_IN, figure_style
from deadzone.verbs.run import Run, load_run
from deadzone.verbs.tables import read_table

SLIDERS = {
    "linear": (0.05, 1.5), "breakthrough": (1.05, 5), "reversal": (-1.5, -0.05),
    "tolerance": (0, 0.5),
}  # fmt: skip
"""Their ends: of the thresholds in the order of `Thresholds`, and of the tolerance."""


def explore(
    source: pd.DataFrame | Run | str = "latest",
    knob: str = "",
    response: str = "",
    *,
    goal: str = "",
    by: str | Sequence[str] = (),
    lang: str = "en",
) -> Any:
    """Menus and sliders over the phases of a curve: its levels, thresholds and tolerance.

    source: a table, one row a trial; a run or its name; a file; or a published table
    (`thread-pools/outbound`). knob, response, goal (min or max), by (the other factors): by default
    those of the run's study; a table needs knob and response. lang: en or ko.

    Returns an `ipywidgets.interactive`, whose `result` holds the trials that are shown and their
    model, None where they have no phases.

    Raises ReportError for an unknown language, TableError where there is no such run or table,
    PhaseError for a column that is not there.

    >>> trials, model = explore("ffmpeg-16-cores/trials", "cpu_limit", "wall_s").result  # doctest: +SKIP
    """  # noqa: E501
    import ipywidgets as w

    use_language(lang)
    found = _source(source, knob, response, goal, [by] if isinstance(by, str) else by)
    options = {
        name: [(level_name(level), level) for level in found.trials[name].dropna().unique()]
        for name in (found.knob, *found.by)
    }
    numbers = found.trials.select_dtypes("number").columns.difference([*options, *NO_SETTINGS])
    starts = {**vars(Thresholds()), "tolerance": PRACTICAL_TOLERANCE}
    return w.interactive(
        lambda **chosen: _shown(found, **chosen),
        response=[*dict.fromkeys([found.response, *numbers])],
        goal=w.Dropdown(options=GOALS, value=found.goal),
        left_out=w.SelectMultiple(options=options[found.knob]),
        **{
            name: w.FloatSlider(starts[name], min=low, max=high, step=0.005)
            for name, (low, high) in SLIDERS.items()
        },
        **{name: options[name] for name in found.by},
    )


def _source(
    source: pd.DataFrame | Run | str, knob: str, response: str, goal: str, by: Sequence[str]
) -> Source:
    asked: Any = {"knob": knob, "response": response, "goal": goal, "by": ",".join(by)}
    try:
        if isinstance(source, Run):
            return (Run(source.folder, **asked) if any(asked.values()) else source).source
        if isinstance(source, str):
            return load_run(source, **asked).source
    except UnknownRunError:
        source = read_table(str(source))
    seen = experiment_in(with_index(source, (knob, *by)), knob, response, goal, by)
    known: Any = {"goal_from": seen.goal_from, "by": tuple(by)}
    return Source("", "", "", seen.table, knob, response, seen.goal, **known)


def _shown(
    source: Source,
    response: str,
    goal: str,
    left_out: Sequence[Any],
    tolerance: float,
    **chosen: Any,
) -> tuple[pd.DataFrame, PhaseModel | None]:
    """Print the verdict and draw the curve. chosen: thresholds, and levels of the other factors."""
    import matplotlib.pyplot as plt
    from IPython.display import display

    trials = rows_at(source.trials, {name: chosen[name] for name in source.by})
    trials = trials[~trials[source.knob].isin(left_out)]
    asked = replace(source, trials=trials, response=response, goal=goal, by=())
    try:
        thresholds = Thresholds(**{name: chosen[name] for name in vars(Thresholds())})
        how = {**source.how, "thresholds": thresholds}
        analysis = analyse(replace(asked, how=how), tolerance=tolerance)
    except DeadzoneError as error:
        print(error)
        return trials, None
    models, notes = (analysis.answer.models, analysis.answer.notes) if analysis.answer else ({}, ())
    print(analysis.verdict, *(() if models else notes))
    model = next(iter(models.values()), None)
    if model:
        with figure_style():
            figure, ax = plt.subplots(figsize=(WIDTH_IN, 4.4))
            model.plot(ax, advice=analysis.advice)
        display(figure)
        plt.close(figure)
    return trials, model
