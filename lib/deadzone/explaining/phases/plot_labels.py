"""Names of phases along the top of the axes, in rows, so that no two overlap and none is cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONT_SIZE = 8
ROW_POINTS = 13
"""Height of a row of names: the font with room for the ascenders of the row below."""

TOP_POINTS = 5
GAP_PIXELS = 4
"""Least distance between two names in a row."""


def place_labels(ax: Axes, names: list[str], colours: list[str], spans: list[tuple[float, float]]) -> float:
    """Write each name above its span of the x axis; returns the height used, in points.

    names, colours: one a span. spans: (start, stop) in data units, from left to right. A name wider than
    its span stays centred on it, in the first row in which it has room.
    """
    figure: Any = ax.figure
    box = ax.get_window_extent()
    rows: list[list[tuple[float, float]]] = []
    for name, colour, (start, stop) in zip(names, colours, spans, strict=True):
        left, right = (float(ax.transData.transform((x, ax.get_ylim()[0]))[0]) for x in (start, stop))
        text = ax.annotate(
            name, (0, 1), xycoords="axes fraction", ha="center", va="top", fontsize=FONT_SIZE, color=colour,
            fontweight="bold", zorder=8, annotation_clip=False,
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8},
        )  # fmt: skip
        half = text.get_window_extent(figure.canvas.get_renderer()).width / 2
        centre = min(max((left + right) / 2, box.x0 + half + 2), box.x1 - half - 2)
        row = _free_row(rows, centre - half - GAP_PIXELS, centre + half + GAP_PIXELS)
        rows[row].append((centre - half - GAP_PIXELS, centre + half + GAP_PIXELS))
        text.xy = ((centre - box.x0) / box.width, 1.0)
        text.set_position((0, -(TOP_POINTS + row * ROW_POINTS)))
        text.anncoords = "offset points"
    return TOP_POINTS + len(rows) * ROW_POINTS


def _free_row(rows: list[list[tuple[float, float]]], left: float, right: float) -> int:
    """The first row without anything between left and right; a new one if need be."""
    for number, row in enumerate(rows):
        if all(right <= taken[0] or left >= taken[1] for taken in row):
            return number
    rows.append([])
    return len(rows) - 1
