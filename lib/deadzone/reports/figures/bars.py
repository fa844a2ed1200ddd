"""Horizontal bars for the reports of published studies: one quantity, before and after, and waterfalls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deadzone import style
from deadzone.reports.document.display import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH_IN = 7.2
BAR_IN = 0.42
MARGIN_IN = 1.1


@dataclass(frozen=True)
class Change:
    """One bar of a waterfall. name: what changed. amount: by how much; negative is less."""

    name: str
    amount: float


def bars(names: Sequence[str], lengths: Sequence[float], axis: str, caption: str, identity: str) -> Figure:
    """A bar a name, with its length written at its end. axis: name of the length with its unit."""
    import matplotlib.pyplot as plt

    with style.figure_style():
        drawing, ax = plt.subplots(figsize=(WIDTH_IN, MARGIN_IN + BAR_IN * len(names)), layout="constrained")
        ax.barh(range(len(names)), lengths, color=style.TRIAL_COLOUR, height=0.6)
        for i, length in enumerate(lengths):
            _written(ax, length, i, f"{length:.1f}")
        _rows(ax, names, axis)
        ax.set_xlim(right=max(lengths) * 1.12)
    return Figure.of(drawing, caption, caption, id=identity)


def before_and_after(
    names: Sequence[str], before: Sequence[float], after: Sequence[float], words: tuple[str, str], axis: str,
    caption: str, identity: str,
) -> Figure:  # fmt: skip
    """Two bars a name. words: the names of before and after."""
    import matplotlib.pyplot as plt

    with style.figure_style():
        height = MARGIN_IN + 1.5 * BAR_IN * len(names)
        drawing, ax = plt.subplots(figsize=(WIDTH_IN, height), layout="constrained")
        for offset, lengths, colour, word in (
            (-0.2, before, style.BEFORE_COLOUR, words[0]),
            (0.2, after, style.AFTER_COLOUR, words[1]),
        ):
            ax.barh([i + offset for i in range(len(names))], lengths, color=colour, height=0.36, label=word)
            for i, length in enumerate(lengths):
                _written(ax, length, i + offset, f"{length:.2f}")
        _rows(ax, names, axis)
        ax.set_xlim(right=max([*before, *after]) * 1.12)
        ax.legend(loc="lower right", fontsize=8)
    return Figure.of(drawing, caption, caption, id=identity)


def waterfall(
    start: tuple[str, float], changes: Sequence[Change], stop: tuple[str, float], axis: str, caption: str, identity: str,
    is_face: bool = False,
) -> Figure:  # fmt: skip
    """From one total to another by way of changes, each beginning where the last ended.

    start, stop: name and value of the totals. The changes need not add up: what they miss is then seen.
    """
    import matplotlib.pyplot as plt

    names = [start[0], *(change.name for change in changes), stop[0]]
    with style.figure_style():
        height = MARGIN_IN + BAR_IN * len(names)
        drawing, ax = plt.subplots(figsize=(WIDTH_IN, height), layout="constrained")
        ax.barh(0, start[1], color=style.BEFORE_COLOUR, edgecolor=style.INK, linewidth=0.6, height=0.6)
        _written(ax, start[1], 0, f"{start[1]:.2f}")
        level = start[1]
        lowest = 0.0
        for i, change in enumerate(changes, start=1):
            colour = style.LESS_COLOUR if change.amount < 0 else style.MORE_COLOUR
            ax.barh(
                i,
                change.amount,
                left=level,
                color=colour,
                height=0.6,
                hatch="" if change.amount < 0 else "///",
                edgecolor=style.INK if change.amount < 0 else "white",
                linewidth=0.6,
            )
            ax.plot([level, level], [i - 1, i], color=style.MUTED, linewidth=0.8)
            end = level + change.amount
            _written(ax, max(level, end), i, f"{change.amount:+.2f}")
            level, lowest = end, min(lowest, end)
        ax.plot([level, level], [len(changes), len(changes) + 1], color=style.MUTED, linewidth=0.8)
        ax.barh(
            len(names) - 1, stop[1], color=style.AFTER_COLOUR, edgecolor=style.INK, linewidth=0.6, height=0.6
        )
        _written(ax, max(stop[1], level), len(names) - 1, f"{stop[1]:.2f}")
        _rows(ax, names, axis)
        if lowest < 0:
            ax.axvline(0, color=style.INK, linewidth=0.8)
        ax.set_xlim(left=min(0.0, lowest * 1.05), right=start[1] * 1.15)
    words = ", ".join(f"{change.name} {change.amount:+.2f}" for change in changes)
    description = f"{caption} {start[0]} {start[1]:.2f}; {words}; {stop[0]} {stop[1]:.2f}."
    return Figure.of(drawing, caption, description, id=identity, is_face=is_face)


def _rows(ax: Axes, names: Sequence[str], axis: str) -> None:
    ax.set_yticks(range(len(names)), list(names))
    ax.tick_params(axis="y", labelcolor=style.INK, length=0)
    ax.invert_yaxis()
    ax.set_xlabel(axis)
    ax.grid(visible=False, axis="y")
    ax.set_axisbelow(True)
    ax.spines["left"].set_visible(False)


def _written(ax: Axes, x: float, y: float, text: str) -> None:
    ax.annotate(
        text, (x, y), xytext=(4, 0), textcoords="offset points", va="center", color=style.INK, fontsize=8
    )
