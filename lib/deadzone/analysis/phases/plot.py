"""The figures of phase models: every trial, the fitted curve, its phases, and the setting to
choose."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from deadzone import style
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.decision import ASSUMED
from deadzone.analysis.phases.picture import Drawing, drawing_of, path
from deadzone.analysis.phases.plot_axes import (
    headroom,
    label_levels,
    labels_of_levels,
    name_phases,
    plain_values,
)
from deadzone.analysis.phases.quantities import axis_label, plain_name, unit_for
from deadzone.analysis.phases.recommend import Recommendation, recommend
from deadzone.analysis.phases.result import PhaseResult
from deadzone.errors import PhaseError
from deadzone.language.messages import N_, _, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_SIZE = (style.WIDTH_IN, 3.9)
"""Inches: the width of a report's text column, and a height at which slopes near 1 look like 45
degrees."""

LEGEND_POINTS = 36
"""Distance of the legend from the axes: the tick labels and the name of the axis stand between
them."""

LEGEND_COLUMN = 1.9
"""Width of a column of the legend, in inches."""

STRIP_POINTS = 10
"""Height kept free of data above the axis, for the strip of tied settings."""

UNIT_SPACE = re.compile(r"(?<=\d) (?=[\w%])")
"""A space at which a title is not broken: between a number and its unit."""

POINTS = 400
"""Of the curve as it is drawn."""

POINTS_OF_AN_INCH = 72
SMALLEST_TITLE = 8.0
"""Letters of a title [points]."""

NARROW, WIDE = 0.56, 1.0
"""Mean width of a bold letter of the project's font, as a share of the font size (measured in the
titles), and width of a Korean syllable, which fills a square."""

MOST_SEARCHED = 1_000
"""With more trials than this the legend of a curve laid over another stands in a corner, wherever
the marks are."""


def plot(
    model: PhaseResult,
    ax: Axes | None = None,
    *,
    advice: Recommendation | None = None,
    title: str | None = None,
    legend: bool = True,
    figsize: tuple[float, float] | None = None,
    color: str | Sequence[float] | None = None,
    label: str = "",
) -> Axes:
    """Draw a phase model.

    ax: axes to draw into; without them a new figure of `figsize` inches is made. advice: the
    recommendation to mark, by default that of `recommend(model)`. title: by default the first
    sentence of the verdict, or without a setting what is drawn; a later `ax.set_title` replaces it,
    "" is none. legend: whether to explain the marks
    below the axes. color: draw trials, fit, interval and joints alone, in this colour, to lay the
    curve over another. label: name of the curve in the legend, "fitted curve" by default. Returns
    the axes. Trials are points, flagged ones hollow; the line is the fitted curve, the band its
    interval; phases are shaded, hatched and named, as in every figure of the project.
    """
    import matplotlib.pyplot as plt

    if hasattr(ax, "shape"):
        raise PhaseError("One of several axes is drawn into, such as `ax=axes[0]`.")
    advice = advice if advice is not None else recommend(model)
    is_own = ax is None
    # Where the user's own `ax.set_title` writes to: a title in another slot would stay below the
    # user's.
    slot = plt.rcParams["axes.titlelocation"]
    with style.figure_style():
        if ax is None:
            _, ax = plt.subplots(figsize=figsize or FIGURE_SIZE, layout="constrained")
        if color is not None:
            _draw_over(model, ax, advice, color, label)
            return ax
        apart = _draw(model, ax, advice, label)
        if legend:
            _explain(ax, is_own)
        size = unit_for(model.response, model.levels["median"].max(), advice.unit)[0]
        title = headline(model, advice) if title is None else title
        _settle(model, ax, size, title, apart, slot)
    return ax


def headline(model: PhaseResult, advice: Recommendation) -> str:
    """The title of a figure: the first sentence of the verdict, or what is drawn where there is no
    setting."""
    if advice.setting is None:
        names = {"response": axis_label(model.response), "knob": axis_label(model.knob)}
        return _("{response} over {knob}", **names)
    assumed = say(ASSUMED, response=plain_name(advice.quantity))
    reason = str(advice.reason).removeprefix(assumed).lstrip()
    return reason.partition(". ")[0].removesuffix(".")


def _draw_over(
    model: PhaseResult, ax: Axes, advice: Recommendation, color: Any, label: str
) -> None:
    """A curve in one colour, with a dotted line at each joint, in axes that may hold others."""
    # A new scale takes the labels of earlier curves away.
    texts = labels_of_levels(ax) | _level_texts(model)
    _scale(ax, drawing_of(model, advice))
    _draw_fit(model, ax, label or _("fitted curve"), color, band="_")
    _draw_trials(model, ax, color)
    _name_axes(model, ax, advice.unit)
    for start in model.phases["start"].iloc[1:]:
        ax.axvline(float(start), color=color, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    plain_values(ax, unit_for(model.response, model.levels["median"].max(), advice.unit)[0])
    label_levels(ax, texts, [*model.phases["start"], max(texts)])
    # Where it covers no mark is looked for mark by mark, which takes long where there are many.
    ax.legend(
        fontsize=8,
        frameon=False,
        loc="best" if len(model.trials) < MOST_SEARCHED else "upper right",
    )


def _draw(
    model: PhaseResult, ax: Axes, advice: Recommendation, label: str = ""
) -> dict[float, str]:
    """Everything of a model that does not depend on the size that its axes end up with; the levels
    beside it by place."""
    shown = drawing_of(model, advice)
    _scale(ax, shown)
    _shade(model, ax)
    _draw_fit(model, ax, label or _("fitted curve"))
    _draw_trials(model, ax)
    _draw_apart(ax, shown)
    _mark_advice(model, ax, advice, shown)
    _name_axes(model, ax, advice.unit)
    return {place: str(row["setting"]) for place, row in shown.apart.items()}


def _settle(
    model: PhaseResult, ax: Axes, size: float, title: str, apart: Mapping[float, str], slot: Any
) -> None:
    """What depends on the size that the axes end up with: title, ticks, room at the top, names of
    the phases. size: of the unit that they show. apart: the levels beside the curve by their
    places."""
    _lay_out(ax)
    _set_title(ax, title, slot)
    ax.margins(x=0.03)
    plain_values(ax, size)
    _lay_out(ax)
    texts = _level_texts(model) | dict(apart)
    label_levels(ax, texts, [*apart, *model.phases["start"], float(model.levels["level"].iloc[-1])])
    headroom(ax, name_phases(ax, model.phases), STRIP_POINTS)


def _lay_out(ax: Axes) -> None:
    figure: Any = ax.figure
    if engine := figure.get_layout_engine():
        engine.execute(figure)


def _scale(ax: Axes, shown: Drawing) -> None:
    ax.set_xscale("log" if shown.is_log_x else "linear")
    if shown.is_log_y:
        ax.set_yscale("log")


def _shade(model: PhaseResult, ax: Axes) -> None:
    for phase in model.phases.to_dict("records"):
        look = style.PHASE_STYLES[phase["label"]]
        ax.axvspan(
            phase["start"], phase["stop"], facecolor=look.colour, alpha=0.10, linewidth=0, zorder=0
        )
        if look.hatch:
            ax.axvspan(
                phase["start"],
                phase["stop"],
                fill=False,
                hatch=look.hatch,
                edgecolor=look.colour,
                alpha=0.22,
                linewidth=0,
                zorder=0,
            )
    for start in model.phases["start"].iloc[1:]:
        ax.axvline(float(start), color=style.MUTED, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)


def _draw_fit(
    model: PhaseResult, ax: Axes, label: str, color: Any = style.FIT_COLOUR, band: str = ""
) -> None:
    at, (low, fitted, high) = path(model, ("fitted_low", "fitted", "fitted_high"), POINTS)
    band = band or _("{certainty:exact_percent} interval of the fit", certainty=model.certainty)
    ax.fill_between(at, low, high, color=color, alpha=0.16, linewidth=0, zorder=2, label=band)
    ax.plot(at, fitted, color=color, linewidth=1.6, zorder=3, label=label)


def _draw_trials(model: PhaseResult, ax: Axes, color: Any = None) -> None:
    trials = model.trials
    flagged = trials["outlier"].to_numpy(bool)
    crowd = len(trials) / model.n_levels
    size = float(np.clip(20 * (100 / len(trials)) ** 0.5, 5, 20))
    for part, is_sound in ((trials[~flagged], True), (trials[flagged], False)):
        if len(part):
            ax.scatter(
                part["level"],
                part["corrected"],
                s=size if is_sound else 34,
                marker="o" if is_sound else "D",
                facecolor=(color or style.TRIAL_COLOUR) if is_sound else "none",
                edgecolor="white" if is_sound else style.OUTLIER_COLOUR,
                linewidth=0.4 if is_sound else 1.3,
                alpha=float(np.clip(3 / crowd, 0.35, 0.9)) if is_sound else 1.0,
                zorder=4 if is_sound else 5,
                label="_"
                if color
                else say(N_("trial") if is_sound else N_("trial flagged as outlier")),
                rasterized=len(part) > style.MOST_DRAWN,
            )


def _draw_apart(ax: Axes, shown: Drawing) -> None:
    """The estimate and interval of each setting on no curve, beside it."""
    for i, (place, row) in enumerate(shown.apart.items()):
        ax.errorbar(
            place,
            row["estimate"],
            yerr=[[row["estimate"] - row["low"]], [row["high"] - row["estimate"]]],
            fmt="s",
            color=style.INK,
            markersize=5,
            capsize=4,
            zorder=5,
            label="_" if i else _("apart from the curve, with its interval"),
        )


def _mark_advice(model: PhaseResult, ax: Axes, advice: Recommendation, shown: Drawing) -> None:
    """A line and a triangle at the setting, and the tied settings as a strip on the axis."""
    if len(shown.tied) > 1:
        ax.scatter(
            shown.tied,
            np.full(len(shown.tied), 0.02),
            transform=ax.get_xaxis_transform(),
            marker="s",
            s=22,
            color=style.RECOMMENDED_COLOUR,
            alpha=0.75,
            linewidth=0,
            zorder=6,
            clip_on=False,
            label=advice.said_of_tied,
        )
    if (x := shown.setting) is not None:
        is_cost = advice.quantity != model.response
        fitted = model.levels.set_index("level")["fitted"]
        y = float(fitted[x] if is_cost else advice.chosen["estimate"])
        ax.axvline(x, color=style.RECOMMENDED_COLOUR, linewidth=1.2, linestyle="--", zorder=2)
        ax.scatter(
            [x],
            [y],
            marker="v",
            s=90,
            color=style.RECOMMENDED_COLOUR,
            edgecolor="white",
            linewidth=0.8,
            zorder=7,
            label=_("recommended: {setting}", setting=str(advice.chosen["name"])),
        )


def _name_axes(model: PhaseResult, ax: Axes, unit: str) -> None:
    removed = model.drift is not None and model.drift.removed
    ax.set_xlabel(axis_label(model.knob), color=style.INK)
    label = axis_label(model.response, model.levels["median"].max(), unit)
    ax.set_ylabel(_("{label}, drift removed", label=label) if removed else label, color=style.INK)
    ax.set_axisbelow(True)
    grid = {name: style.RC_PARAMS[f"grid.{name}"] for name in ("color", "linewidth")}
    ax.grid(visible=True, axis="y", **grid)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["bottom", "left"]].set_color(style.MUTED)


def _set_title(ax: Axes, text: str, slot: Any) -> None:
    """The title on one line, in smaller letters where the width of the axes needs it, and on more
    lines where those would be too small. slot: left, center or right."""
    if not text:
        return
    figure: Any = ax.figure
    width = ax.get_window_extent().width / figure.dpi * POINTS_OF_AN_INCH
    wide = sum(WIDE if east_asian_width(letter) in "WF" else NARROW for letter in text) / len(text)
    unbroken = UNIT_SPACE.sub("\N{NO-BREAK SPACE}", text)
    fits = max(width / wide / len(text), SMALLEST_TITLE)
    size = min(float(ax.title.get_fontsize()), fits)
    lines = textwrap.fill(unbroken, max(int(width / size / wide), 1), break_on_hyphens=False)
    ax.set_title(lines, loc=slot, multialignment="left", color=style.INK, fontsize=size)


def _explain(ax: Axes, is_own: bool) -> None:
    """The legend, in as many columns as fit: at the foot of a figure of our own, else below the
    axes."""
    figure: Any = ax.figure
    width = figure.get_figwidth() if is_own else ax.get_window_extent().width / figure.dpi
    columns = max(min(int(width / LEGEND_COLUMN), 3), 1)
    text: dict[str, Any] = {
        "fontsize": 8, "frameon": False, "ncols": columns,
        "handletextpad": 0.5, "columnspacing": 1.2,
    }  # fmt: skip
    if is_own:
        figure.legend(loc="outside lower left", **text)
        return
    below = LEGEND_POINTS / POINTS_OF_AN_INCH / (ax.get_window_extent().height / figure.dpi)
    ax.legend(loc="upper left", bbox_to_anchor=(0, -below), borderaxespad=0.0, **text)


def _level_texts(model: PhaseResult) -> dict[float, str]:
    """What stands at the tick of each level."""
    return {level: level_text(model, level) for level in model.levels["level"].to_numpy(float)}
