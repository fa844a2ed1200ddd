"""Axes that read well: the right scale, tick labels at real levels, plain numbers, room for
names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.language.formats import exact
from deadzone.style import PHASE_STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICK_FONT_SIZE = 8
MOST_TICKS = 60
"""More ticks than this are a grey bar; only the labelled levels then keep theirs."""

LEAST_LABELS = 3
"""A log axis with fewer labels than this in sight cannot be read."""

NAME_FONT_SIZE = 8
ROW_POINTS = 13
"""Height of a row of phases' names: the font with room for the ascenders of the row below."""

TOP_POINTS = 5
GAP_PIXELS = 4
"""Least distance between two names in a row."""


def label_levels(ax: Axes, labels: Mapping[float, str], important: Sequence[float]) -> None:
    """Ticks on the x axis at the levels, labelled where there is room: important ones first, then
    short ones.

    labels: by level. important: levels that come first.
    """
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

    levels = sorted(labels)
    texts = [labels[level] for level in levels]
    order = sorted(range(len(levels)), key=lambda i: (levels[i] not in important, len(texts[i]), i))
    figure: Any = ax.figure
    wide = [_width_at(TICK_FONT_SIZE * figure.dpi / 72, text) for text in texts]
    at = [float(ax.transData.transform((level, ax.get_ylim()[0]))[0]) for level in levels]
    kept: list[int] = []
    for i in order:
        if all(abs(at[i] - at[j]) > (wide[i] + wide[j]) / 2 + 5 for j in kept):
            kept.append(i)
    kept.sort()
    ax.xaxis.set_major_locator(FixedLocator([levels[i] for i in kept]))
    ax.xaxis.set_major_formatter(FixedFormatter([texts[i] for i in kept]))
    ax.xaxis.set_minor_locator(FixedLocator(levels if len(levels) <= MOST_TICKS else []))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(axis="x", labelsize=TICK_FONT_SIZE)
    ax.grid(visible=False, axis="x", which="both")


def labels_of_levels(ax: Axes) -> dict[float, str]:
    """The labels that `label_levels` gave these axes for an earlier curve, by level; none at
    first."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    locator, formatter = ax.xaxis.get_major_locator(), ax.xaxis.get_major_formatter()
    if not isinstance(locator, FixedLocator) or not isinstance(formatter, FixedFormatter):
        return {}
    places: Any = locator.tick_values(0, 0)
    return dict(zip(map(float, places), formatter.seq, strict=True))


def plain_values(ax: Axes, size: float = 1.0) -> None:
    """Plain numbers on the y axis, and enough of them where it is logarithmic. size: how many of
    the axis' unit make the one that the label names."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    ax.tick_params(axis="y", labelsize=TICK_FONT_SIZE)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: exact(value / size)))
    if ax.get_yscale() != "log":
        return
    low, high = ax.get_ylim()
    for subs in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        locator: Any = LogLocator(subs=subs)
        if sum(low <= tick <= high for tick in locator.tick_values(low, high)) >= LEAST_LABELS:
            break
    else:
        locator = MaxNLocator(nbins=6, steps=[1, 2, 5, 10])
    ax.yaxis.set_major_locator(locator)
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_minor_formatter(NullFormatter())


def headroom(ax: Axes, above: float, below: float) -> None:
    """Widen the y axis, so that `above` and `below` points of its height stay free of data."""
    figure: Any = ax.figure
    height = ax.get_window_extent().height * 72 / figure.dpi
    top, bottom = (min(points / height, 0.4) for points in (above, below))
    transform = ax.yaxis.get_transform()
    low, high = (float(v) for v in transform.transform(np.array(ax.get_ylim())))
    span = (high - low) / (1 - top - bottom)
    ends = transform.inverted().transform(np.array([low - bottom * span, high + top * span]))
    ax.set_ylim(float(ends[0]), float(ends[1]))


def name_phases(ax: Axes, phases: pd.DataFrame) -> float:
    """Write the name of each phase above it, in rows, so that no two overlap and none is cut off.

    phases: of a `PhaseResult`. A name wider than its phase stays centred on it, in the first row in
    which it has room. Returns the height used, in points.
    """
    box = ax.get_window_extent()
    rows: list[list[tuple[float, float]]] = []
    for phase in phases.to_dict("records"):
        style = PHASE_STYLES[phase["label"]]
        ends = (
            ax.transData.transform((phase[end], ax.get_ylim()[0]))[0] for end in ("start", "stop")
        )
        text = ax.annotate(
            style.name, (0, 1), xycoords="axes fraction", ha="center", va="top",
            fontsize=NAME_FONT_SIZE, color=style.colour, fontweight="bold", zorder=8,
            annotation_clip=False,
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8},
        )  # fmt: skip
        half = text.get_window_extent().width / 2
        centre = min(max(float(sum(ends)) / 2, box.x0 + half + 2), box.x1 - half - 2)
        left, right = centre - half - GAP_PIXELS, centre + half + GAP_PIXELS
        has_room = (all(right <= start or left >= stop for start, stop in row) for row in rows)
        number = next((i for i, has in enumerate(has_room) if has), len(rows))
        if number == len(rows):
            rows.append([])
        rows[number].append((left, right))
        text.xy = ((centre - box.x0) / box.width, 1.0)
        text.set_position((0, -(TOP_POINTS + number * ROW_POINTS)))
        text.anncoords = "offset points"
    return TOP_POINTS + len(rows) * ROW_POINTS


@lru_cache(maxsize=1024)
def _width_at(size: float, text: str) -> float:
    """Width of a text in pixels; what follows a slider asks for the same texts again and again."""
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), text, size=size).get_extents().width) if text.strip() else 0.0
