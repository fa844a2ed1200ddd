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
from deadzone.analysis.compare.doubts import FEW
from deadzone.analysis.compare.result import ComparisonResult, rows_of
from deadzone.analysis.compare.verdicts import BETTER, NO_CHANGE, UNDECIDED, WORSE
from deadzone.analysis.page import Page
from deadzone.analysis.phases.quantities import axis_label, listing, plain_name, unit_name
from deadzone.language.formats import exact
from deadzone.language.messages import N_, Message, _, join, ngettext, say
from deadzone.language.tabling import Layout, Tabled, tabled

VERDICTS = {
    "better": N_("better"),
    "worse": N_("worse"),
    "no change that matters": N_("no change that matters"),
    "undecided": N_("undecided"),
}


WHY_UNDECIDED = {
    "few": N_("undecided: too few trials"),
    "small": N_("undecided: a change, perhaps too small to matter"),
    "spread": N_("undecided: a change of unknown size"),
    "open": N_("undecided"),
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
        N_("effect"): "{delta:+.2f}",
        N_("p"): "{p_adjusted:p}",
        N_("verdict"): "{judged}",
    },
    caption=N_("{response}, {goal}"),
)

SIDES_TABLE = Layout(
    columns={
        N_("A (before)"): "{a}",
        N_("B (after)"): "{b}",
        N_("Matters from"): "{settings}",
        N_("Treatments by"): "{matched_by}",
    },
    caption=N_("Compared"),
    paired=True,
)

OVERALL_TABLE = Layout(
    columns={
        N_("response", context="comparison"): "{name}",
        N_("trials"): "{n_a} + {n_b}",
        N_("B against A (interval)"): "{told}",
        N_("effect"): "{delta:+.2f}",
        N_("p"): "{p_adjusted:p}",
        N_("verdict"): "{judged}",
    },
    caption=N_("Overall, over {n} treatments"),
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def verdict_text(row: dict[str, Any]) -> Message:
    """A row's verdict in the language spoken, with the reason where it is undecided."""
    if row["verdict"] == UNDECIDED:
        return say(WHY_UNDECIDED[row["why"]])
    return say(VERDICTS[row["verdict"]])


def change_text(row: dict[str, Any]) -> str:
    """A row's change with its interval: `+12 % (+8.1 % to +16 %)`."""
    ratio, low, high = (
        _("{change:change}", change=row[name] - 1) for name in ("ratio", "ratio_low", "ratio_high")
    )
    if math.isnan(row["ratio_low"]):
        return _("{ratio}", ratio=ratio)
    return _("{ratio} ({low} to {high})", ratio=ratio, low=low, high=high)


def comparison_page(result: ComparisonResult) -> Page:
    """The page of a comparison."""
    return Page(_("B against A"), _sections(result), _notes(result))


def _sections(result: ComparisonResult) -> list[Tabled]:
    facts = {
        "a": result.names[0],
        "b": result.names[1],
        "settings": _(
            "{threshold:percent} either way; the same within {margin:percent}",
            threshold=result.threshold,
            margin=result.margin,
        ),
        "matched_by": listing(result.factors) if result.factors else _("all trials"),
    }
    sections = [tabled(SIDES_TABLE, [facts])]
    count = int(result.overall["n_treatments"].max())
    if count > 1:
        rows = [
            {**_row_texts(row), "name": plain_name(row["response"])}
            for row in rows_of(result.overall)
        ]
        sections.append(tabled(OVERALL_TABLE, rows, n=count))
    return [*sections, *(_by_treatment(result, response) for response in result.responses)]


def _by_treatment(result: ComparisonResult, response: str) -> Tabled:
    rows = rows_of(result.treatments, response)
    goal, unit = say(GOALS[rows[0]["goal"]]), unit_name(response)
    heads = {
        "head_a": f"A {unit}".strip(),
        "head_b": f"B {unit}".strip(),
        "response": axis_label(response),
    }
    return tabled(TREATMENTS_TABLE, map(_row_texts, rows), **heads, goal=goal)


def _row_texts(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "told": change_text(row), "judged": verdict_text(row)}


def _notes(result: ComparisonResult) -> dict[str, list[str]]:
    test = (
        _("the signed-rank test on paired blocks") if result.paired else _("the Mann-Whitney test")
    )
    method = _(
        "The change is the ratio of medians with a bootstrap percentile interval "
        "({confidence:percent}); effect is Cliff's delta; p is of {test}, after Holm's correction "
        "over {n:count} comparisons. Better and worse need a change that is shown and that "
        "matters; no change that matters needs two one-sided tests, and their interval, within the "
        "margin.",
        confidence=result.confidence,
        test=test,
        n=len(result.treatments),
    )
    return {
        _("Read this first"): list(result.warnings),
        _("How it was decided"): [join([method, *_what_it_takes(result)])],
    }


def _what_it_takes(result: ComparisonResult) -> list[str]:
    """How many trials would decide, for each response that has undecided treatments."""
    sentences: list[str] = []
    for response, rows in result.treatments.groupby("response", sort=False):
        n, needed = int((rows["verdict"] == UNDECIDED).sum()), rows["trials_needed"].iloc[0]
        is_warned = bool((rows[["n_a", "n_b"]].min(axis=1) <= FEW).any())  # by a warning already
        if n and pd.notna(needed) and not is_warned:
            counts = {"n": n, "needed": int(needed), "threshold": result.threshold}
            sentences.append(
                ngettext(
                    "{response}: {n} comparison is undecided; {needed:count} trials a side would "
                    "show a change of {threshold:percent} with 80 % power.",
                    "{response}: {n} comparisons are undecided; {needed:count} trials a side would "
                    "show a change of {threshold:percent} with 80 % power.",
                    response=axis_label(str(response)),
                    **counts,
                )
            )
    return sentences


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

    parts = {response: _rows(result, response) for response in result.responses}
    heights = [FRAME_HEIGHT + ROW_HEIGHT * (len(rows) + 1) for rows in parts.values()]
    with style.figure_style():
        figure, panels = plt.subplots(
            len(parts),
            figsize=(style.WIDTH_IN, sum(heights)),
            height_ratios=heights,
            squeeze=False,
            layout="constrained",
        )
        for ax, (response, rows) in zip(panels[:, 0], parts.items(), strict=True):
            _panel(ax, result, response, rows)
        _explain(figure, result.margin)
    return figure


def forest_panel(result: ComparisonResult, response: str, ax: Axes) -> None:
    """Draw one response of a comparison into axes."""
    with style.figure_style():
        _panel(ax, result, response, _rows(result, response))


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


def _panel(ax: Axes, result: ComparisonResult, response: str, rows: pd.DataFrame) -> None:
    overall = rows_of(result.overall, response)[0]
    trials = result.trials[result.trials["response"] == response]
    ax.axvspan(
        1 / (1 + result.margin), 1 + result.margin, color=style.MUTED, alpha=0.12, linewidth=0
    )
    ax.axvline(1.0, color=style.INK, linewidth=0.8)
    drawn = rows_of(rows)
    places, names = (
        [float(place) for place in range(len(drawn))],
        [str(row["treatment"]) for row in drawn],
    )
    for place, row in zip(places, drawn, strict=True):
        _trials(ax, trials[trials["treatment"] == row["treatment"]], place)
        _estimate(ax, row, place, VERDICT_MARKS[row["verdict"]][1])
    bottom, n = len(drawn) - 0.3, overall["n_treatments"]
    if n > 1:
        bottom = len(drawn) + 1.0
        drawn, places, names = [*drawn, overall], [*places, len(rows) + 0.4], [*names, _("overall")]
        _estimate(ax, overall, places[-1], "D")
    ax.set_yticks(places, names)
    ax.set_ylim(bottom, -0.7)
    ax.grid(visible=False, axis="y")
    _axis(ax, response)
    _verdicts(ax, drawn)
    cut = (
        "\n" + _("The {shown} largest changes of {n:count} treatments", shown=len(rows), n=n)
        if len(rows) < n
        else ""
    )
    ax.set_title(headline(result, response) + cut)


def _trials(ax: Axes, trials: pd.DataFrame, place: float) -> None:
    """Trials of A above the line, hollow, and of B below it, filled, all over the median of A."""
    for table, offset, filling in (("A", -0.2, "none"), ("B", 0.2, style.TRIAL_COLOUR)):
        x = _clipped(trials.loc[trials["table"] == table, "relative"].to_numpy(float))
        ax.scatter(
            x,
            np.full(len(x), place + offset),
            s=9,
            marker="o",
            facecolors=filling,
            edgecolors=style.TRIAL_COLOUR,
            linewidths=0.6,
            alpha=0.7,
            zorder=2,
        )


def _estimate(ax: Axes, row: dict[str, Any], place: float, marker: str) -> None:
    colour, _, filling = VERDICT_MARKS[row["verdict"]]
    ratio, low, high = _clipped(
        np.array([row["ratio"], row["ratio_low"], row["ratio_high"]], dtype=float)
    )
    if not np.isnan(low):
        ax.plot([low, high], [place, place], color=colour, linewidth=1.6, zorder=3)
    ax.plot(
        ratio,
        place,
        marker=marker,
        color=colour,
        markerfacecolor=filling,
        markersize=7,
        linestyle="none",
        zorder=4,
    )


def _explain(figure: Figure, margin: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    fillings = {N_("trial of A"): "none", N_("trial of B"): style.TRIAL_COLOUR}
    points = [
        Line2D(
            [], [], linestyle="none", marker="o", markersize=4, markeredgecolor=style.TRIAL_COLOUR,
            markerfacecolor=filling, label=say(key),
        )
        for key, filling in fillings.items()
    ]  # fmt: skip
    band = Patch(
        color=style.MUTED,
        alpha=0.12,
        label=_("no change that matters ({margin:percent})", margin=margin),
    )
    figure.legend(handles=[*points, band], loc="outside lower center", ncols=3)


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
    right.set_yticks(ticks, [str(verdict_text(row)) for row in rows])
    right.grid(visible=False)
    right.tick_params(axis="y", length=0)
    right.spines[:].set_visible(False)
