"""A comparison as a page of tables, plain text for a terminal and HTML for a notebook or report;
and its forest plot: every treatment's ratio with its interval, and the overall ratio.

The plot is after Lewis and Clarke (2001, Forest plots: trying to see the wood and the trees, BMJ
322, 1479-1480).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone import style
from deadzone.analysis.compare.ratio import BETTER, NO_CHANGE, UNDECIDED, WORSE
from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.quantities import axis_label, plain_name, unit_name
from deadzone.analysis.phases.summary import GOALS
from deadzone.analysis.records import records
from deadzone.language.formats import exact
from deadzone.language.markdown import markdown
from deadzone.language.messages import N_, _, join, say
from deadzone.language.tabling import Layout, Tabled, tabled

VERDICTS = {
    word.one: word
    for word in (N_("better"), N_("worse"), N_("no change that matters"), N_("undecided"))
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


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Paged):
    """B against A, treatment by treatment and overall.

    names: of A and B. factors: columns that make a treatment. threshold: a fraction; a smaller
    change does not matter, and equivalence is shown within it. confidence: of intervals and, over
    all comparisons together, of verdicts. paired: whether both come from the same blocks of one
    run.

    treatments: one row a response and treatment. Columns: response, goal, the factors (levels as
    text), treatment (in words), n_a, n_b (blocks or trials), median_a, median_b (in the response's
    unit), ratio (median of B over median of A), ratio_low, ratio_high, p_value, p_adjusted (Holm),
    p_equivalence, p_equivalence_adjusted, verdict, trials_needed (a side, to show a change of the
    threshold with 80 % power; missing where nothing was repeated or no sensible number would do).

    overall: one row a response with the same columns less factors, treatment, medians and
    trials_needed, plus n_treatments; ratio is the geometric mean of the treatments' ratios,
    p-values are of tests stratified by treatment.

    trials: every value that was compared: response, treatment, table (A or B), value, relative
    (value over A's median). warnings: sentences on what is left out, what else differs, and what
    would decide.
    """

    names: tuple[str, str]
    factors: tuple[str, ...]
    threshold: float
    confidence: float
    paired: bool
    treatments: pd.DataFrame
    overall: pd.DataFrame
    trials: pd.DataFrame
    warnings: tuple[str, ...]

    @property
    def responses(self) -> tuple[str, ...]:
        """The responses that were compared."""
        return tuple(self.overall["response"])

    @property
    def verdicts(self) -> set[str]:
        """Every verdict that there is, on a treatment or overall."""
        return {*self.treatments["verdict"], *self.overall["verdict"]}

    @property
    def is_worse(self) -> bool:
        """Whether any treatment of any response, or any response overall, is shown to be worse."""
        return WORSE in self.verdicts

    @property
    def has_moved(self) -> bool:
        """Whether anything is shown to be better or worse."""
        return bool(self.verdicts & {BETTER, WORSE})

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON; a number that is unknown or infinite is None."""
        return {
            "a": self.names[0],
            "b": self.names[1],
            "factors": list(self.factors),
            **{name: getattr(self, name) for name in ("threshold", "confidence", "paired")},
            **{name: records(getattr(self, name)) for name in ("overall", "treatments")},
            "warnings": [str(warning) for warning in self.warnings],
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes | Figure":
        """Forest plot: the ratio of every treatment with its interval, and the overall one.

        ax: axes for the first response, which are returned; without them a figure with a panel a
        response, which the caller closes.
        """
        import matplotlib.pyplot as plt

        counts = self.treatments["response"].value_counts().clip(upper=MOST_ROWS)
        heights = [FRAME_HEIGHT + ROW_HEIGHT * (counts[name] + 1) for name in self.responses]
        with style.figure_style():
            if ax is not None:
                _panel(ax, self, self.responses[0])
                return ax
            figure, panels = plt.subplots(
                len(heights),
                figsize=(style.WIDTH_IN, sum(heights)),
                height_ratios=heights,
                squeeze=False,
                layout="constrained",
            )
            for panel, response in zip(panels[:, 0], self.responses, strict=True):
                _panel(panel, self, response)
            figure.legend(
                *panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3
            )
        return figure

    def markdown(self, whole: str) -> str:
        """Everything as a comment on a pull request. whole: a command that shows it."""
        page = self.page()
        heads = [*page.sections[0].frame.columns]
        heads[1:3] = "A", "B"  # their unit stands with the response
        frames = [section.frame.set_axis(heads, axis=1) for section in page.sections]
        units = [axis_label(name) for name in self.responses]
        table = pd.concat(frames, keys=units, names=[_("response"), None]).reset_index(level=0)
        verdict = "; ".join(headline(self, name) for name in self.responses)
        return markdown(f"{page.title}: {verdict}", table, self.warnings, whole)

    def summary(self) -> str:
        """Everything as text: each response overall and treatment by treatment, and what to know of
        them."""
        return str(self)

    def __repr__(self) -> str:
        sentences = [headline(self, response) for response in self.responses]
        return f"Comparison({self.names[1]} against {self.names[0]}: {'; '.join(sentences)})"

    def page(self) -> Page:
        """Everything as a page."""
        test = (
            _("the signed-rank test on paired blocks")
            if self.paired
            else _("the Mann-Whitney test")
        )
        method = _(
            "The change is the ratio of medians with a bootstrap percentile interval "
            "({confidence:exact_percent}); p is of {test}, after Holm's correction over {n:count} "
            "comparisons. Better and worse need a change that is shown, of "
            "{threshold:exact_percent} or more; no change that matters needs two one-sided tests, "
            "and their interval, within it.",
            confidence=self.confidence,
            threshold=self.threshold,
            test=test,
            n=len(self.treatments),
        )
        return Page(
            _("{b} (B) against {a} (A)", a=self.names[0], b=self.names[1]),
            [_table(self, response) for response in self.responses],
            {_("Read this first"): list(self.warnings), _("How it was decided"): [method]},
        )


def rows_of(frame: pd.DataFrame, response: str) -> list[dict[Any, Any]]:
    """The rows of a table on one response, as dictionaries by column name."""
    return frame[frame["response"] == response].to_dict("records")


def change_text(row: dict[Any, Any]) -> str:
    """A row's change with its interval: `+12 % (+8.1 % to +16 %)`."""
    ratio, low, high = (
        _("{change:change}", change=row[name] - 1) for name in ("ratio", "ratio_low", "ratio_high")
    )
    if math.isnan(row["ratio_low"]):
        return ratio
    return _("{ratio} ({low} to {high})", ratio=ratio, low=low, high=high)


def _table(result: Comparison, response: str) -> Tabled:
    """A response treatment by treatment, the overall row first: of many the page prints the first
    ones."""
    rows, unit = rows_of(result.treatments, response), unit_name(response)
    if len(rows) > 1:
        whole = {"treatment": _("overall"), "median_a": math.nan, "median_b": math.nan}
        rows.insert(0, rows_of(result.overall, response)[0] | whole)
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

OUTERMOST = (1 / 50, 50)
"""Ratios beyond these are drawn at the edge; their number stands in the table."""


def headline(result: Comparison, response: str) -> str:
    """The verdicts on one response in words, as the title of its panel."""
    rows = result.treatments[result.treatments["response"] == response]
    n, counts = len(rows), rows["verdict"].value_counts()
    texts = VERDICTS if n == 1 else VERDICT_COUNTS
    words = [
        say(texts[word], n=int(counts[word]), treatments=n)
        for word in (BETTER, WORSE)
        if word in counts
    ] or [say(VERDICTS[NO_CHANGE if counts.get(NO_CHANGE) == n else UNDECIDED])]
    overall = rows_of(result.overall, response)[0]["verdict"]
    if overall in (BETTER, WORSE) and not counts.reindex([BETTER, WORSE]).any():
        words = [_("{verdict} overall, in no treatment by itself", verdict=say(VERDICTS[overall]))]
    return _("{response}: {words}", response=plain_name(response), words=join(words, ", "))


def _panel(ax: "Axes", result: Comparison, response: str) -> None:
    from matplotlib.ticker import MaxNLocator

    rows, overall = rows_of(result.treatments, response), rows_of(result.overall, response)[0]
    size = np.array([max(row["ratio"], 1 / max(row["ratio"], 1e-300)) for row in rows])
    drawn = [rows[i] for i in sorted(np.argsort(-size, kind="stable")[:MOST_ROWS])]
    title = headline(result, response)
    if len(drawn) < len(rows):
        title += "\n" + _(
            "The {shown} largest changes of {n:count} treatments", shown=len(drawn), n=len(rows)
        )
    ax.axvspan(
        1 / (1 + result.threshold), 1 + result.threshold, color=style.MUTED, alpha=0.12,
        linewidth=0,
        label=_("no change that matters ({threshold:exact_percent})", threshold=result.threshold),
    )  # fmt: skip
    ax.axvline(1.0, color=style.INK, linewidth=0.8)
    places = [float(place) for place in range(len(drawn))]
    if len(rows) > 1:
        drawn.append({**overall, "treatment": _("overall")})
        places.append(len(places) + 0.4)
    for place, row in zip(places, drawn, strict=True):
        _estimate(ax, row, place)
    ax.set_yticks(places, [str(row["treatment"]) for row in drawn])
    ax.set_ylim(places[-1] + 0.7, -0.7)
    ax.grid(visible=False, axis="y")
    ax.set_title(title)
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    if high / low < 5:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda value, _: exact(value))
    ax.set_xlabel(_("{response}, B / A", response=plain_name(response)))


def _estimate(ax: "Axes", row: dict[Any, Any], place: float) -> None:
    """A ratio with its interval, and the verdict in words at the right."""
    colour, marker, filling = VERDICT_MARKS[row["verdict"]]
    low, ratio, high = np.clip([row["ratio_low"], row["ratio"], row["ratio_high"]], *OUTERMOST)
    ax.plot([low, high], [place, place], color=colour, linewidth=1.6, zorder=3)
    ax.plot(
        ratio, place, marker="D" if "n_treatments" in row else marker, color=colour,
        markerfacecolor=filling, markersize=7, linestyle="none", zorder=4,
    )  # fmt: skip
    ax.annotate(
        say(VERDICTS[row["verdict"]]), (1.01, place), xycoords=("axes fraction", "data"),
        va="center",
    )  # fmt: skip
