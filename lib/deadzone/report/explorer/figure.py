"""The explorer's figure: the plot of the model, a second curve over it, and the account of time
below."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from deadzone.analysis.phases.plot_axes import label_levels, labels_of_levels, plain_values
from deadzone.language.messages import _
from deadzone.report.explorer.curve import View
from deadzone.report.figures.curves import phases_text
from deadzone.report.sweep.account import draw_parts
from deadzone.style import WIDTH_IN, figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OTHER_COLOUR = "#AA3377"
"""The second run: the reversal's hue, which no line of the first run has."""

HEIGHT_IN, ACCOUNT_HEIGHT_IN = 4.2, 1.6

MARGINS = {"left": 0.12, "right": 0.97, "top": 0.9, "bottom": 0.25, "hspace": 0.6}
"""Of the axes, shares of the figure; below them stands the legend."""

DOTS_AN_INCH = 120

SCALES = ("auto", "linear", "log")
"""Of the axes; by itself each is what shows its values best."""


def drawn(view: View, other: View | None = None, scale: str = "auto") -> str:
    """The figure of a view as HTML, with the curve of a second run on the same axes where there is
    one. scale: one of SCALES.

    A picture with margins that are given, for a slider does not wait for a drawing whose layout is
    solved.
    """
    import matplotlib.pyplot as plt

    account = view.curve.account
    heights = [HEIGHT_IN] if account.empty else [HEIGHT_IN, ACCOUNT_HEIGHT_IN]
    with figure_style():
        drawing, grid = plt.subplots(
            len(heights), 1, figsize=(WIDTH_IN, sum(heights)), squeeze=False,
            gridspec_kw={"height_ratios": heights, **MARGINS},
        )  # fmt: skip
        ax = grid[0, 0]
        draw_curves(ax, view, other)
        _scaled(ax, scale)
        if not account.empty:
            draw_parts(account, grid[1, 0])
            grid[1, 0].set_xscale(ax.get_xscale())
            grid[1, 0].set_xlim(ax.get_xlim())
        picture = io.BytesIO()
        drawing.savefig(picture, format="png", dpi=DOTS_AN_INCH)
        plt.close(drawing)
    second = other.curve.name if other else _("none")
    described = _(
        "Curve of {name}. Phases: {phases}. Second curve: {other}.",
        name=view.curve.name,
        phases=phases_text(view.model),
        other=second,
    )
    data = base64.b64encode(picture.getvalue()).decode()
    return (
        f'<img src="data:image/png;base64,{data}" alt="{escape(described)}" style="max-width: '
        '100%">'
    )


def draw_curves(ax: Axes, view: View, other: View | None) -> None:
    """Both curves on the same axes, with ticks at the levels of either."""
    if other is not None:  # first, for the names of the phases stand where the axes end up
        other.model.plot(ax=ax, color=OTHER_COLOUR, label=other.curve.name)
    others = labels_of_levels(ax)
    view.model.plot(ax=ax, advice=view.advice, label=view.curve.name)
    own = labels_of_levels(ax)
    if others.keys() - own.keys():
        texts = others | own
        places = sorted(texts)
        label_levels(ax, np.array(places), [texts[place] for place in places], list(own))


def _scaled(ax: Axes, scale: str) -> None:
    if scale != "auto":
        ax.set_xscale(scale)
        ax.set_yscale(scale)
        plain_values(ax)
