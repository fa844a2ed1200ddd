"""A grid of two factors as a heat map, with the cells that meet a target outlined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.explaining.phases.quantities import axis_label, level_number
from deadzone.reports.document.display import Figure
from deadzone.reports.document.drawing import new_figure
from deadzone.style import MUTED, RECOMMENDED_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL_HEIGHT_IN = 0.42
NOTED_HEIGHT_IN = 0.62
"""Of a row of cells that hold a second line."""

MARGIN_IN = 1.1

COLOURS = ("#F7FAFC", "#7A9CC0")
"""From the best to the worst cell; light enough that dark numbers can be read on either."""


def grid(rows: pd.DataFrame, across: str, down: str, response: str) -> pd.DataFrame:
    """The response with a column for each level of `across` and a row for each level of `down`; of repeats the median, nan
    where there is none."""
    return rows.pivot_table(index=down, columns=across, values=response, aggfunc="median").astype(float)


def heat_map(
    cells: pd.DataFrame,
    caption: str,
    description: str,
    identity: str,
    *,
    inside: pd.DataFrame | None = None,
    notes: pd.DataFrame | None = None,
    title: str = "",
    tints: np.ndarray | None = None,
    finish: Callable[[Axes], None] | None = None,
) -> Figure:
    """Draw a grid of a response to minimise; every cell shows its number.

    cells: as of `grid`, named index and columns. inside: which cells are outlined, of the shape of `cells`; by default none.
    notes: a second line for each cell. tints: colours of the cells, in place of those by their numbers. finish: draws what comes on top.
    """
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    values = cells.to_numpy(float)
    within = np.zeros(values.shape, bool) if inside is None else inside.to_numpy(bool)
    lines = notes.to_numpy(object) if notes is not None else np.full(values.shape, "", object)
    height = CELL_HEIGHT_IN if notes is None else NOTED_HEIGHT_IN
    with new_figure(MARGIN_IN + height * values.shape[0]) as (drawing, ax):
        known = values[np.isfinite(values) & (values > 0)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (1.0, 2.0)
        norm = LogNorm(low, max(high, 1.01 * low), clip=True)
        colours = LinearSegmentedColormap.from_list("cells", COLOURS)
        for (i, j), value in np.ndenumerate(values):
            tint = colours(norm(value)) if tints is None else tints[i, j]
            colour = "none" if np.isnan(value) else tint
            _cell(ax, (i, j), float(value), colour, bool(within[i, j]), str(lines[i, j]))
        outline(ax, within)
        ax.set_xlim(-0.5, values.shape[1] - 0.5)
        ax.set_ylim(-0.5, values.shape[0] - 0.5)
        columns, index = str(cells.columns.name), str(cells.index.name)
        ax.set_xticks(range(values.shape[1]), [level_number(float(x), columns) for x in cells.columns])
        ax.set_yticks(range(values.shape[0]), [f"{float(y):,g}" for y in cells.index])
        ax.set_xlabel(axis_label(columns))
        ax.set_ylabel(axis_label(index))
        ax.grid(visible=False)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_title(title)
        if finish:
            finish(ax)
    return Figure.of(drawing, caption, description, id=identity)


def _cell(ax: Axes, place: tuple[int, int], value: float, colour: Any, is_within: bool, note: str) -> None:
    from matplotlib.patches import Rectangle

    i, j = place
    ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1))
    ax.text(j, i + (0.17 if note else 0), number_text(value), ha="center", va="center", fontsize=10,
            color=MUTED if np.isnan(value) else "#1F2934", fontweight="bold" if is_within else "normal")  # fmt: skip
    if note:
        size = 7.5 if len(note) > 2 else 12
        ax.text(j, i - 0.22, note, ha="center", va="center", fontsize=size, color="#1F2934")


def number_text(value: float) -> str:
    """A cell's number: whole from ten on, a decimal below; a dash for none."""
    return "-" if np.isnan(value) else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def outline(ax: Axes, inside: np.ndarray) -> None:
    """A line around the cells of a region. inside: shape (rows, columns), True within; row 0 is at the bottom."""
    padded, half = np.pad(inside, 1), np.array([-0.5, 0.5])
    edge: dict[str, Any] = {"color": RECOMMENDED_COLOUR, "linewidth": 2.6, "solid_capstyle": "projecting"}
    for i, j in zip(*np.nonzero(inside), strict=True):
        for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if not padded[i + 1 + di, j + 1 + dj]:
                x, y = j + dj / 2 + abs(di) * half, i + di / 2 + abs(dj) * half
                ax.plot(x, y, zorder=5, clip_on=False, **edge)
