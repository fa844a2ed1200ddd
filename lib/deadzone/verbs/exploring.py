"""`explore`: a curve under menus and sliders."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from deadzone.analysis.findings.columns import NO_SETTINGS
from deadzone.analysis.findings.fitting import experiment_in
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.roles import listed, with_index
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE, Thresholds
from deadzone.errors import DeadzoneError, UnknownRunError
from deadzone.report.document.drawing import use_language
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.tables import phases_text
from deadzone.report.sweep.trials import Source
from deadzone.store.table import rows_at
from deadzone.study.direction import GOALS
from deadzone.study.scales import level_name
from deadzone.style import figure_style
from deadzone.verbs.run import Run, load_run
from deadzone.verbs.tables import read_table

SLIDERS = {
    "linear": (0.05, 1.5), "breakthrough": (1.05, 5), "reversal": (-1.5, -0.05),
    "tolerance": (0, 0.5),
}  # fmt: skip
"""Their ends: of the thresholds in the order of `Thresholds`, and of the tolerance."""


DOTS_AN_INCH = 120


class Explorer:
    """Controls and the picture of a curve, as Jupyter shows it; a saved notebook keeps the last.

    controls: widgets by name. trials, model: those that are shown; the model is None where they
    have no phases. said: the verdict, or why there are none.
    """

    trials: pd.DataFrame
    model: PhaseModel | None
    said = ""

    def __init__(self, source: Source) -> None:
        import ipywidgets as w

        self._source, self._picture = source, None
        self._advice: Any = None
        options = {
            name: [(level_name(level), level) for level in source.trials[name].dropna().unique()]
            for name in (source.knob, *source.by)
        }
        numbers = source.trials.select_dtypes("number").columns.difference([*options, *NO_SETTINGS])
        starts = {**vars(Thresholds()), "tolerance": PRACTICAL_TOLERANCE}
        self.controls: dict[str, Any] = {
            "response": w.Dropdown(options=[*dict.fromkeys([source.response, *numbers])]),
            "goal": w.Dropdown(options=GOALS, value=source.goal),
            "left_out": w.SelectMultiple(options=options[source.knob]),
            **{
                name: w.FloatSlider(starts[name], min=low, max=high, step=0.005)
                for name, (low, high) in SLIDERS.items()
            },
            **{name: w.Dropdown(options=options[name]) for name in source.by},
        }
        for name, control in self.controls.items():
            control.description, control.style.description_width = name, "initial"
            control.continuous_update = False  # of the sliders
            control.observe(self._changed, names="value")
        self._changed()

    def _changed(self, _change: Any = None) -> None:
        self._answer(**{name: control.value for name, control in self.controls.items()})
        if self._picture:
            self._picture.update(self._drawn())

    def _answer(
        self, response: str, goal: str, left_out: Sequence[Any], tolerance: float, **chosen: Any
    ) -> None:
        """chosen: thresholds, and levels of the other factors."""
        source = self._source
        trials = rows_at(source.trials, {name: chosen[name] for name in source.by})
        self.trials, self.model = trials[~trials[source.knob].isin(left_out)], None
        asked = replace(source, table=self.trials, others=None, response=response, goal=goal, by=())
        try:
            thresholds = Thresholds(**{name: chosen[name] for name in vars(Thresholds())})
            how = {**source.how, "thresholds": thresholds}
            analysis = analyse(replace(asked, how=how), tolerance=tolerance)
        except DeadzoneError as error:
            self.said = str(error)
        else:
            answer, self._advice = analysis.answer, analysis.advice
            self.model = next(iter(answer.models.values()), None) if answer else None
            notes = answer.notes if answer and not self.model else ()
            self.said = " ".join([str(analysis.verdict), *map(str, notes)])

    def _drawn(self) -> Any:
        import matplotlib.pyplot as plt
        from IPython.display import Image, Pretty

        if self.model is None:
            return Pretty(self.said)
        with figure_style():
            figure: Any = self.model.plot(advice=self._advice).figure
            figure.savefig(picture := io.BytesIO(), dpi=DOTS_AN_INCH)
        plt.close(figure)
        said = f"{self._source.name}: {phases_text(self.model)}. {self.said}"
        return Image(picture.getvalue(), alt=said.removeprefix(": "))

    def _ipython_display_(self) -> None:
        import ipywidgets as w
        from IPython.display import display

        display(w.HBox([*self.controls.values()], layout=w.Layout(flex_flow="row wrap")))
        self._picture = display(self._drawn(), display_id=True)


def explore(
    source: pd.DataFrame | Run | str = "latest",
    knob: str = "",
    response: str = "",
    *,
    goal: str = "",
    by: str | Sequence[str] = (),
    lang: str = "en",
) -> Explorer:
    """Menus and sliders over the phases of a curve: its levels, thresholds and tolerance.

    source: a table, one row a trial; a run or its name; a file; or a published table
    (`thread-pools/outbound`). knob, response, goal (min or max), by (the other factors): by default
    those of the run's study; a table needs knob and response. lang: en or ko.

    Raises ReportError for an unknown language, TableError where there is no such run or table,
    PhaseError for a column that is not there.

    >>> explore("ffmpeg-16-cores/trials", "cpu_limit", "wall_s").model.n_levels
    16
    """
    use_language(lang)
    return Explorer(_source(source, knob, response, goal, listed(by)))


def _source(
    source: pd.DataFrame | Run | str, knob: str, response: str, goal: str, by: tuple[str, ...]
) -> Source:
    asked: Any = {"knob": knob, "response": response, "goal": goal, "by": by}
    try:
        if isinstance(source, Run):
            return (Run(source.folder, **asked) if any(asked.values()) else source).source
        if isinstance(source, str):
            return load_run(source, **asked).source
    except UnknownRunError:
        source = read_table(str(source))
    return Source(**vars(experiment_in(with_index(source, (knob, *by)), knob, response, goal, by)))
