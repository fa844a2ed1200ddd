"""The waterfall of a change: from the total before, cause by cause, to the total after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deadzone.language.catalogue import say
from deadzone.profiles.attribution import Attribution, rule_text
from deadzone.profiles.axis import in_units
from deadzone.profiles.causes import OTHER
from deadzone.profiles.units import readable
from deadzone.profiles.wording import largest_cause
from deadzone.style import AFTER_COLOUR, BEFORE_COLOUR, INK, LESS_COLOUR, MORE_COLOUR, MUTED, RC_PARAMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 7.2
ROW_IN = 0.38
FRAME_IN = 1.3
LESS_HATCH, MORE_HATCH = "", "///"


def waterfall(attribution: Attribution) -> Figure:
    """A row for the total before, for each cause, for what no cause explains, and for the total after.

    Each cause's bar starts where the one above it ended; a whisker is the 95 % interval of its change.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    table = attribution.table
    rows = len(table) + 2
    rc_params: Any = RC_PARAMS
    with mpl.rc_context(rc_params):
        figure = Figure(figsize=(WIDTH_IN, FRAME_IN + ROW_IN * rows), layout="constrained")
        ax = figure.add_subplot()
        before, after = float(table["before"].sum()), float(table["after"].sum())
        _draw_total(ax, 0, before, BEFORE_COLOUR)
        ends = before + np.cumsum(table["change"].to_numpy())
        for row, (start, end) in enumerate(zip([before, *ends[:-1]], ends, strict=True), start=1):
            _draw_change(ax, row, start, end, attribution)
        _draw_total(ax, rows - 1, after, AFTER_COLOUR)
        _label_rows(ax, attribution, before, after, max(before, after, *ends))
        ax.set_title(largest_cause(attribution), wrap=True)
        ax.set_xlabel(
            say("profile.waterfall_axis", what=attribution.what) + "\n" + rule_text(attribution.rule)
        )
    return figure


def _draw_total(ax: Axes, row: int, amount: float, colour: str) -> None:
    ax.barh(row, amount, color=colour, edgecolor=INK, linewidth=0.6, height=0.62)


def _draw_change(ax: Axes, row: int, start: float, end: float, attribution: Attribution) -> None:
    cause = attribution.table.iloc[row - 1]
    less = end <= start
    ax.barh(
        row,
        end - start,
        left=start,
        color=LESS_COLOUR if less else MORE_COLOUR,
        hatch=LESS_HATCH if less else MORE_HATCH,
        edgecolor="white" if not less else INK,
        linewidth=0.6,
        height=0.62,
    )
    ax.plot([start, start], [row - 1 + 0.31, row - 0.31], color=MUTED, linewidth=0.8)
    ax.plot([end, end], [row + 0.31, row + 1 - 0.31], color=MUTED, linewidth=0.8)
    if np.isfinite([cause.change_low, cause.change_high]).all():
        ends = [start + cause.change_low, start + cause.change_high]
        ax.plot(ends, [row, row], color=INK, linewidth=1.2, marker="|", markersize=6)


def _label_rows(ax: Axes, attribution: Attribution, before: float, after: float, widest: float) -> None:
    """Names on the left; amounts in a column on the right, where no bar or whisker is."""
    table, unit = attribution.table, attribution.unit.partition(" ")[0]
    causes = [say("profile.other") if name == OTHER else name for name in table["cause"]]
    names = [say("profile.before"), *causes, say("profile.after")]
    size = max(before, after, float(table["change"].abs().max()))
    texts = [
        readable(before, unit, scale_of=size),
        *(readable(change, unit, signed=True, scale_of=size) for change in table["change"]),
        readable(after, unit, scale_of=size),
    ]
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    left, right = ax.dataLim.intervalx
    ax.set_xlim(min(left, 0.0), right * 1.03)
    ax.axvline(0, color=MUTED, linewidth=0.8)
    in_units(ax, unit, size)
    for row, text in enumerate(texts):
        ax.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), va="center", color=INK)
