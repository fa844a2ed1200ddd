"""The curve as it is known while its sweep runs: for a terminal, or for a notebook that a user
watches."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from deadzone.errors import DeadzoneError
from deadzone.language.messages import _
from deadzone.run.sweep.progress import in_notebook
from deadzone.store.run import RunFolder
from deadzone.study.plan import Plan

if TYPE_CHECKING:
    from deadzone.analysis.phases.model import PhaseModel
    from deadzone.report.sweep.terminal import Terminal


def look_of(plan: Plan, run: RunFolder) -> Callable[[], str] | None:
    """What shows the curve of a run as far as it is known: a text of it in a terminal, a figure
    that is replaced in a notebook; None where it is not watched, and of more curves than one. What
    fits and draws is loaded only where it is watched."""
    if len(plan.factors) > 1 or plan.study.search:
        return None
    if not sys.stderr.isatty():
        return _Figure(plan, run).show if in_notebook() else None
    from deadzone.report.sweep.terminal import terminal_of

    terminal = terminal_of(sys.stderr)
    return partial(_in_text, plan, run, terminal) if terminal and not terminal.plain else None


def _known(plan: Plan, run: RunFolder) -> tuple[PhaseModel, str]:
    """The phases so far, and the levels of the last batch of an adaptive sweep in words; a grid is
    known beforehand."""
    from deadzone.analysis.phases.fit import fit_phases

    knob, response = plan.study.knob_name, plan.study.response
    last: Sequence[Any] = next(
        (batch["trials"] for batch in run.batches()[::-1] if "trials" in batch), ()
    )
    coming = ", ".join(str(treatment["levels"][knob]) for treatment in last)
    model = fit_phases(run.trials(), knob, response.name, response.goal)
    return model, _("Next: {levels}", levels=coming) if coming else ""


def _in_text(plan: Plan, run: RunFolder, terminal: Terminal) -> str:
    try:
        model, coming = _known(plan, run)
    except DeadzoneError:  # too few trials for a curve yet
        return ""
    return "\n".join(part for part in (terminal.curve(model, model.recommend()), coming) if part)


class _Figure:
    """One figure in the output of a cell."""

    def __init__(self, plan: Plan, run: RunFolder) -> None:
        self._known, self._shown = partial(_known, plan, run), None

    def show(self) -> str:
        """Draw it in the place of the last."""
        from IPython.display import Image, display

        try:
            picture = Image(data=drawn(*self._known()), format="png")
        except DeadzoneError:
            return ""
        if self._shown is None:
            self._shown = display(picture, display_id=True)
        else:
            self._shown.update(picture)
        return ""


def drawn(model: PhaseModel, coming: str = "") -> bytes:
    """A PNG of a model: the curve with its phases, below it the doubt of each step (one less the
    probability of its label), and what comes next."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from deadzone.style import MUTED, figure_style

    with figure_style():
        figure = FigureCanvasAgg(Figure(figsize=(7.2, 5.8), layout="constrained")).figure
        above, below = figure.subplots(2, 1, height_ratios=(5, 1))
        model.plot(ax=above)
        below.set_xscale(above.get_xscale())
        below.set_xlim(above.get_xlim())
        for step in model.steps.to_dict("records"):
            span, doubt = [step["start"], step["stop"]], 1 - float(step["probability"])
            below.fill_between(span, doubt, color=MUTED, alpha=0.5, lw=0)
        below.set(ylim=(0, 1), ylabel=_("doubt"), xlabel=coming, xticks=[])
        below.minorticks_off()
        kept = io.BytesIO()
        figure.savefig(kept, format="png", dpi=100)
    return kept.getvalue()
