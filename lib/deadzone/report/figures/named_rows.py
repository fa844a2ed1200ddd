"""A figure with a named row for each thing that is compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deadzone import style
from deadzone.report.document.drawing import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

MARGIN_IN = 1.1


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
