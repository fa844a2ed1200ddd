"""A grid of two factors as a heat map, with the cells that meet a target outlined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deadzone.language.catalogue import say
from deadzone.phases.quantities import axis_label, level_number
from deadzone.report.display import Figure
from deadzone.report.studies.published import printed
from deadzone.style import MUTED, RC_PARAMS, RECOMMENDED_COLOUR

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WIDTH_IN = 7.2
CELL_HEIGHT_IN = 0.42
MARGIN_IN = 1.1

COLOURS = ("#F7FAFC", "#7A9CC0")
"""From the best to the worst cell; light enough that dark numbers can be read on either."""


def grid(rows: pd.DataFrame, across: str, down: str, response: str) -> pd.DataFrame:
    """The response with a column for each level of `across` and a row for each level of `down`; nan where none."""
    return rows.pivot(index=down, columns=across, values=response).astype(float)


def heat_map(
    cells: pd.DataFrame, response: str, target: float, caption: str, description: str, identity: str
) -> Figure:
    """Draw a grid of a response to minimise; every cell shows its number.

    cells: as of `grid`, named index and columns. target: the most that is allowed, in the response's unit.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    values = cells.to_numpy(float)
    size = (WIDTH_IN, MARGIN_IN + CELL_HEIGHT_IN * values.shape[0])
    rc_params: Any = RC_PARAMS
    with mpl.rc_context(rc_params):
        drawing, ax = plt.subplots(figsize=size, layout="constrained")
        norm = LogNorm(float(np.nanmin(values)), float(np.nanmax(values)))
        colours = LinearSegmentedColormap.from_list("cells", COLOURS)
        for (i, j), value in np.ndenumerate(values):
            _cell(ax, i, j, float(value), "none" if np.isnan(value) else colours(norm(value)), target)
        outline(ax, values <= target)
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
        ax.set_title(say("heat_map.title", response=axis_label(response), target=printed(target)))
    return Figure.of(drawing, caption, description, id=identity)


def _cell(ax: Axes, i: int, j: int, value: float, colour: Any, target: float) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1))
    text = "-" if np.isnan(value) else f"{value:,.0f}"
    ax.text(j, i, text, ha="center", va="center", color=MUTED if np.isnan(value) else "#1F2934",
            fontweight="bold" if value <= target else "normal", fontsize=9)  # fmt: skip


def outline(ax: Axes, inside: np.ndarray) -> None:
    """A line around the cells of a region. inside: shape (rows, columns), True within; row 0 is at the bottom."""
    padded = np.pad(inside, 1)
    style: dict[str, Any] = {
        "color": RECOMMENDED_COLOUR,
        "linewidth": 2.6,
        "solid_capstyle": "projecting",
        "zorder": 5,
        "clip_on": False,
    }
    for i, j in zip(*np.nonzero(inside), strict=True):
        for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if padded[i + 1 + di, j + 1 + dj]:
                continue
            if di:
                ax.plot([j - 0.5, j + 0.5], [i + di / 2] * 2, **style)
            else:
                ax.plot([j + dj / 2] * 2, [i - 0.5, i + 0.5], **style)
