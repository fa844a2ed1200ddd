"""The blocks of a search over several knobs: what each knob does, and the best so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deadzone.analysis.phases.quantities import axis_label, plain_name
from deadzone.language.formats import exact
from deadzone.language.messages import N_, say
from deadzone.language.tabling import Layout
from deadzone.plugins import _, format_level
from deadzone.report.document.display import Block, Figure, Table
from deadzone.report.document.drawing import new_figure
from deadzone.style import LOG_RESPONSE_FACTOR, MUTED, RECOMMENDED_COLOUR, TRIAL_COLOUR

if TYPE_CHECKING:
    from deadzone.report.sweep.analysis import Analysis

HEIGHT_IN = 2.4

EFFECTS_TABLE = Layout(
    columns={
        N_("knob"): "{knob}",
        N_("worst level", context="search"): "{worst}",
        N_("best level", context="search"): "{best}",
        N_("times better (95 % interval)"): "{times}",
        N_("verdict"): "{judged}",
    },
    caption=N_(
        "The effect of each knob between its worst and its best level, averaged over the other "
        "knobs, from the {n:count} trials before the confirmation."
    ),
    numeric=(3,),
    ids="{knob}",
)

VERDICTS = {
    "live": N_("live", context="search"),
    "inert": N_("without effect"),
    "undecided": N_("undecided"),
}

STAGES = {
    "search": N_("search", context="stage"),
    "confirm": N_("confirmation", context="stage"),
}


def search_blocks(analysis: Analysis) -> list[Block]:
    """What each knob does, and the best so far; nothing before the screen has ended."""
    found = analysis.searched
    if found.effects.empty:
        return []
    rows = [
        {
            "knob": row["knob"],
            "worst": format_level(row["from"]),
            "best": format_level(row["to"]),
            "times": _(
                "{value} ({low} to {high})",
                value=f"{row['effect']:.2f}", low=f"{row['low']:.2f}", high=f"{row['high']:.2f}",
            ),
            "judged": say(VERDICTS[row["verdict"]]),
        }
        for row in found.effects.to_dict("records")
    ]  # fmt: skip
    n = int(found.trials["stage"].ne("confirm").sum())
    return [Table.of(EFFECTS_TABLE, rows, "effects", n=n), _history(found.trials, analysis)]


def _history(trials: Any, analysis: Analysis) -> Figure:
    """Every trial that counts in its order, and what the best cell until then is held to be."""
    import matplotlib as mpl

    response = analysis.source.response
    place = range(1, len(trials) + 1)
    with new_figure(HEIGHT_IN) as (drawing, ax):
        ax.scatter(place, trials[response], s=14, color=TRIAL_COLOUR, label=say(N_("trial")))
        ax.step(
            place, trials["best"], where="post", color=RECOMMENDED_COLOUR,
            label=say(N_("best cell so far, its estimate")),
        )  # fmt: skip
        ax.fill_between(
            place, trials["best_low"], trials["best_high"], step="post", alpha=0.2,
            color=RECOMMENDED_COLOUR, linewidth=0, label=say(N_("95 % interval")),
        )  # fmt: skip
        stages = [*trials["stage"]]
        for stage in filter(stages.count, STAGES):
            at = stages.index(stage) + 0.5
            ax.axvline(at, color=MUTED, linewidth=0.8, linestyle="--")
            ax.annotate(
                say(STAGES[stage]), (at, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", va="bottom", fontsize=8, color=MUTED,
            )  # fmt: skip
        values = trials[response]
        if values.max() >= LOG_RESPONSE_FACTOR * values.min():
            ax.set_yscale("log")
            ax.yaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda value, _: exact(value)))
            ax.yaxis.set_minor_formatter(mpl.ticker.NullFormatter())
        ax.set_xlabel(_("trial"))
        ax.set_ylabel(axis_label(response))
        drawing.legend(loc="outside lower left", ncols=3, fontsize=8)
    last, named = trials.iloc[-1], plain_name(response)
    caption = _(
        "{response} of {n:count} trials in their order. The trials before the confirmation put the "
        "best cell at {best:number} ({low:number} to {high:number}).",
        response=named[:1].upper() + named[1:], n=len(trials), best=last["best"],
        low=min(last["best_low"], last["best_high"]), high=max(last["best_low"], last["best_high"]),
    )  # fmt: skip
    return Figure.of(drawing, caption, caption, id="best-so-far")
