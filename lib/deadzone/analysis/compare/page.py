"""A comparison as a page of tables, plain text for a terminal and HTML for a notebook or report;
and its forest plot: every treatment's ratio with its interval, its trials, and the overall ratio.

The plot is after Lewis and Clarke (2001, Forest plots: trying to see the wood and the trees, BMJ
322, 1479-1480).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone import style
from deadzone.analysis.compare.result import ComparisonResult, rows_of
from deadzone.analysis.compare.verdicts import BETTER, NO_CHANGE, UNDECIDED, WORSE
from deadzone.analysis.page import Page
from deadzone.analysis.phases.quantities import axis_label, plain_name, unit_name
from deadzone.language.formats import exact
from deadzone.language.messages import N_, _, join, say
from deadzone.language.tabling import Layout, Tabled, tabled

VERDICTS = {
    "better": N_("better"),
    "worse": N_("worse"),
    "no change that matters": N_("no change that matters"),
    "undecided": N_("undecided"),
}

GOALS = {
    "min": N_("smaller is better"),
    "max": N_("larger is better"),
}

VERDICT_COUNTS = {
    "better": N_("better at {n} of {treatments}"),
    "worse": N_("worse at {n} of {treatments}"),
}

TREATMENTS_TABLE = Layout(
    columns={
        N_("treatment"): "{treatment}",
        "{head_a}": "{median_a:number}",
        "{head_b}": "{median_b:number}",
        N_("trials"): "{n_a} + {n_b}",
        N_("B against A (interval)"): "{told}",
        N_("p"): "{p_adjusted:p}",
        N_("verdict"): (VERDICTS, "{verdict}"),
    },
    caption=N_("{response}, {goal}"),
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def change_text(row: dict[str, Any]) -> str:
    """A row's change with its interval: `+12 % (+8.1 % to +16 %)`."""
    ratio, low, high = (
        _("{change:change}", change=row[name] - 1) for name in ("ratio", "ratio_low", "ratio_high")
    )
    if math.isnan(row["ratio_low"]):
        return ratio
    return _("{ratio} ({low} to {high})", ratio=ratio, low=low, high=high)


def comparison_page(result: ComparisonResult) -> Page:
    """The page of a comparison."""
    test = (
        _("the signed-rank test on paired blocks") if result.paired else _("the Mann-Whitney test")
    )
    method = _(
        "The change is the ratio of medians with a bootstrap percentile interval "
        "({confidence:percent}); p is of {test}, after Holm's correction over {n:count} "
        "comparisons. Better and worse need a change that is shown, of {threshold:percent} or "
        "more; no change that matters needs two one-sided tests, and their interval, within it.",
        confidence=result.confidence,
        threshold=result.threshold,
        test=test,
        n=len(result.treatments),
    )
    return Page(
        _("{b} (B) against {a} (A)", a=result.names[0], b=result.names[1]),
        [_table(result, response) for response in result.responses],
        {
            _("Read this first"): list(result.warnings),
            _("How it was decided"): [method],
        },
    )


def _table(result: ComparisonResult, response: str) -> Tabled:
    """A response treatment by treatment, the overall row first: of many the page prints the first
    ones."""
    rows, unit = rows_of(result.treatments, response), unit_name(response)
    if len(rows) > 1:
        no_median = dict.fromkeys(("median_a", "median_b"), math.nan)
        whole = rows_of(result.overall, response)[0]
        rows.insert(0, {**whole, **no_median, "treatment": _("overall")})
    return tabled(
        TREATMENTS_TABLE,
        [{**row, "told": change_text(row)} for row in rows],
        head_a=f"A {unit}".strip(),
        head_b=f"B {unit}".strip(),
        response=axis_label(response),
        goal=say(GOALS[rows[0]["goal"]]),
    )


ROW_HEIGHT = 0.26
FRAME_HEIGHT = 1.5
"""Inches: a line of text a treatment; title, axis and legend of one
response."""

MOST_ROWS = 40
"""More treatments than this do not fit a page; those that change most are drawn, and the figure
says so."""

VERDICT_MARKS = {
    BETTER: (style.RECOMMENDED_COLOUR, "^", style.RECOMMENDED_COLOUR),
    WORSE: (style.OUTLIER_COLOUR, "v", style.OUTLIER_COLOUR),
    NO_CHANGE: (style.MUTED, "s", style.MUTED),
    UNDECIDED: (style.INK, "o", "white"),
}
"""Colour, shape and filling of each verdict: shape and filling say it without colour."""

OUTERMOST = 50.0
"""Ratios beyond 50 or under 1/50 are drawn at the edge; their number stands in the table."""


def forest_plot(result: ComparisonResult) -> Figure:
    """Draw a comparison, one panel a response. result: a ComparisonResult. Returns a matplotlib
    figure, which the caller closes."""
    import matplotlib.pyplot as plt

    counts = result.treatments["response"].value_counts().clip(upper=MOST_ROWS)
    heights = [FRAME_HEIGHT + ROW_HEIGHT * (counts[name] + 1) for name in result.responses]
    with style.figure_style():
        figure, panels = plt.subplots(
            len(heights),
            figsize=(style.WIDTH_IN, sum(heights)),
            height_ratios=heights,
            squeeze=False,
            layout="constrained",
        )
        for ax, response in zip(panels[:, 0], result.responses, strict=True):
            _panel(ax, result, response)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def forest_panel(result: ComparisonResult, response: str, ax: Axes) -> None:
    """Draw one response of a comparison into axes."""
    with style.figure_style():
        _panel(ax, result, response)


def headline(result: ComparisonResult, response: str) -> str:
    """The verdicts on one response in words, as the title of its panel."""
    rows = result.treatments[result.treatments["response"] == response]
    name, n = plain_name(response), len(rows)
    counts = {word: int((rows["verdict"] == word).sum()) for word in (BETTER, WORSE, NO_CHANGE)}
    words = [
        say(VERDICTS[word]) if n == 1 else say(VERDICT_COUNTS[word], n=counts[word], treatments=n)
        for word in (BETTER, WORSE)
        if counts[word]
    ]
    if words:
        return _("{response}: {words}", response=name, words=join(words, ", "))
    return say(
        N_("{response}: no change that matters")
        if counts[NO_CHANGE] == n
        else N_("{response}: undecided"),
        response=name,
    )


def _rows(result: ComparisonResult, response: str) -> pd.DataFrame:
    rows = result.treatments[result.treatments["response"] == response]
    if len(rows) <= MOST_ROWS:
        return rows
    with np.errstate(divide="ignore"):
        size = np.abs(np.log(rows["ratio"]))
    return rows.loc[size.sort_values(ascending=False).index[:MOST_ROWS].sort_values()]


def _panel(ax: Axes, result: ComparisonResult, response: str) -> None:
    rows, overall = _rows(result, response), rows_of(result.overall, response)[0]
    trials = result.trials[result.trials["response"] == response]
    ax.axvspan(
        1 / (1 + result.threshold),
        1 + result.threshold,
        color=style.MUTED,
        alpha=0.12,
        linewidth=0,
        label=_("no change that matters ({threshold:percent})", threshold=result.threshold),
    )
    ax.axvline(1.0, color=style.INK, linewidth=0.8)
    drawn = rows_of(rows)
    places = [float(place) for place in range(len(drawn))]
    _trials(ax, trials, {row["treatment"]: n for row, n in zip(drawn, places, strict=True)})
    if overall["n_treatments"] > 1:
        drawn.append({**overall, "treatment": _("overall")})
        places.append(len(rows) + 0.4)
    for place, row in zip(places, drawn, strict=True):
        _estimate(ax, row, place)
    ax.set_yticks(places, [str(row["treatment"]) for row in drawn])
    ax.set_ylim(places[-1] + 0.7, -0.7)
    ax.grid(visible=False, axis="y")
    _axis(ax, response)
    _verdicts(ax, drawn)
    cut = (
        "\n" + _("The {shown} largest changes of {n:count} treatments", shown=len(rows), n=n)
        if len(rows) < (n := overall["n_treatments"])
        else ""
    )
    ax.set_title(headline(result, response) + cut)


def _trials(ax: Axes, trials: pd.DataFrame, places: dict[str, float]) -> None:
    """Trials of A above the line, hollow, and of B below it, filled, all over the median of A."""
    drawn = trials.assign(place=trials["treatment"].map(places)).dropna(subset="place")
    texts = {"A": N_("trial of A"), "B": N_("trial of B")}
    for table, offset, filling in (("A", -0.2, "none"), ("B", 0.2, style.TRIAL_COLOUR)):
        own = drawn[drawn["table"] == table]
        ax.scatter(
            _clipped(own["relative"].to_numpy(float)),
            own["place"] + offset,
            s=9,
            marker="o",
            facecolors=filling,
            edgecolors=style.TRIAL_COLOUR,
            linewidths=0.6,
            alpha=0.7,
            zorder=2,
            label=say(texts[table]),
        )


def _estimate(ax: Axes, row: dict[str, Any], place: float) -> None:
    colour, marker, filling = VERDICT_MARKS[row["verdict"]]
    ratio, low, high = _clipped(
        np.array([row["ratio"], row["ratio_low"], row["ratio_high"]], dtype=float)
    )
    ax.plot([low, high], [place, place], color=colour, linewidth=1.6, zorder=3)
    ax.plot(
        ratio,
        place,
        marker="D" if "n_treatments" in row else marker,
        color=colour,
        markerfacecolor=filling,
        markersize=7,
        linestyle="none",
        zorder=4,
    )


def _clipped(ratios: np.ndarray) -> np.ndarray:
    return np.clip(ratios, 1 / OUTERMOST, OUTERMOST)


def _axis(ax: Axes, response: str) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    if high / low < 5:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: exact(value)))
    ax.set_xlabel(_("{response}, B / A", response=plain_name(response)))


def _verdicts(ax: Axes, rows: list[dict[str, Any]]) -> None:
    """The verdict in words at the right of each row."""
    right = ax.twinx()
    right.set_ylim(ax.get_ylim())
    ticks = [float(tick) for tick in ax.get_yticks()]
    right.set_yticks(ticks, [say(VERDICTS[row["verdict"]]) for row in rows])
    right.grid(visible=False)
    right.tick_params(axis="y", length=0)
    right.spines[:].set_visible(False)
