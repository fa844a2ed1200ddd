"""The figures of several slices side by side: one panel for each value of the second factor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from deadzone.explaining.phases.candidates import slice_name
from deadzone.explaining.phases.plot import LEGEND_COLUMN, plot_panels
from deadzone.explaining.phases.recommend import recommend
from deadzone.explaining.phases.result import PhaseResult
from deadzone.explaining.phases.verdict import verdict
from deadzone.style import figure_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL = (4.8, 3.6)
"""Inches of one panel: wide enough for the names of five phases in two rows."""

MOST_COLUMNS = 3


def plot_slices(by: str, models: Mapping[Any, PhaseResult], *, columns: int | None = None) -> Figure:
    """Draw every slice into a panel of its own, in the order of the second factor.

    columns: panels side by side, by default as many as keep the figure about square, at most
    MOST_COLUMNS. Returns the figure. Each panel is titled with its slice and what was found there; the
    axes are not shared, because slices may differ by orders of magnitude.
    """
    import matplotlib.pyplot as plt

    across = columns or min(math.ceil(math.sqrt(len(models))), MOST_COLUMNS)
    down = math.ceil(len(models) / across)
    with figure_style():
        size = (PANEL[0] * across, PANEL[1] * down)
        figure, grid = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False)
        panels = list(grid.flat)
        for ax in panels[len(models) :]:
            ax.remove()
        advised = [(value, model, recommend(model)) for value, model in models.items()]
        plot_panels(
            [
                (model, ax, advice, f"{slice_name(by, value)}: {verdict(model, advice)}")
                for ax, (value, model, advice) in zip(panels, advised, strict=False)
            ]
        )
        _share_legend(figure, panels[: len(models)])
    return figure


def _share_legend(figure: Figure, panels: list[Any]) -> None:
    """One legend for all panels: each mark once, the recommended settings under one name."""
    marks: dict[str, Any] = {}
    for ax in panels:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            marks.setdefault(label.split(":")[0], handle)
    columns = max(int(figure.get_figwidth() / LEGEND_COLUMN), 1)
    figure.legend(
        marks.values(), marks.keys(), loc="outside lower left", ncols=columns, fontsize=8, frameon=False
    )
