"""What an adaptive sweep chose when, why it ended, and what was open then."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from deadzone.analysis.phases.quantities import axis_label, lifts_limit, listing, plain_name
from deadzone.language.formats import exact
from deadzone.language.messages import N_, _, ngettext
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Block, Figure, Prose, Table
from deadzone.report.document.drawing import new_figure
from deadzone.report.sweep.trials import Source
from deadzone.store.run import RunFolder
from deadzone.study.design import Treatment
from deadzone.study.levels import format_level
from deadzone.study.search_specs import CAPACITY, GENERATOR
from deadzone.style import TRIAL_COLOUR

SEARCHES_TABLE = Layout(
    columns={
        N_("setting"): "{setting}",
        N_("highest rate that met all (requests/s)"): "{met}",
        N_("lowest that missed (requests/s)"): "{missed}",
        N_("what it missed"): "{limit}",
    },
    caption=N_(
        "Each of {n:count} searches: between which two rates the objectives stop being met, and "
        "which one fails."
    ),
    numeric=(1, 2),
)

ROW_IN, MARGIN_IN = 0.16, 0.9
"""Height of a level, and of what stands around them all."""

POINT, MORE_POINT = 22, 30
"""Area of the point of one trial, and what each further one of its batch adds [points squared]."""


def chosen_trials(source: Source) -> list[Block]:
    """The batches as a picture, and the end in sentences; nothing of a sweep whose plan was made
    beforehand."""
    run = RunFolder(source.folder) if source.folder else None
    batches = [batch for batch in run.batches() if "trials" in batch] if run else []
    blocks: list[Block] = [_batches_figure(batches)] if batches else []
    if run and (ending := run.ending()):
        blocks.append(Prose(tuple(ending)))
    if source.study and source.response == CAPACITY and "limited_by" in source.trials:
        blocks.append(_searches(source, source.study.factor_names()))
    return blocks


def _batches_figure(batches: Sequence[Mapping[str, Any]]) -> Figure:
    """Which level each batch measured, in the order of the sweep."""
    settings = [trial["levels"] for batch in batches for trial in batch["trials"]]
    order = list(dict.fromkeys(map(_setting, sorted(settings, key=_place))))
    at = pd.DataFrame(
        {
            "batch": [each["batch"] for each in batches for _trial in each["trials"]],
            "level": [order.index(_setting(levels)) for levels in settings],
        }
    )
    points = at.value_counts().rename("n").reset_index()
    with new_figure(MARGIN_IN + ROW_IN * len(order)) as (drawing, ax):
        size = POINT + MORE_POINT * (points["n"] - 1)
        ax.scatter(
            points["batch"], points["level"], s=size, color=TRIAL_COLOUR, linewidths=0, zorder=3
        )
        ax.set_yticks(range(len(order)), order)
        ax.set_xlabel(_("batch, in the order of the run"))
        ax.set_ylabel(axis_label(*settings[0]) if len(settings[0]) == 1 else _("setting"))
        ax.xaxis.get_major_locator().set_params(integer=True)
    sentence = ngettext(
        "{trials:count} trials in {n:count} batch, in random order; a larger point stands for more "
        "trials.",
        "{trials:count} trials in {n:count} batches, each in random order; a larger point stands "
        "for more trials.",
        trials=len(settings),
        n=len(batches),
    )
    return Figure.of(drawing, sentence, sentence, id="batches")


def _searches(source: Source, factors: Sequence[str]) -> Block:
    """What each search found, between which rates, and what the higher one missed."""
    rows = [
        {
            "setting": Treatment({name: row[name] for name in factors}).label(),
            "met": exact(row[CAPACITY]),
            "missed": exact(row["missed_rps"]).replace("∞", "-"),
            "limit": _limit(row["limited_by"]),
        }
        for row in source.trials.sort_values([*factors, "replicate"]).to_dict("records")
    ]
    return Table.of(SEARCHES_TABLE, rows, "searches", n=len(rows))


def _limit(limited_by: str) -> str:
    if limited_by == GENERATOR:
        return _("could not be sent")
    return listing([plain_name(column) for column in limited_by.split(", ")])


def _place(levels: Mapping[str, Any]) -> list[tuple[bool, Any]]:
    """Where a setting stands among others: numbers in their order before words."""
    return [(isinstance(level, str), level) for level in levels.values()]


def _setting(levels: Mapping[Any, Any]) -> str:
    """The levels of a trial: the level alone where there is one factor, as the curve names it."""
    if len(levels) > 1:
        return Treatment({**levels}).label()
    [(factor, level)] = levels.items()
    return _("no limit") if lifts_limit(level, factor) else format_level(level)
