"""`explore`: a curve under menus and sliders."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from deadzone.analysis.findings.columns import NO_SETTINGS
from deadzone.analysis.findings.fitting import experiment_in, fit_phases
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.prepare import knob_scale
from deadzone.analysis.phases.roles import with_index
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE, Thresholds
from deadzone.errors import DeadzoneError, PhaseError, UnknownRunError
from deadzone.report.document.fonts import use_language
from deadzone.report.figures.curves import phases_text
from deadzone.report.sweep.trials import Source
from deadzone.store.table import rows_at
from deadzone.study.factors import FactorSpec
from deadzone.study.scales import level_name
from deadzone.style import WIDTH_IN, figure_style
from deadzone.verbs.run import Run, load_run
from deadzone.verbs.tables import read_table

RANGES = {"linear": (0.05, 1.5), "breakthrough": (1.05, 5), "reversal": (-1.5, -0.05)}

MARGINS = {"left": 0.12, "right": 0.97, "top": 0.88, "bottom": 0.3}
HEIGHT_IN, DOTS_AN_INCH = 4.4, 120
"""Of the picture. Its margins are given, for to solve a layout takes as long as to fit."""


class Explorer:
    """Controls and the picture of a curve, as Jupyter shows it; a saved notebook keeps the last.

    controls: widgets, named as the arguments of `fit_phases`, `Thresholds` and `recommend`. at: a
    menu for each factor, of use while it is not the knob. The curve is fitted anew when the `value`
    of one changes. trials: those that are shown. problem: why they have no phases; empty where they
    have.
    """

    def __init__(self, source: Source) -> None:
        import ipywidgets as w

        def slider(name: str, value: float, least: float, most: float, step: float = 0.05) -> Any:
            return w.FloatSlider(
                value, min=least, max=most, step=step, description=name, continuous_update=False
            )

        self._source, self._picture = source, None
        factors = [source.knob, *source.by]
        self._levels = {
            name: [(level_name(level), level) for level in source.trials[name].dropna().unique()]
            for name in factors
        }
        numbers = source.trials.select_dtypes("number").columns
        responses = {source.response: 0} | dict.fromkeys(
            numbers.difference([*factors, *NO_SETTINGS])
        )
        self.controls: dict[str, Any] = {
            "knob": w.Dropdown(options=factors, description="knob"),
            "response": w.Dropdown(options=[*responses], description="response"),
            "goal": w.Dropdown(options=["min", "max"], value=source.goal, description="goal"),
            **{
                name: slider(name, getattr(Thresholds(), name), *ends)
                for name, ends in RANGES.items()
            },
            "tolerance": slider("tolerance", PRACTICAL_TOLERANCE, 0, 0.5, 0.005),
            "left_out": w.SelectMultiple(options=self._levels[factors[0]], description="left out"),
        }
        self.at = {n: w.Dropdown(options=self._levels[n], description=n) for n in factors}
        for control in (*self.controls.values(), *self.at.values()):
            control.style.description_width = "initial"
            control.observe(self._answer, names="value")
        self._fit()

    def _answer(self, change: Any) -> None:
        if change.owner is self.controls["knob"]:
            self.controls["left_out"].options = self._levels[change.new]
        self._fit()
        if self._picture:
            self._picture.update(self._drawn())

    def _fit(self) -> None:
        knob, response, goal, *ends, self.tolerance, left_out = (
            control.value for control in self.controls.values()
        )
        for name, menu in self.at.items():
            menu.layout.display = "none" if name == knob else ""
        others = {name: menu.value for name, menu in self.at.items() if name != knob}
        trials = rows_at(self._source.trials, others)
        self.trials = trials[~trials[knob].isin(left_out)]
        study = self._source.study
        written = (study.factors.get(knob) if study else None) or FactorSpec()
        self.problem = ""
        try:
            scale = knob_scale(trials[knob], written.scale, written.at) if written.scale else None
            how: Any = {"thresholds": Thresholds(*ends), "scale": scale, "at": written.at}
            model = fit_phases(self.trials, knob, response, goal, **how)
        except DeadzoneError as error:
            self.problem = str(error)
        else:
            accepted = study.accept if study else ()
            kept = tuple(found for found in model.findings if found.key not in accepted)
            self._model = replace(model, findings=kept)

    @property
    def model(self) -> PhaseModel:
        """The phases of what is shown. Raises PhaseError, which says why, where there are none."""
        if self.problem:
            raise PhaseError(self.problem)
        return self._model

    def _drawn(self) -> Any:
        import matplotlib.pyplot as plt
        from IPython.display import Image, Pretty

        if self.problem:
            return Pretty(self.problem)
        advice = self.model.recommend(tolerance=self.tolerance)
        with figure_style():
            figure, ax = plt.subplots(figsize=(WIDTH_IN, HEIGHT_IN), gridspec_kw=MARGINS)
            self.model.plot(ax, advice=advice)
        figure.savefig(picture := io.BytesIO(), dpi=DOTS_AN_INCH)
        plt.close(figure)
        said = f"{self._source.name}: {phases_text(self.model)}. {advice.reason}"
        return Image(picture.getvalue(), alt=said.removeprefix(": "))

    def _ipython_display_(self) -> None:
        import ipywidgets as w
        from IPython.display import display

        controls = [*self.controls.values(), *(self.at.values() if len(self.at) > 1 else ())]
        display(w.HBox(controls, layout=w.Layout(flex_flow="row wrap")))
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
    others = (by,) if isinstance(by, str) and by else tuple(by)
    asked: Any = {"knob": knob, "response": response, "goal": goal, "by": ",".join(others)}
    try:
        if isinstance(source, Run):
            return Explorer((Run(source.folder, **asked) if any(asked.values()) else source).source)
        if isinstance(source, str):
            return Explorer(load_run(source, **asked).source)
    except UnknownRunError:
        source = read_table(str(source))
    frame = with_index(source, (knob, *others))
    seen = experiment_in(frame, knob, response, goal, others)
    return Explorer(
        Source("", "", "", frame, knob, response, seen.goal, others, goal_from=seen.goal_from)
    )
