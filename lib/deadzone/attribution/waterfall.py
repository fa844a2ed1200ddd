"""The waterfall of a slowdown: from the fast response, part by part, to the slow one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deadzone.attribution import wording
from deadzone.language.catalogue import say
from deadzone.style import AFTER_COLOUR, BEFORE_COLOUR, INK, LESS_COLOUR, MORE_COLOUR, MUTED, RC_PARAMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from deadzone.attribution.attribution import Attribution

WIDTH_IN = 7.2
ROW_IN = 0.38
FRAME_IN = 1.2
"""Inches: a report's text column; a row; title and axis."""

BAR = 0.62
"""Height of a bar, as a share of its row."""

LESS_HATCH, MORE_HATCH = "", "///"


def waterfall(result: Attribution) -> Figure:
    """A row for the fast environment, for each part of the difference, and for the slow one.

    Each part's bar starts where the one above it ended; a whisker is the interval of its difference. Returns a matplotlib
    figure, which the caller closes.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    table = result.waterfall
    rc_params: Any = RC_PARAMS
    with mpl.rc_context(rc_params):
        figure = Figure(figsize=(WIDTH_IN, FRAME_IN + ROW_IN * (len(table) + 2)), layout="constrained")
        ax = figure.add_subplot()
        ends = result.slowdown.fast + np.cumsum(table["difference_s"].to_numpy(float))
        starts = [result.slowdown.fast, *ends[:-1]]
        ax.barh(0, result.slowdown.fast, color=BEFORE_COLOUR, edgecolor=INK, linewidth=0.6, height=BAR)
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            _draw_part(ax, i + 1, float(start), float(end), table.iloc[i])
        last = len(table) + 1
        ax.barh(last, result.slowdown.slow, color=AFTER_COLOUR, edgecolor=INK, linewidth=0.6, height=BAR)
        _label(ax, result)
        ax.set_title(headline(result), wrap=True)
        ax.set_xlabel(say("attribution.axis", confidence=result.confidence))
    return figure


def headline(result: Attribution) -> str:
    """The largest part of the slowdown, as the figure's title."""
    if not result.is_slower:
        return say("attribution.headline_none", slow=result.roles.slow, fast=result.roles.fast)
    largest = result.largest
    return say(
        "attribution.headline",
        part=wording.capital(wording.part_name(largest["part"])),
        share=wording.share_text(largest),
    )


def description(result: Attribution) -> str:
    """The figure in words, for readers who do not see it."""
    rows = [
        f"{wording.part_name(row['part'])} {wording.duration(row['difference_s'], signed=True)}"
        + (f" ({wording.share_only(row['share'])})" if np.isfinite(row["share"]) else "")
        for _, row in result.waterfall.iterrows()
    ]
    return say(
        "attribution.description",
        fast=result.roles.fast,
        slow=result.roles.slow,
        start=wording.duration(result.slowdown.fast),
        end=wording.duration(result.slowdown.slow),
        rows="; ".join(rows),
    )


def _draw_part(ax: Axes, row: int, start: float, end: float, part: Any) -> None:
    less = end <= start
    ax.barh(
        row,
        end - start,
        left=start,
        color=LESS_COLOUR if less else MORE_COLOUR,
        hatch=LESS_HATCH if less else MORE_HATCH,
        edgecolor=INK if less else "white",
        linewidth=0.6,
        height=BAR,
    )
    ax.plot([start, start], [row - 1 + BAR / 2, row - BAR / 2], color=MUTED, linewidth=0.8)
    ax.plot([end, end], [row + BAR / 2, row + 1 - BAR / 2], color=MUTED, linewidth=0.8)
    whisker = [start + part["low_s"], start + part["high_s"]]
    if np.isfinite(whisker).all():
        ax.plot(whisker, [row, row], color=INK, linewidth=1.2, marker="|", markersize=6)


def _label(ax: Axes, result: Attribution) -> None:
    """Names on the left; times in a column on the right, where no bar or whisker is."""
    table = result.waterfall
    names = [result.roles.fast, *(wording.part_name(part) for part in table["part"]), result.roles.slow]
    texts = [
        wording.duration(result.slowdown.fast),
        *(wording.duration(value, signed=True) for value in table["difference_s"]),
        wording.duration(result.slowdown.slow),
    ]
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    left, right = ax.dataLim.intervalx
    ax.set_xlim(min(left, 0.0), right * 1.03)
    ax.axvline(0, color=MUTED, linewidth=0.8)
    for row, text in enumerate(texts):
        ax.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), va="center", color=INK)
