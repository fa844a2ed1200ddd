"""`Table`, `Figure` and `Verdict`: what a report shows beside Markdown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.model import PhaseModel, PhaseModels
from deadzone.analysis.phases.recommend import Recommendation, recommend_from
from deadzone.analysis.phases.roles import check_frame
from deadzone.errors import ReportError, check_type
from deadzone.language.formats import exact, number
from deadzone.language.messages import _
from deadzone.report.document import display
from deadzone.report.sweep import prose
from deadzone.report.sweep.analysis import Analysis, analyse
from deadzone.report.sweep.report import SweepReport
from deadzone.signatures import with_options_of
from deadzone.verbs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure


def Table(frame: pd.DataFrame, caption: str, id: str = "") -> display.Table:
    """A table of a report.

    frame: numbers stand to the right, whole ones exactly, others with three digits; an index that has a name becomes the first
    column. caption: a true sentence about the data. id: for links to it.

    >>> import pandas as pd
    >>> Table(pd.DataFrame({"threads": [1, 2], "wall_s": [8.1, 4.10293]}), "Two threads halve the time.")
    Two threads halve the time.
    threads wall_s
          1   8.10
          2   4.10
    """  # noqa: E501
    check_frame(frame, ReportError)
    shown = frame if frame.index.names == [None] else frame.reset_index()
    numeric = [str(name) for name in shown.columns if pd.api.types.is_numeric_dtype(shown[name])]
    return display.Table.of_frame(shown.map(_text), caption, numeric, id)


def _text(value: Any) -> str:
    """A cell as it is shown: a number with the digits that a reader can use."""
    if isinstance(value, bool | np.bool) or not isinstance(value, int | float | np.number):
        return "-" if value is None or value is pd.NA else str(value)
    return (exact if float(value).is_integer() else number)(float(value))


def Figure(
    figure: "MatplotlibFigure | Axes | str", caption: str, description: str = "", id: str = ""
) -> display.Figure:
    """A numbered figure of a report; the matplotlib figure is closed, so that it is shown once.

    figure: a matplotlib figure, axes, what seaborn returns, or SVG as text. caption: a true
    sentence made from the data. description: what it shows, for readers who do not see it; the
    caption by default. id: for links to it.

    Raises ReportError for what is no figure.

    >>> import matplotlib.pyplot as plt
    >>> Figure(plt.figure(), "Nothing yet.").caption
    'Nothing yet.'
    """
    if isinstance(figure, str) and figure.lstrip().startswith("<svg"):
        return display.Figure(figure, caption, description or caption, id)
    from matplotlib.figure import Figure as MatplotlibFigure

    drawing: Any = getattr(figure, "figure", figure)
    check_type(ReportError, drawing, MatplotlibFigure, "A figure or axes of matplotlib")
    return display.Figure.of(drawing, caption, description or caption, id=id)


@with_options_of(recommend_from, "findings")
def Verdict(
    result: PhaseModel | PhaseModels | Recommendation | Run | SweepReport | str | Any,
    *,
    run: Run | None = None,
    warnings: Sequence[str] = (),
    anyway: bool = False,
    **options: Any,
) -> display.Verdict:
    """The verdict of a report in one form: the setting, what it gives, how sure that is, and every
    doubt.

    result: a model, a recommendation, a report, a run, a result that words its own verdict, or the
    words themselves. run: that it is made of, whose study, date and host then stand in the head of
    the page. warnings: further doubts. anyway: give a setting in spite of a finding that stops it.
    options: see `PhaseModel.recommend`.

    >>> import pandas as pd
    >>> from deadzone import fit_phases
    >>> trials = pd.DataFrame({"threads": [1, 2, 4, 8] * 5})
    >>> trials["wall_s"] = 8 / trials["threads"].clip(upper=4) + trials.index % 3 / 100
    >>> print(Verdict(fit_phases(trials, "threads", "wall_s")).verdict)
    Set 4 threads: 2.01 s, >99 % sure to be within 3 % of the best. 8 threads do as well.
    """
    if isinstance(result, SweepReport | Recommendation | str) and (options or anyway):
        raise ReportError("The setting is decided: give options to `recommend` or `report`.")
    if isinstance(result, SweepReport | Run):
        verdict = (
            _of_run(analyse(result.source, anyway=anyway, **options))
            if isinstance(result, Run)
            else result.verdict()
        )
        return replace(verdict, paragraphs=(*verdict.paragraphs, *warnings))
    head: Any = {"of": prose.head_of(run.source)} if run else {}
    if isinstance(result, str):
        return _said([result, *warnings], **head)
    if not isinstance(result, PhaseModel | PhaseModels | Recommendation):
        if not hasattr(result, "verdict"):
            check_type(ReportError, result, Run, "A model, a run or a text")
        return _said([result.verdict(), *result.warnings, *warnings], **head)
    advice = (
        result if isinstance(result, Recommendation) else result.recommend(anyway=anyway, **options)
    )
    style = "warnings" if advice.setting is None else "verdict"
    doubts = [*advice.caveats, *getattr(result, "warnings", ()), *warnings]
    return _said([str(advice.reason), *doubts], style, **head)


def _said(texts: Sequence[str], style: str = "verdict", **head: Any) -> display.Verdict:
    """The block of a verdict and its doubts, each once."""
    paragraphs = tuple(map(str, dict.fromkeys(texts)))
    return display.Verdict(paragraphs, heading=_("Verdict"), style=style, id="verdict", **head)


def _of_run(analysis: Analysis) -> display.Verdict:
    """The verdict of a run with every doubt, which heads the page."""
    verdict = prose.verdict(analysis)
    warnings = (warning for each in analysis for warning in each.model.warnings)
    doubts = map(str, (*analysis.source.doubts, *warnings))
    rest = (*prose.to_do(analysis), *prose.doubts(analysis))
    sentences = {claim.text for claim in rest}
    further = dict.fromkeys(doubt for doubt in doubts if doubt not in sentences)
    return replace(verdict, paragraphs=(*verdict.paragraphs, *rest, *further))
