"""The waterfall: from an amount before, change by change, to the amount after, each bar starting
where the last ended."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deadzone import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW_IN = 0.38
FRAME_IN = 1.25
"""Inches: a row; title and axis."""

BAR = 0.62
"""Height of a bar, as a share of its row."""

LESS, MORE = (style.LESS_COLOUR, "", style.INK), (style.MORE_COLOUR, "///", "white")
"""Colour, hatch and edge: what grows is hatched, so that the two are told apart without colours."""


def draw(
    before: float,
    changes: np.ndarray,
    intervals: np.ndarray,
    *,
    names: Sequence[str],
    texts: Sequence[str],
    title: str,
    axis: str,
) -> "Figure":
    """Draw it; a whisker is the interval of a change.

    before: the amount at the start. changes: shape (n,). intervals: shape (n, 2), each change's
    bounds, nan for none. names, texts: n + 2 of each, for the rows' left and right: before, every
    change, after. axis: what the amounts are. Returns a figure, which the caller closes.
    """
    from matplotlib.figure import Figure

    rows, ends = range(1, len(changes) + 1), before + np.cumsum(changes)
    after = float(ends[-1]) if len(ends) else before
    size = (style.WIDTH_IN, FRAME_IN + ROW_IN * len(names))
    bar: dict[str, Any] = {"linewidth": 0.6, "height": BAR}
    with style.figure_style():
        figure = Figure(figsize=size, layout="constrained")
        ax = figure.add_subplot()
        colours = (style.BEFORE_COLOUR, style.AFTER_COLOUR)
        ax.barh([0, len(names) - 1], [before, after], color=colours, edgecolor=style.INK, **bar)
        for row, change, interval in zip(rows, changes, intervals, strict=True):
            start = float(ends[row - 1] - change)
            colour, hatch, edge = LESS if change <= 0 else MORE
            ax.barh(row, change, left=start, color=colour, hatch=hatch, edgecolor=edge, **bar)
            if np.isfinite(interval).all():
                whisker = start + interval
                ax.plot(whisker, [row, row], color=style.INK, lw=1.2, marker="|", markersize=6)
        tops = np.arange(len(changes) + 1) + BAR / 2
        ax.vlines([before, *ends], tops, tops + 1 - BAR, color=style.MUTED, linewidth=0.8)
        left, right = ax.dataLim.intervalx
        ax.set_xlim(min(left, 0.0), right * 1.03)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
        ax.axvline(0, color=style.MUTED, linewidth=0.8)
        for row, text in enumerate(texts):
            ax.annotate(
                text, (1.01, row), xycoords=("axes fraction", "data"), va="center", color=style.INK
            )
        size = style.RC_PARAMS["axes.titlesize"]
        figure.suptitle(title, x=0.01, ha="left", size=size, weight="bold", wrap=True)
        ax.set_xlabel(axis)
    return figure
