"""A grid of two factors as a map of tinted cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.quantities import axis_label
from deadzone.report.document.display import Figure
from deadzone.report.document.drawing import new_figure
from deadzone.style import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL_HEIGHT_IN = 0.62

MARGIN_IN = 1.1


def heat_map(
    cells: pd.DataFrame,
    caption: str,
    description: str,
    identity: str,
    *,
    notes: pd.DataFrame,
    title: str,
    tints: np.ndarray,
    finish: Callable[[Axes], None],
) -> Figure:
    """Draw a grid of a response; every cell shows its number and below it a note.

    cells: named index and columns. notes, tints: of the shape of `cells`, a short text and a colour for each. finish: sets
    the ticks, and draws what comes on top.
    """
    values, lines = cells.to_numpy(float), notes.to_numpy(object)
    with new_figure(MARGIN_IN + CELL_HEIGHT_IN * values.shape[0]) as (drawing, ax):
        for (i, j), value in np.ndenumerate(values):
            _cell(ax, (i, j), float(value), "none" if np.isnan(value) else tints[i, j], str(lines[i, j]))
        ax.set_xlim(-0.5, values.shape[1] - 0.5)
        ax.set_ylim(-0.5, values.shape[0] - 0.5)
        ax.set_xlabel(axis_label(str(cells.columns.name)))
        ax.set_ylabel(axis_label(str(cells.index.name)))
        ax.grid(visible=False)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_title(title)
        finish(ax)
    return Figure.of(drawing, caption, description, id=identity)


def _cell(ax: Axes, place: tuple[int, int], value: float, colour: Any, note: str) -> None:
    from matplotlib.patches import Rectangle

    i, j = place
    ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1))
    ax.text(j, i + (0.17 if note else 0), number_text(value), ha="center", va="center", fontsize=10,
            color=MUTED if np.isnan(value) else "#1F2934")  # fmt: skip
    if note:
        size = 7.5 if len(note) > 2 else 12
        ax.text(j, i - 0.22, note, ha="center", va="center", fontsize=size, color="#1F2934")


def number_text(value: float) -> str:
    """A cell's number: whole from ten on, a decimal below; a dash for none."""
    return "-" if np.isnan(value) else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
