"""The explorer: menus for study, run, knob, response and slice, levels to leave out, sliders for
thresholds and tolerance, one figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deadzone.analysis.mechanisms.wording import missing_measurements, sentences
from deadzone.analysis.phases.quantities import plain_name
from deadzone.analysis.phases.thresholds import PRACTICAL_TOLERANCE, Thresholds
from deadzone.errors import DeadzoneError, ReportError
from deadzone.language.messages import N_, _, say
from deadzone.report.document import display as blocks
from deadzone.report.explorer.choices import ExplorerTable, list_tables
from deadzone.report.explorer.curve import Curve, View, open_curve
from deadzone.report.explorer.figure import SCALES, drawn
from deadzone.report.figures.curves import phases_table

CONTROLS = {
    "study": N_("study"),
    "run": N_("run"),
    "knob": N_("knob"),
    "response": N_("response"),
    "slice": N_("slice"),
    "second": N_("compare with"),
    "scale": N_("axes"),
    "linear": N_("paying from"),
    "breakthrough": N_("breakthrough from"),
    "reversal": N_("reversal below"),
    "tolerance": N_("tolerance (%)"),
}


if TYPE_CHECKING:
    import ipywidgets

MOST_CURVES_KEPT = 16
"""Fitted curves that are kept, so that going back to one costs nothing."""

MENU_WIDTH = "300px"


class Explorer:
    """The widgets and what they show. view, other: what is drawn now; None where nothing can be."""

    def __init__(
        self, tables: dict[str, dict[str, Callable[[], ExplorerTable]]] | None = None
    ) -> None:
        import ipywidgets as w

        self._tables = list_tables() if tables is None else tables
        self._curves: dict[tuple[str, ...], Curve] = {}
        self._loaded: dict[tuple[str, str], ExplorerTable] = {}
        self._is_filling = False
        self.view: View | None = None
        self._problem = ""
        self.other: View | None = None
        self.study = self._menu("study", list(self._tables))
        self.run, self.knob, self.response, self.slice = (
            self._menu(name) for name in ("run", "knob", "response", "slice")
        )
        self.second = self._menu("second")
        usual = Thresholds()
        self.linear = self._slider("linear", usual.linear, 0.05, 1.0)
        self.breakthrough = self._slider("breakthrough", usual.breakthrough, 1.05, 5.0)
        self.reversal = self._slider("reversal", usual.reversal, -1.5, -0.05)
        self.tolerance = self._slider("tolerance", 100 * PRACTICAL_TOLERANCE, 0.0, 50.0, step=0.5)
        self.left_out = w.SelectMultiple(
            description=_("leave out"), rows=4, layout=w.Layout(width="220px")
        )
        self.scale = self._menu("scale", [*SCALES])
        width, hint = w.Layout(width="160px"), _("Fit the curve anew under these thresholds")
        self.exact = w.Button(description=_("Fit exactly"), tooltip=hint, layout=width)
        self.figure, self.words = w.HTML(), w.HTML()
        self._watch()
        self._fill_runs()

    def widget(self) -> ipywidgets.VBox:
        """Everything in one box, to be displayed."""
        import ipywidgets as w

        menus = (
            self.study,
            self.run,
            self.knob,
            self.response,
            self.slice,
            self.second,
            self.scale,
        )
        sliders = (
            self.linear,
            self.breakthrough,
            self.reversal,
            self.tolerance,
            self.left_out,
            self.exact,
        )
        rows = [w.HBox(row, layout=w.Layout(flex_flow="row wrap")) for row in (menus, sliders)]
        return w.VBox([*rows, self.figure, self.words])

    def thresholds(self) -> Thresholds:
        """The thresholds that the sliders are at."""
        return Thresholds(self.linear.value, self.breakthrough.value, self.reversal.value)

    def require_view(self) -> View:
        """The curve that is shown. Raises ReportError, with the reason, where none is."""
        if self.view is None:
            raise ReportError(self._problem or _no_run())
        return self.view

    def redraw(self, _change: object = None) -> None:
        """Show the chosen curve under the sliders' thresholds; nothing is fitted that was fitted
        before."""
        under = (self.thresholds(), float(self.tolerance.value) / 100)
        try:
            self.view = self._curve(str(self.run.value)).under(*under)
        except DeadzoneError as error:
            self.view = self.other = None
            self._problem = str(error)
            self.figure.value, self.words.value = "", _warned(self._problem)
            return
        self.other, problem = None, ""
        if second := str(self.second.value or ""):
            try:
                self.other = self._curve(second).under(*under)
            except DeadzoneError as error:
                problem = _warned(
                    _("{name} cannot be laid over it: {reason}", name=second, reason=str(error))
                )
        self.figure.value = drawn(self.view, self.other, str(self.scale.value))
        self.words.value = problem + self._said(self.view)

    def fit_exactly(self, _button: object = None) -> None:
        """Fit the chosen curve anew under the sliders' thresholds."""
        key = self._key(str(self.run.value))
        self._curves[key] = self._curve(str(self.run.value)).refitted(self.thresholds())
        self.redraw()

    def _said(self, view: View) -> str:
        model = view.model
        fitted = self._curve(str(self.run.value)).model.thresholds
        note = say(
            N_("The phases are those of the fit.")
            if fitted == model.thresholds
            else N_(
                "The phases follow the sliders: steps are labelled anew by the elasticities of the "
                "fit. Fit exactly to let the thresholds shape the curve as well."
            )
        )
        why = blocks.Prose((*sentences(view.why), *missing_measurements({}, view.why))).html()
        return (
            blocks.Prose((view.advice.reason, note)).html()
            + phases_table(model, view.why).html()
            + why
        )

    def _key(self, run: str) -> tuple[str, ...]:
        menus = (self.study, self.knob, self.response, self.slice)
        return (*(str(part.value) for part in menus), run, *map(str, self.left_out.value))

    def _curve(self, run: str) -> Curve:
        """The fitted curve of a run under the other menus' choices, from the kept ones where it is
        there."""
        key = self._key(run)
        if key not in self._curves:
            table = self._table(run)
            if not table.knobs():
                raise ReportError(
                    _(
                        "No factor of this run has three levels with an order, so there is no "
                        "curve to explore; its report compares the settings."
                    )
                )
            knob, response = str(self.knob.value), str(self.response.value)
            if knob not in table.knobs():
                raise ReportError(_("Its trials give no curve over {knob}.", knob=plain_name(knob)))
            part = table.cut(table.slices(knob).get(str(self.slice.value or ""), {}))
            part = part.without(knob, self.left_out.value)
            while len(self._curves) >= MOST_CURVES_KEPT:
                del self._curves[next(iter(self._curves))]
            self._curves[key] = open_curve(run, part, knob, response)
        return self._curves[key]

    def _table(self, run: str) -> ExplorerTable:
        key = (str(self.study.value), run)
        if key not in self._loaded:
            self._loaded[key] = self._tables[key[0]][run]()
        return self._loaded[key]

    def _fill_runs(self, _change: object = None) -> None:
        runs = list(self._tables[str(self.study.value)]) if self.study.value else []
        for menu in (self.knob, self.response, self.slice):
            self._fill(menu, [])
        self._fill(self.run, runs)
        self._fill(self.second, ["", *runs], labels=[_("none"), *runs])
        self._fill_columns()

    def _fill_columns(self, _change: object = None) -> None:
        if not self.run.value:
            self.words.value = blocks.Prose((_no_run(),)).html()
            return
        table = self._table(str(self.run.value))
        for menu, names in ((self.knob, table.knobs()), (self.response, table.responses())):
            self._fill(menu, names, labels=[plain_name(name) for name in names])
        self._fill_slices()

    def _fill_slices(self, _change: object = None) -> None:
        table, knob = self._table(str(self.run.value)), str(self.knob.value)
        slices = list(table.slices(knob))
        self._fill(self.slice, slices, labels=[name or _("none") for name in slices])
        with self._filling():
            self.left_out.options = table.levels(knob)
        self.redraw()

    def _fill(self, menu: Any, values: list[str], labels: list[str] | None = None) -> None:
        """Set a menu's options and keep its choice where it is still there, without answering to
        the change."""
        kept = menu.value
        with self._filling():
            menu.options = list(zip(labels or values, values, strict=True))
            if values:
                menu.value = kept if kept in values else values[0]

    @contextmanager
    def _filling(self) -> Iterator[None]:
        """Changes to the menus within are answered by nothing."""
        self._is_filling = True
        try:
            yield
        finally:
            self._is_filling = False

    def _watch(self) -> None:
        def unless_filling(answer: Callable[..., None]) -> Callable[[Any], None]:
            return lambda change: None if self._is_filling else answer(change)

        self.study.observe(unless_filling(self._fill_runs), names="value")
        self.run.observe(unless_filling(self._fill_columns), names="value")
        self.knob.observe(unless_filling(self._fill_slices), names="value")
        sliders = (self.linear, self.breakthrough, self.reversal, self.tolerance)
        for widget in (self.response, self.slice, self.second, self.scale, self.left_out, *sliders):
            widget.observe(unless_filling(self.redraw), names="value")
        self.exact.on_click(self.fit_exactly)

    def _menu(self, name: str, options: list[str] | None = None) -> Any:
        import ipywidgets as w

        return w.Dropdown(
            description=say(CONTROLS[name]),
            options=options or [],
            layout=w.Layout(width=MENU_WIDTH),
            style={"description_width": "90px"},
        )

    def _slider(self, name: str, value: float, low: float, high: float, step: float = 0.05) -> Any:
        import ipywidgets as w

        return w.FloatSlider(
            description=say(CONTROLS[name]),
            value=value,
            min=low,
            max=high,
            step=step,
            continuous_update=True,
            layout=w.Layout(width="320px"),
            style={"description_width": "130px"},
            readout_format=".2f",
        )


def _no_run() -> str:
    return _("There is no run to explore yet: deadzone run ffmpeg-cpu-limit measures one.")


def _warned(text: str) -> str:
    return blocks.Prose((text,), style="warnings").html()
