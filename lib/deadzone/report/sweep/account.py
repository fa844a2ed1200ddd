"""The account of time of a sweep: where the time of threads went at each level, as a figure of its
own, and why each phase is what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from deadzone.analysis.mechanisms.explaining import no_cause
from deadzone.analysis.mechanisms.parts import (
    ANSWERED,
    CAUSES,
    FEW,
    OUTSIDE,
    has_account,
    time_by_level,
)
from deadzone.analysis.phases.quantities import axis_label, plain_name
from deadzone.language.messages import N_, _, say
from deadzone.report.document.display import Block, Figure, Prose
from deadzone.report.document.drawing import new_figure
from deadzone.report.sweep.analysis import Slice
from deadzone.report.sweep.prose import why_in_words
from deadzone.report.sweep.tables import positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT_IN = 2.6

ACCOUNT_STYLES = {
    "running": ("#33658A", ""),
    "cpu_full": ("#E69F00", "//"),
    "throttled": ("#D55E00", "\\\\"),
    "waiting_for_disk": ("#009E73", ".."),
    "memory_short": ("#AA3377", "xx"),
    OUTSIDE: ("#56B4E9", "++"),
    FEW: ("#F0E442", "--"),
    "waiting_for_each_other": ("#C9CFD6", ""),
}
"""Colour and hatch of each part of the account of time."""


def account_blocks(s: Slice) -> list[Block]:
    """The figure of a slice's account of time and what follows from it; nothing where its trials
    carry none."""
    trials, model = s.source.analysed, s.model
    if not has_account(trials, model.response):
        return []
    said = why_in_words(s)
    words = [Prose(tuple(said))] if said else []
    if no_cause(trials, model):
        return [*words]
    means = time_by_level(trials, positions(model, trials), model.response, model.goal)
    means = means[[name for name in ACCOUNT_STYLES if name in means and means[name].max() > 0]]
    if means.empty:
        return [*words]
    text = _(
        "How the threads spent their time at each level of {knob}: means of the trials, stacked.",
        knob=plain_name(model.knob),
    )
    with new_figure(HEIGHT_IN) as (drawing, ax):
        _draw_parts(means, ax)
        ax.set_xlabel(axis_label(model.knob))
        shares, seconds = (
            N_("share of the response (1 is all)"),
            N_("thread time per unit of work (thread-s)"),
        )
        ax.set_ylabel(say(shares if ANSWERED in trials else seconds).replace(" (", "\n("))
    return [Figure.of(drawing, s.captioned(text), text, id=s.anchor("account")), *words]


def _draw_parts(means: pd.DataFrame, ax: Axes) -> None:
    """The parts of an account of time, stacked. means: a row a level, a column a part."""
    shown = [*map(str, means)]
    stacks = ax.stackplot(
        means.index.to_numpy(float), *(means[name].to_numpy(float) for name in shown),
        labels=[say(CAUSES[name]) for name in shown],
        colors=[ACCOUNT_STYLES[name][0] for name in shown], edgecolor="white", linewidth=0.5,
    )  # fmt: skip
    for stack, name in zip(stacks, shown, strict=True):
        stack.set_hatch(ACCOUNT_STYLES[name][1])
    ax.set_ylim(bottom=0)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=8, borderaxespad=0.2)
