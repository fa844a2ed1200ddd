"""The figures of a sweep's report: the response curve, and CPU use and throttling under it on the same axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deadzone.phases.finding import finding
from deadzone.phases.plot import plot
from deadzone.phases.quantities import plain_name
from deadzone.report.display import Figure
from deadzone.report.source import Source
from deadzone.style import MUTED, PHASE_STYLES, RC_PARAMS, TRIAL_COLOUR

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from deadzone.phases.model import PhaseModel
    from deadzone.phases.recommend import Recommendation

CURVE_HEIGHT_IN = 4.2
PANEL_HEIGHT_IN = 1.5
WIDTH_IN = 7.2


def response_figure(source: Source, model: PhaseModel, advice: Recommendation) -> Figure:
    """The response curve with every trial, its phases and the recommended setting.

    Under it, where they were measured, the cores really used and the share of throttled periods.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    panels = [panel for panel in (_draw_efficiency, _draw_throttling) if _measured(source, panel)]
    heights = [CURVE_HEIGHT_IN, *(PANEL_HEIGHT_IN for _ in panels)]
    with mpl.rc_context(RC_PARAMS):
        drawing, axes = plt.subplots(
            len(heights), 1, sharex=True, figsize=(WIDTH_IN, sum(heights)), layout="constrained", squeeze=False,
            gridspec_kw={"height_ratios": heights},
        )  # fmt: skip
        curve, *below = axes[:, 0]
        plot(model, ax=curve, advice=advice, legend=True)
        _draw_untrusted(source, model, curve)
        for draw, ax in zip(panels, below, strict=True):
            draw(source, model, ax)
            _continue_phases(model, ax)
        if below:
            below[-1].set_xlabel(curve.get_xlabel())
            curve.set_xlabel("")
            curve.tick_params(labelbottom=True)
    caption = f"{finding(model, advice)}."
    return Figure.of(drawing, caption, describe(model, advice, bool(below)))


def describe(model: PhaseModel, advice: Recommendation, with_cpu: bool) -> str:
    """What the figure shows, in words, for readers who do not see it."""
    phases = "; ".join(
        f"{PHASE_STYLES[row.label].name} from {row.start:g} to {row.stop:g}"
        for row in model.phases.itertuples()
    )
    cpu = (
        " Below it, the cores used and the share of throttled periods over the same levels."
        if with_cpu
        else ""
    )
    return (
        f"Curve of {plain_name(model.response)} over {plain_name(model.knob)}, {model.n_trials} trials at "
        f"{model.n_levels} levels. Phases: {phases}. {finding(model, advice)}.{cpu}"
    )


def _measured(source: Source, panel: object) -> bool:
    column = "cpu_efficiency" if panel is _draw_efficiency else "nr_periods"
    trials = source.analysed
    return column in trials and bool(trials[column].notna().any())


def positions(model: PhaseModel, trials: pd.DataFrame) -> np.ndarray:
    """Where each trial stands on the knob's axis: its level, `none` where the model put it; NaN for others."""
    import pandas as pd

    numeric = pd.to_numeric(trials[model.knob], errors="coerce").to_numpy(float)
    if model.none_level is not None:
        numeric[(trials[model.knob].astype(str) == "none").to_numpy(bool)] = model.none_level
    return numeric


def _draw_untrusted(source: Source, model: PhaseModel, ax: Axes) -> None:
    """Untrusted trials as hollow points; they are not in the fit."""
    apart = source.untrusted
    if apart.empty:
        return
    x, y = positions(model, apart), apart[model.response].to_numpy(float)
    ax.scatter(
        x, y, s=16, facecolors="none", edgecolors=MUTED, linewidths=0.8, zorder=4, label="untrusted trial"
    )
    top = min(float(np.nanmax(y)), ax.get_ylim()[1])
    ax.set_ylim(top=max(ax.get_ylim()[1], top))


def _draw_efficiency(source: Source, model: PhaseModel, ax: Axes) -> None:
    trials = source.analysed
    x = positions(model, trials)
    _points_and_medians(ax, x, trials["cpu_efficiency"].to_numpy(float))
    limits = np.array([level for level in np.unique(x) if np.isfinite(level) and level != model.none_level])
    if model.knob == "cpu_limit":
        ax.plot(limits, limits, color=MUTED, linewidth=1, linestyle="--", zorder=1)
        top = float(np.nanmax(trials["cpu_efficiency"])) * 1.25
        ax.set_ylim(0, top)
        inside = limits[limits <= top * 0.8]
        if inside.size:
            ax.annotate("= limit", (inside[-1], inside[-1]), xytext=(-4, 4), textcoords="offset points",
                        ha="right", color=MUTED, fontsize=8)  # fmt: skip
    else:
        ax.set_ylim(bottom=0)
    ax.set_ylabel("CPU used\n(cores)")


def _draw_throttling(source: Source, model: PhaseModel, ax: Axes) -> None:
    trials = source.analysed[source.analysed["nr_periods"].notna()]
    periods = trials["nr_periods"].to_numpy(float)
    throttled = trials["nr_throttled"].to_numpy(float)
    share = np.divide(throttled, periods, out=np.zeros_like(periods), where=periods > 0)
    _points_and_medians(ax, positions(model, trials), 100 * share)
    ax.set_ylim(-5, 105)
    ax.set_yticks([0, 50, 100])
    ax.set_ylabel("throttled\nperiods (%)")


def _points_and_medians(ax: Axes, x: np.ndarray, y: np.ndarray) -> None:
    levels = np.unique(x[np.isfinite(x)])
    medians = [np.nanmedian(y[x == level]) for level in levels]
    ax.plot(levels, medians, color=TRIAL_COLOUR, linewidth=1.2, zorder=2)
    ax.scatter(x, y, s=10, color=TRIAL_COLOUR, alpha=0.6, linewidths=0, zorder=3)


def _continue_phases(model: PhaseModel, ax: Axes) -> None:
    for phase in model.phases.to_dict("records"):
        colour = PHASE_STYLES[phase["label"]].colour
        ax.axvspan(phase["start"], phase["stop"], facecolor=colour, alpha=0.08, linewidth=0, zorder=0)


def telemetry_figure(telemetry: pd.DataFrame, trial: int, title: str) -> Figure | None:
    """CPU use of one trial over time, in cores, from the cumulative readings; None where there are none."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    series = telemetry[(telemetry["trial"] == trial) & (telemetry["metric"] == "cpu_usage_s")].sort_values(
        "t_s"
    )
    if len(series) < 3:
        return None
    t, usage = series["t_s"].to_numpy(float), series["value"].to_numpy(float)
    cores = np.diff(usage) / np.diff(t)
    with mpl.rc_context(RC_PARAMS):
        drawing, ax = plt.subplots(figsize=(WIDTH_IN, PANEL_HEIGHT_IN + 0.6), layout="constrained")
        ax.step(t[1:], cores, where="pre", color=TRIAL_COLOUR, linewidth=1.2)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("time in the trial (s)")
        ax.set_ylabel("CPU used (cores)")
        ax.set_title(title)
    words = (
        f"CPU use of trial {trial} over {t[-1]:.1f} s, between {cores.min():.2f} and {cores.max():.2f} cores."
    )
    return Figure.of(drawing, words, words)
