"""Every setting of a sweep in a table and in a figure: its trials, its estimate, and whether it may
be the best."""

from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.phases.quantities import axis_label, plain_name
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.response_scale import RATIO
from deadzone.analysis.settings.answering import Answer
from deadzone.analysis.settings.wording import in_order, settings_frame
from deadzone.language.formats import exact
from deadzone.language.messages import N_, _, say
from deadzone.report.document.display import Figure, Table
from deadzone.report.document.drawing import new_figure
from deadzone.style import (
    INK,
    LOG_RESPONSE_FACTOR,
    MUTED,
    OUTLIER_COLOUR,
    RECOMMENDED_COLOUR,
    TRIAL_COLOUR,
)

MARGIN_IN, ROW_IN = 1.1, 0.35

MOST_DRAWN = 40
"""More settings than this make an unreadable figure; the best of them are drawn, and the table has
all."""


def settings_table(answer: Answer, advice: Recommendation, cores: float | None = None) -> Table:
    """One row a setting: trials, estimate with its interval, how much worse than the best, and the
    verdict. cores: of the machine, where a larger limit is no choice."""
    frame = settings_frame(answer, advice, cores)
    tied = int(advice.table["tied"].sum())
    caption = _(
        "{n} of {all} settings may be the best in {response}.",
        n=tied,
        all=len(advice.table),
        response=plain_name(answer.response),
    )
    ids = [str(i + 1) for i in range(len(frame))]
    return Table.of_frame(frame, caption, list(frame.columns[1:-1]), "settings", ids)


def settings_figure(answer: Answer, advice: Recommendation, *, is_only: bool) -> Figure:
    """Every trial of every setting, with its estimate and interval; those that may be the best in
    colour."""
    import matplotlib as mpl

    table = in_order(answer, advice)
    table = table if len(table) <= MOST_DRAWN else table.nsmallest(MOST_DRAWN, "loss")
    with new_figure(MARGIN_IN + ROW_IN * len(table)) as (drawing, ax):
        ax.set_yticks(range(len(table)), list(table["name"]))
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.set_xlabel(axis_label(answer.response))
        ax.grid(visible=False, axis="y")
        ax.set_axisbelow(True)
        ax.spines["left"].set_visible(False)
        for at, (index, row) in enumerate(table.iterrows()):
            _draw_setting(answer, advice, ax, at, int(index), row)  # type: ignore[call-overload]
        values = answer.trials["response"].to_numpy(float)
        if answer.scale.kind == RATIO and values.max() / values.min() >= LOG_RESPONSE_FACTOR:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda value, _: exact(value)))
            ax.xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
        ax.set_ylim(len(table) - 0.4, -0.6)
        handles = dict(reversed(list(zip(*reversed(ax.get_legend_handles_labels()), strict=True))))
        drawing.legend(
            handles.values(), handles.keys(), loc="outside lower left", ncols=3, fontsize=8
        )
    sentence = _(
        "Every trial of {response} at each setting, the estimates and their intervals. {verdict}",
        response=plain_name(answer.response),
        verdict=advice.reason,
    )
    return Figure.of(
        drawing,
        advice.reason,
        sentence,
        id="response" if is_only else "settings-figure",
    )


def _draw_setting(
    answer: Answer, advice: Recommendation, ax: Any, at: int, index: int, row: pd.Series
) -> None:
    trials = answer.trials[answer.trials["setting"] == index]
    for flagged, part in trials.groupby("outlier"):
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
    colour = RECOMMENDED_COLOUR if row["tied"] else MUTED
    ends = np.array([[row["estimate"] - row["low"]], [row["high"] - row["estimate"]]])
    ax.errorbar(
        row["estimate"],
        at,
        xerr=ends,
        fmt="s" if row["tied"] else "o",
        color=colour,
        markersize=6,
        capsize=4,
        zorder=4,
        label=say(
            N_("may be the best ({confidence:percent} family-wise)")
            if row["tied"]
            else N_("shown to be worse"),
            confidence=advice.confidence,
        ),
    )
    if row["setting"] == advice.setting:
        ax.axhspan(
            at - 0.45, at + 0.45, color=RECOMMENDED_COLOUR, alpha=0.10, linewidth=0, zorder=0
        )
