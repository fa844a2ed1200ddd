"""The waterfall: from an amount before, change by change, to the amount after, each bar starting
where the last ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deadzone import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
) -> Figure:
    """Draw it; a whisker is the interval of a change.

    before: the amount at the start. changes: shape (n,). intervals: shape (n, 2), each change's
    bounds, nan for none. names, texts: n + 2 of each, for the rows' left and right: before, every
    change, after. axis: what the amounts are. Returns a figure, which the caller closes.
    """
    from matplotlib.figure import Figure

    with style.figure_style():
        figure = Figure(
            figsize=(style.WIDTH_IN, FRAME_IN + ROW_IN * len(names)), layout="constrained"
        )
        ax = figure.add_subplot()
        ends = before + np.cumsum(changes)
        _draw_total(ax, 0, before, style.BEFORE_COLOUR)
        for i, start in enumerate([before, *ends[:-1]]):
            _draw_change(ax, i + 1, float(start), float(changes[i]))
            _join(ax, i + 1, float(start), float(ends[i]), start + intervals[i])
        _draw_total(
            ax, len(names) - 1, float(ends[-1]) if len(ends) else before, style.AFTER_COLOUR
        )
        left, right = ax.dataLim.intervalx
        ax.set_xlim(min(left, 0.0), right * 1.03)
        _label_rows(ax, names, texts)
        ax.set_title(title, wrap=True)
        ax.set_xlabel(axis)
    return figure


def _draw_total(ax: Axes, row: int, amount: float, colour: str) -> None:
    """The bar of a total, from zero."""
    ax.barh(row, amount, color=colour, edgecolor=style.INK, linewidth=0.6, height=BAR)


def _draw_change(ax: Axes, row: int, start: float, amount: float) -> None:
    """The bar of a change, from where the last one ended."""
    colour, hatch, edge = LESS if amount <= 0 else MORE
    ax.barh(
        row,
        amount,
        left=start,
        color=colour,
        hatch=hatch,
        edgecolor=edge,
        linewidth=0.6,
        height=BAR,
    )


def _join(ax: Axes, row: int, start: float, end: float, whisker: np.ndarray) -> None:
    """Lines from the last bar and to the next one, and the interval of the change."""
    ax.plot([start, start], [row - 1 + BAR / 2, row - BAR / 2], color=style.MUTED, linewidth=0.8)
    ax.plot([end, end], [row + BAR / 2, row + 1 - BAR / 2], color=style.MUTED, linewidth=0.8)
    if np.isfinite(whisker).all():
        ax.plot(whisker, [row, row], color=style.INK, linewidth=1.2, marker="|", markersize=6)


def _label_rows(ax: Axes, names: Sequence[str], texts: Sequence[str]) -> None:
    """Rows of bars from zero, the first on top: names on the left; amounts in a column on the
    right, where no bar is."""
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
