"""The figures of a sweep's report: the response curve, with CPU use and throttling under it on the
same axis; where the time of threads went at each level, and why each phase is what it is; every
setting, in a table too, and whether it may be the best."""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone.analysis.mechanisms.explaining import no_cause
from deadzone.analysis.mechanisms.parts import (
    ANSWERED,
    CAUSES,
    FEW,
    OUTSIDE,
    has_account,
    time_by_level,
)
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.picture import drawing_of
from deadzone.analysis.phases.plot import plot
from deadzone.analysis.phases.plot_axes import headroom, label_levels, plain_values
from deadzone.analysis.phases.quantities import axis_label, listing, plain_name, unit_for
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.response_scale import RATIO
from deadzone.analysis.settings.answering import Answer
from deadzone.analysis.settings.wording import in_order, said_of, settings_frame
from deadzone.analysis.trial_columns import marked
from deadzone.language.formats import exact
from deadzone.language.messages import N_, _, join, say
from deadzone.report.document.display import Block, Figure, Prose, Table
from deadzone.report.document.drawing import new_figure
from deadzone.report.sweep.analysis import Slice, Source
from deadzone.report.sweep.prose import why_in_words
from deadzone.report.sweep.tables import cores_used, is_measured, names, phases_text, positions
from deadzone.study.response_cells import level_names
from deadzone.study.scales import KnobScale, level_name
from deadzone.style import (
    INK,
    LOG_RESPONSE_FACTOR,
    MOST_DRAWN,
    MUTED,
    OUTLIER_COLOUR,
    PHASE_STYLES,
    RECOMMENDED_COLOUR,
    TRIAL_COLOUR,
)

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
    known = cores_used(source.analysed, model.knob)[: 1 + MOST_BESIDE]
    panels = [partial(_draw_cores, column) for column in known]
    if is_measured(source.analysed, "nr_periods"):
        panels.append(partial(_draw_throttling))
    heights = [CURVE_HEIGHT_IN, *(PANEL_HEIGHT_IN for _ in panels)]
    layout: dict[str, Any] = {"sharex": True, "squeeze": False, "height_ratios": heights}
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
        describe(model, advice, [ax.get_ylabel().replace("\n", " ") for ax in below]),
        id=s.anchor("response"),
    )


def trials_figure(source: Source, scale: KnobScale) -> Figure:
    """Every trial over the levels of the knob, hollow where it cannot be trusted, without phases
    and without a setting."""
    on_axis = sorted(scale.positions, key=scale.positions.__getitem__)
    levels = [*filter(None, dict.fromkeys([scale.lowest, *on_axis, *scale.apart]))]
    place = {level: at for at, level in enumerate(levels)}
    x = level_names(source.analysed[source.knob]).map(place)
    y = source.analysed[source.response]
    trusted = marked(source.analysed, "trusted", missing=True)
    faces = np.where(trusted, TRIAL_COLOUR, "none")
    with new_figure(CURVE_HEIGHT_IN) as (drawing, ax):
        ax.scatter(x, y, 16, faces, edgecolors=MUTED, zorder=4)
        ax.set(xlabel=axis_label(source.knob), ylabel=axis_label(source.response), ymargin=0.1)
        plain_values(ax)
        label_levels(ax, dict(enumerate(levels)), [0, len(levels) - 1])
    caption = _(
        "Every trial of {response} over {knob}, without a fit; {n:count} of {all:count} cannot be "
        "trusted and are hollow.",
        n=int((~trusted).sum()),
        all=len(y),
        **names(source.response, source.knob),
    )
    return Figure.of(drawing, caption, caption, id="response")


def describe(model: PhaseModel, advice: Recommendation, panels: list[str]) -> str:
    """What the figure shows, in words, for readers who do not see it. panels: what those below the
    curve show."""
    sentence = _(
        "Curve of {response} over {knob}, {n:count} trials at {levels} levels. Phases: {phases}.",
        n=model.n_trials,
        levels=model.n_levels,
        phases=phases_text(model),
        **names(model.response, model.knob),
    )
    below = _("Below it, over the same levels: {panels}.", panels=listing(panels)) if panels else ""
    return join([sentence, advice.reason, below])


def _draw_untrusted(source: Source, model: PhaseModel, ax: Axes) -> None:
    """Untrusted trials as hollow points; they are not in the fit."""
    apart = source.untrusted
    if apart.empty:
        return
    _add_points(
        ax, positions(model, apart), apart[model.response].to_numpy(float),
        s=16, facecolors="none", edgecolors=MUTED, linewidths=0.8,
        label=_("untrusted trial"), rasterized=len(apart) > MOST_DRAWN,
    )  # fmt: skip


def _add_points(ax: Axes, x: Any, y: np.ndarray, **look: Any) -> None:
    """Draw further points, for which the axes are widened."""
    low, high = ax.get_ylim()
    ax.scatter(x, y, zorder=4, **look)
    known = y[np.isfinite(y) & ((y > 0) | (ax.get_yscale() != "log"))]
    ax.set_ylim(min([low, *known]), max([high, *known]))
    if ax.get_ylim() != (low, high):
        headroom(ax, 20, 5)  # the names of the phases stand above


def _draw_apart(source: Source, model: PhaseModel, advice: Recommendation, ax: Axes) -> None:
    """The trials of the settings that stand apart, under their estimates; they are not in the fit
    of the curve."""
    apart = drawing_of(model, advice).apart
    where = {level_name(row["setting"]): place for place, row in apart.items()}
    trials = source.analysed[level_names(source.analysed[model.knob]).isin(where)]
    x, y = level_names(trials[model.knob]).map(where), trials[model.response].to_numpy(float)
    _add_points(ax, x, y, s=20, facecolor=TRIAL_COLOUR, edgecolor="white", linewidth=0.4)


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


HEIGHT_IN = 2.6

ACCOUNT_STYLES = {
    "running": ("#33658A", ""),
    "cpu_full": ("#E69F00", "//"),
    "throttled": ("#D55E00", "\\\\"),
    "waiting_for_disk": ("#009E73", ".."),
    "memory_short": ("#AA3377", "xx"),
    OUTSIDE: ("#56B4E9", "++"),
    FEW: ("#F0E442", "--"),
    "sleeping": ("#8C6D46", "||"),
    "waiting_for_each_other": ("#C9CFD6", ""),
}
"""Colour and hatch of each part of the account of time."""


def account_blocks(s: Slice) -> list[Block]:
    """The figure of a slice's account of time and what follows from it; nothing where its trials
    carry none."""
    trials, model = s.source.analysed, s.model
    if not has_account(trials, model.response):
        return []
    words: list[Block] = [Prose(tuple(said))] if (said := why_in_words(s)) else []
    if no_cause(trials, model):
        return words
    means = time_by_level(trials, positions(model, trials), model.response, model.goal)
    means = means[[name for name in ACCOUNT_STYLES if name in means and means[name].max() > 0]]
    if means.empty:
        return words
    text = _(
        "How the threads spent their time at each level of {knob}: means of the trials, stacked.",
        knob=plain_name(model.knob),
    )
    with new_figure(HEIGHT_IN) as (drawing, ax):
        _draw_parts(means, ax)
        ax.set_xlabel(axis_label(model.knob))
        at = [float(x) for x in means.index]
        label_levels(ax, {x: level_text(model, x) for x in at}, [at[0], at[-1]])
        shares, seconds = (
            N_("share of the response (1 is all)"),
            N_("thread time per unit of work (thread-s)"),
        )
        ax.set_ylabel(say(shares if ANSWERED in trials else seconds).replace(" (", "\n("))
    return [Figure.of(drawing, s.captioned(text), text, id=s.anchor("account")), *words]


def _draw_parts(means: pd.DataFrame, ax: Axes) -> None:
    """The parts of an account of time, stacked. means: a row a level, a column a part."""
    shown = [*map(str, means)]
    stacks = ax.stackplot(
        means.index.to_numpy(float), *(means[name].to_numpy(float) for name in shown),
        labels=[say(CAUSES[name]) for name in shown],
        colors=[ACCOUNT_STYLES[name][0] for name in shown], edgecolor="white", linewidth=0.5,
    )  # fmt: skip
    for stack, name in zip(stacks, shown, strict=True):
        stack.set_hatch(ACCOUNT_STYLES[name][1])
    ax.set_ylim(bottom=0)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, fontsize=8, borderaxespad=0.2)


FEW_DECADES = 300
"""A logarithmic axis that spans less than this has values between the powers of ten."""

MARGIN_IN, ROW_IN, LINE_IN = 1.1, 0.35, 0.12

MOST_LETTERS = 40
"""A longer name of a setting goes on below, so that the trials keep most of the width."""

MOST_SETTINGS = 40
"""More settings than this make an unreadable figure; the best of them are drawn, and the table has
all."""


def settings_table(answer: Answer, advice: Recommendation, cores: float | None = None) -> Table:
    """One row a setting: trials, estimate with its interval, how much worse than the best, and the
    verdict. cores: of the machine, where a larger limit is no choice."""
    frame = settings_frame(answer, advice, cores)
    caption = say(
        N_("{all} settings, compared by {response}; none is recommended.")
        if advice.is_withheld
        else N_("{n} of {all} settings may be the best in {response}.")
        if advice.is_of_best
        else N_("{n} of {all} settings do what was asked of {response}."),
        n=int(advice.table["tied"].sum()),
        all=len(advice.table),
        response=plain_name(advice.quantity),
    )
    ids = [str(i + 1) for i in range(len(frame))]
    return Table.of_frame(frame, caption, list(frame.columns[1:-1]), "settings", ids)


def settings_figure(answer: Answer, advice: Recommendation, *, is_only: bool) -> Figure:
    """Every trial of every setting, with its estimate and interval; those that may be the best in
    colour."""
    import matplotlib as mpl

    table, response = in_order(answer, advice), answer.candidates.response
    largest, places = float(table["estimate"].max()), list(answer.candidates["setting"])
    about = response, largest, answer.candidates.unit
    size = unit_for(*about)[0]
    every, is_it = len(table), table["setting"].map(lambda one: one == advice.setting)
    least = table.assign(loss=table["loss"].mask(is_it, -1)).nsmallest(MOST_SETTINGS, "loss")
    table = table[table.index.isin(least.index)]
    names = [textwrap.fill(str(name), MOST_LETTERS) for name in table["name"]]
    lines = max(name.count("\n") for name in names)
    with new_figure(MARGIN_IN + (ROW_IN + LINE_IN * lines) * len(table)) as (drawing, ax):
        ax.set_yticks(range(len(table)), names)
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.set_xlabel(axis_label(*about))
        ax.grid(visible=False, axis="y")
        ax.set_axisbelow(True)
        ax.spines["left"].set_visible(False)
        for at, (_index, row) in enumerate(table.iterrows()):
            _draw_setting(answer, advice, ax, at, places.index(row["setting"]), row)
        values = answer.trials["response"].to_numpy(float)
        if (
            answer.candidates.scale.kind == RATIO
            and values.max() / values.min() >= LOG_RESPONSE_FACTOR
        ):
            ax.set_xscale("log")
            if values.max() < FEW_DECADES * values.min():
                ax.xaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
            ax.xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
        ax.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda at, _: exact(at / size)))
        ax.set_ylim(len(table) - 0.4, -0.6)
        handles = dict(reversed(list(zip(*reversed(ax.get_legend_handles_labels()), strict=True))))
        drawing.legend(
            handles.values(), handles.keys(), loc="outside lower left", ncols=3, fontsize=8
        )
    caption = say(
        N_("Every trial of {response} at each setting, the estimates and their intervals.")
        if len(table) == every
        else N_("Every trial of {response} at {n} of {every} settings, with their intervals."),
        n=len(table),
        every=every,
        response=plain_name(answer.candidates.response),
    )
    sentence = join([caption, advice.reason])
    return Figure.of(drawing, caption, sentence, id="response" if is_only else "settings-figure")


def _shown_to_be(advice: Recommendation, row: pd.Series) -> str:
    if advice.is_withheld or not advice.is_of_best:
        return said_of(advice, row)
    return say(
        N_("may be the best ({confidence:exact_percent} family-wise)")
        if row["tied"]
        else N_("shown to be worse"),
        confidence=advice.confidence,
    )


def _draw_setting(
    answer: Answer, advice: Recommendation, ax: Any, at: int, index: int, row: pd.Series
) -> None:
    for flagged, part in answer.trials[answer.trials["index"] == index].groupby("outlier"):
        spread = np.linspace(-0.16, 0.16, len(part)) if len(part) > 1 else np.zeros(1)
        ax.scatter(
            part["response"],
            at + spread,
            s=16,
            zorder=3,
            alpha=0.8,
            linewidths=1.0,
            facecolor="none" if flagged else TRIAL_COLOUR,
            edgecolor=OUTLIER_COLOUR if flagged else "none",
            marker="D" if flagged else "o",
            label=say(N_("trial flagged as outlier") if flagged else N_("trial")),
        )
    ax.errorbar(
        row["estimate"],
        at,
        xerr=np.array([[row["estimate"] - row["low"]], [row["high"] - row["estimate"]]]),
        fmt="s" if row["tied"] else "o",
        color=RECOMMENDED_COLOUR if row["tied"] else MUTED,
        markersize=6,
        capsize=4,
        zorder=4,
        label=_shown_to_be(advice, row),
    )
    if row["setting"] == advice.setting:
        ax.axhspan(
            at - 0.45, at + 0.45, color=RECOMMENDED_COLOUR, alpha=0.10, linewidth=0, zorder=0
        )
