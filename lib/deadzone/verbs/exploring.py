"""`explore`: a curve under menus and sliders."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from deadzone.analysis.findings.columns import NO_SETTINGS
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE, Thresholds
from deadzone.errors import DeadzoneError, UnknownRunError
from deadzone.report.document.drawing import use_language
from deadzone.report.sweep.analysis import Source, analyse
from deadzone.report.sweep.tables import phases_text
from deadzone.store.table import rows_at
from deadzone.study.direction import GOALS
from deadzone.study.scales import level_name
from deadzone.style import figure_style
from deadzone.verbs.run import Run, load_run, source_of
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
    _advice: Recommendation | None = None

    def __init__(self, source: Source) -> None:
        import ipywidgets as w

        self._source, self._picture = source, None
        levels = {
            name: [(level_name(level), level) for level in source.trials[name].dropna().unique()]
            for name in source.factors
        }
        numbers = source.trials.select_dtypes("number").columns.difference([*levels, *NO_SETTINGS])
        starts = {**vars(Thresholds()), "tolerance": PRACTICAL_TOLERANCE}
        self.controls: dict[str, Any] = {
            "response": w.Dropdown(options=[*dict.fromkeys([source.response, *numbers])]),
            "goal": w.Dropdown(options=GOALS, value=source.goal),
            "left_out": w.SelectMultiple(options=levels[source.knob]),
        }
        for name, (low, high) in SLIDERS.items():
            self.controls[name] = w.FloatSlider(starts[name], min=low, max=high, step=0.005)
        self.controls |= {name: w.Dropdown(options=levels[name]) for name in source.by}
        for name, control in self.controls.items():
            control.description, control.style.description_width = name, "initial"
            control.continuous_update = False  # of the sliders
            control.observe(self._changed, names="value")
        self._changed()

    def _changed(self, _change: Any = None) -> None:
        asked = {name: control.value for name, control in self.controls.items()}
        source, left_out = self._source, asked.pop("left_out")
        trials = rows_at(source.trials, {name: asked.pop(name) for name in source.by})
        self.trials, self.model = trials[~trials[source.knob].isin(left_out)], None
        thresholds = {name: asked.pop(name) for name in vars(Thresholds())}
        tolerance = asked.pop("tolerance")
        try:
            how = {**source.how, "thresholds": Thresholds(**thresholds)}
            seen = replace(source, table=self.trials, others=None, by=(), how=how, **asked)
            analysis = analyse(seen, tolerance=tolerance)
        except DeadzoneError as error:
            self.said = str(error)
        else:
            answer, self._advice = analysis.answer, analysis.advice
            self.model = next(iter(answer.models.values()), None) if answer else None
            notes = answer.notes if answer and not self.model else ()
            self.said = " ".join([str(analysis.verdict), *map(str, notes)])
        if self._picture:
            self._picture.update(self._drawn())

    def _drawn(self) -> Any:
        import matplotlib.pyplot as plt
        from IPython.core.pylabtools import print_figure
        from IPython.display import Image, Pretty

        if self.model is None:
            return Pretty(self.said)
        with figure_style():
            figure: Any = self.model.plot(advice=self._advice).figure
            picture = print_figure(figure, dpi=DOTS_AN_INCH, bbox_inches=None)
        plt.close(figure)
        said = f"{self._source.name}: {phases_text(self.model)}. {self.said}"
        return Image(picture, alt=said.removeprefix(": "))

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
    lang: str = "",
) -> Explorer:
    """Menus and sliders over the phases of a curve: its levels, thresholds and tolerance.

    source: a table, one row a trial; a run or its name; a file; or a published table
    (`thread-pools/outbound`). knob, response, goal (min or max), by (the other factors): by default
    those of the run's study; a table needs knob and response. lang: of every sentence from here on,
    en or ko.

    Raises ReportError for an unknown language, TableError where there is no such run or table,
    PhaseError for a column that is not there.

    >>> explore("ffmpeg-16-cores/trials", "cpu_limit", "wall_s").model.n_levels
    16
    """
    if lang:
        use_language(lang)
    asked: Any = {"knob": knob, "response": response, "goal": goal, "by": by}
    try:
        found = load_run(source, **asked) if isinstance(source, str) else source
    except UnknownRunError:
        found = read_table(str(source))
    return Explorer(source_of(found, **asked))
