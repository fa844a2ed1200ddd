"""Horizontal bars for the reports of published studies: one quantity, before and after, and waterfalls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from deadzone import style
from deadzone.explaining.waterfall import draw_change, draw_total
from deadzone.reports.document.display import Figure
from deadzone.reports.document.drawing import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

BAR_IN = 0.42
MARGIN_IN = 1.1
BAR = 0.6
"""Height of a bar, as a share of its row."""

LOOKS = {
    1: ((0.0, style.TRIAL_COLOUR, 0.6),),
    2: ((-0.2, style.BEFORE_COLOUR, 0.36), (0.2, style.AFTER_COLOUR, 0.36)),
}
"""By how many bars a name has: the offset from the name's row, the colour and the height of each."""


@contextmanager
def named_rows(names: Sequence[str], axis: str, row_in: float) -> Iterator[tuple[MatplotlibFigure, Axes]]:
    """A figure with a row a name, of this height, the first on top. axis: name of the length with its unit."""
    with new_figure(MARGIN_IN + row_in * len(names)) as (drawing, ax):
        ax.set_yticks(range(len(names)), list(names))
        ax.tick_params(axis="y", labelcolor=style.INK, length=0)
        ax.invert_yaxis()
        ax.set_xlabel(axis)
        ax.grid(visible=False, axis="y")
        ax.set_axisbelow(True)
        ax.spines["left"].set_visible(False)
        yield drawing, ax


def bars(
    names: Sequence[str], sides: Mapping[str, Sequence[float]], axis: str, caption: str, identity: str
) -> Figure:
    """One bar a name or, before and after, two, each with its length at its end. sides: lengths by what they are."""
    alone = len(sides) == 1
    with named_rows(names, axis, BAR_IN if alone else 1.5 * BAR_IN) as (drawing, ax):
        for (word, lengths), (offset, colour, height) in zip(sides.items(), LOOKS[len(sides)], strict=True):
            places = [i + offset for i in range(len(names))]
            ax.barh(places, lengths, color=colour, height=height, label=word)
            for place, length in zip(places, lengths, strict=True):
                _written(ax, length, place, f"{length:.{1 if alone else 2}f}")
        ax.set_xlim(right=max(map(max, sides.values())) * 1.12)
        if not alone:
            ax.legend(loc="lower right", fontsize=8)
    return Figure.of(drawing, caption, caption, id=identity)


def waterfall(
    start: tuple[str, float], changes: Sequence[tuple[str, float]], stop: tuple[str, float], axis: str, caption: str, identity: str,
    is_face: bool = False,
) -> Figure:  # fmt: skip
    """From one total to another by way of changes, each beginning where the last ended.

    start, stop: name and value of the totals. changes: what changed, and by how much; negative is less. They need not add
    up: what they miss is then seen.
    """
    names = [start[0], *(name for name, _ in changes), stop[0]]
    ends = np.cumsum([start[1], *(amount for _, amount in changes)]).tolist()
    with named_rows(names, axis, BAR_IN) as (drawing, ax):
        draw_total(ax, 0, start[1], style.BEFORE_COLOUR, BAR)
        _written(ax, start[1], 0, f"{start[1]:.2f}")
        for i, ((_, amount), begin, end) in enumerate(zip(changes, ends, ends[1:], strict=False), start=1):
            draw_change(ax, i, begin, amount, BAR)
            ax.plot([begin, begin], [i - 1, i], color=style.MUTED, linewidth=0.8)
            _written(ax, max(begin, end), i, f"{amount:+.2f}")
        last, row = ends[-1], len(names) - 1
        ax.plot([last, last], [row - 1, row], color=style.MUTED, linewidth=0.8)
        draw_total(ax, row, stop[1], style.AFTER_COLOUR, BAR)
        _written(ax, max(stop[1], last), row, f"{stop[1]:.2f}")
        if min(ends) < 0:
            ax.axvline(0, color=style.INK, linewidth=0.8)
        ax.set_xlim(left=min(0.0, min(ends) * 1.05), right=start[1] * 1.15)
    words = ", ".join(f"{name} {amount:+.2f}" for name, amount in changes)
    description = f"{caption} {start[0]} {start[1]:.2f}; {words}; {stop[0]} {stop[1]:.2f}."
    return Figure.of(drawing, caption, description, id=identity, is_face=is_face)


def _written(ax: Axes, x: float, y: float, text: str) -> None:
    ax.annotate(
        text, (x, y), xytext=(4, 0), textcoords="offset points", va="center", color=style.INK, fontsize=8
    )
