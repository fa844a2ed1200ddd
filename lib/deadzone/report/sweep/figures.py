"""The figures of a sweep's report: the response curve, and CPU use and throttling under it on the
same axis."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.picture import drawing_of
from deadzone.analysis.phases.plot import plot
from deadzone.analysis.phases.quantities import axis_label
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.language.messages import _, join
from deadzone.report.document.display import Figure
from deadzone.report.document.drawing import new_figure
from deadzone.report.sweep.analysis import Slice
from deadzone.report.sweep.tables import cores_used, is_measured, names, phases_text, positions
from deadzone.report.sweep.trials import Source
from deadzone.study.scales import level_name
from deadzone.style import MOST_DRAWN, MUTED, PHASE_STYLES, TRIAL_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE_HEIGHT_IN = 2.6
PANEL_HEIGHT_IN = 0.9
LEGEND_HEIGHT_IN = 0.5

MOST_BESIDE = 3
"""So many servers that belong to the trials have a panel of their own."""


def response_figure(s: Slice) -> Figure:
    """The response curve with every trial, its phases and the recommended setting.

    Under it, where they were measured, the cores really used and the share of throttled periods.
    """
    source, model, advice = s.source, s.model, s.advice
    panels = [
        partial(_draw_cores, column) for column in cores_used(source.analysed)[: 1 + MOST_BESIDE]
    ]
    if is_measured(source.analysed, "nr_periods"):
        panels.append(partial(_draw_throttling))
    heights = [CURVE_HEIGHT_IN, *(PANEL_HEIGHT_IN for _ in panels)]
    layout: dict[str, Any] = {
        "sharex": True,
        "squeeze": False,
        "gridspec_kw": {"height_ratios": heights},
    }
    with new_figure(sum(heights) + LEGEND_HEIGHT_IN, len(heights), **layout) as (drawing, axes):
        curve, *below = axes[:, 0]
        plot(model, ax=curve, advice=advice, legend=False, title=s.name)
        _draw_apart(source, model, advice, curve)
        _draw_untrusted(source, model, curve)
        for draw, ax in zip(panels, below, strict=True):
            draw(source, model, ax)
            _continue_phases(model, ax)
        if below:
            below[-1].set_xlabel(curve.get_xlabel())
            curve.set_xlabel("")
            curve.tick_params(labelbottom=True)
        drawing.legend(
            *curve.get_legend_handles_labels(),
            loc="outside lower left", ncols=3, fontsize=8, handletextpad=0.5, columnspacing=1.4,
        )  # fmt: skip
    caption = _(
        "Every trial of {response} at {levels} levels of {knob}; the phases are shaded and named.",
        levels=model.n_levels,
        **names(model.response, model.knob),
    )
    return Figure.of(
        drawing,
        s.captioned(caption),
        describe(model, advice, bool(below)),
        id=s.anchor("response"),
    )


def describe(model: PhaseModel, advice: Recommendation, with_cpu: bool) -> str:
    """What the figure shows, in words, for readers who do not see it."""
    sentence = _(
        "Curve of {response} over {knob}, {n:count} trials at {levels} levels. Phases: {phases}.",
        n=model.n_trials,
        levels=model.n_levels,
        phases=phases_text(model),
        **names(model.response, model.knob),
    )
    below = _("Below it, the cores used and the share of throttled periods over the same levels.")
    return join([sentence, advice.reason, below if with_cpu else ""])


def _draw_untrusted(source: Source, model: PhaseModel, ax: Axes) -> None:
    """Untrusted trials as hollow points; they are not in the fit."""
    apart = source.untrusted
    if apart.empty:
        return
    x, y = positions(model, apart), apart[model.response].to_numpy(float)
    ax.scatter(
        x, y, s=16, facecolors="none", edgecolors=MUTED, linewidths=0.8, zorder=4,
        label=_("untrusted trial"), rasterized=len(apart) > MOST_DRAWN,
    )  # fmt: skip
    top = min(float(np.nanmax(y)), ax.get_ylim()[1])
    ax.set_ylim(top=max(ax.get_ylim()[1], top))


def _draw_apart(source: Source, model: PhaseModel, advice: Recommendation, ax: Axes) -> None:
    """The trials of the settings that stand apart, under their estimates; they are not in the fit
    of the curve."""
    shown = drawing_of(model, advice)
    where = {level_name(row["setting"]): shown.where[row["setting"]] for row in shown.apart}
    trials = source.analysed[source.analysed[model.knob].map(level_name).isin(where)]
    x, y = trials[model.knob].map(level_name).map(where), trials[model.response]
    ax.scatter(x, y, s=20, facecolor=TRIAL_COLOUR, edgecolor="white", linewidth=0.4, zorder=4)


def _draw_cores(column: str, source: Source, model: PhaseModel, ax: Axes) -> None:
    """The cores used by the trials, beside a CPU limit with the line where both are equal, or by a
    server that belongs to them."""
    x, cores = positions(model, source.analysed), source.analysed[column].to_numpy(float)
    _points_and_medians(ax, x, cores)
    if model.knob == "cpu_limit" and column == "cpu_efficiency":
        limits = np.array([at for at in np.unique(x) if np.isfinite(at) and at != model.none_level])
        ax.plot(limits, limits, color=MUTED, linewidth=1, linestyle="--", zorder=1)
        top = float(np.nanmax(cores)) * 1.25
        ax.set_ylim(top=top)
        inside = limits[limits <= top * 0.8]
        if inside.size:
            ax.annotate(
                _("= limit"),
                (inside[-1], inside[-1]),
                xytext=(-4, 4),
                textcoords="offset points",
                ha="right",
                color=MUTED,
                fontsize=8,
            )
    ax.set_ylim(bottom=0)
    ax.set_ylabel(axis_label(column).replace(" (", "\n("))


def _draw_throttling(source: Source, model: PhaseModel, ax: Axes) -> None:
    trials = source.analysed[source.analysed["nr_periods"].notna()]
    periods = trials["nr_periods"].to_numpy(float)
    throttled = trials["nr_throttled"].to_numpy(float)
    share = np.divide(throttled, periods, out=np.zeros_like(periods), where=periods > 0)
    _points_and_medians(ax, positions(model, trials), 100 * share)
    ax.set_ylim(-5, 105)
    ax.set_yticks([0, 50, 100])
    ax.set_ylabel(_("throttled periods (%)").replace(" (", "\n("))


def _points_and_medians(ax: Axes, x: np.ndarray, y: np.ndarray) -> None:
    levels = np.unique(x[np.isfinite(x)])
    medians = [np.nanmedian(y[x == level]) for level in levels]
    ax.plot(levels, medians, color=TRIAL_COLOUR, linewidth=1.2, zorder=2)
    ax.scatter(
        x, y, 10, TRIAL_COLOUR, alpha=0.6, linewidths=0, zorder=3, rasterized=len(x) > MOST_DRAWN
    )


def _continue_phases(model: PhaseModel, ax: Axes) -> None:
    for phase in model.phases.to_dict("records"):
        colour = PHASE_STYLES[phase["label"]].colour
        ax.axvspan(
            phase["start"], phase["stop"], facecolor=colour, alpha=0.08, linewidth=0, zorder=0
        )
