"""What an adaptive sweep chose when, why it ended, and what was open then."""

from collections.abc import Sequence

from deadzone.analysis.adaptive.rate_search import GENERATOR
from deadzone.analysis.phases.quantities import listing, plain_name
from deadzone.language.messages import N_, _
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Block, Prose, Table
from deadzone.report.sweep.source import Source
from deadzone.store.run import Run
from deadzone.study.design import Treatment
from deadzone.study.levels import format_level
from deadzone.study.reasons import reason_of
from deadzone.study.search_specs import CAPACITY

SEARCHES_TABLE = Layout(
    columns={
        N_("setting"): "{setting}",
        N_("highest rate that met all (requests/s)"): "{met}",
        N_("lowest that missed (requests/s)"): "{missed}",
        N_("what it missed"): "{limit}",
    },
    caption=N_(
        "Each of {n:count} searches: between which two rates the objectives stop being met, and "
        "which one gives way."
    ),
    numeric=(1, 2),
)

BATCHES_TABLE = Layout(
    columns={
        N_("Batch"): "{batch}",
        N_("Trials"): "{chosen}",
        N_("Why"): "{why}",
    },
    caption=N_(
        "What was chosen when: {n:count} trials in {batches:count} batches, each in random order."
    ),
    numeric=(0,),
)


def chosen_trials(source: Source) -> list[Block]:
    """The batches with their reasons, and the end in sentences; nothing of a sweep whose plan was
    made beforehand."""
    run = Run(source.folder) if source.folder else None
    batches = [one for one in run.batches() if "trials" in one] if run else []
    found: list[Block] = []
    if batches:
        rows = [
            {
                "batch": batch["batch"],
                "chosen": ", ".join(_setting(one["levels"]) for one in batch["trials"]),
                "why": reason_of(batch["reason"]),
            }
            for batch in batches
        ]
        n = sum(len(one["trials"]) for one in batches)
        found.append(Table.of(BATCHES_TABLE, rows, "batches", n=n, batches=len(batches)))
    if run and (ending := run.ending()):
        found.append(Prose(tuple(ending)))
    if source.study and source.response == CAPACITY and "limited_by" in source.trials:
        found.append(_searches(source, source.study.factor_names()))
    return found


def _searches(source: Source, factors: Sequence[str]) -> Block:
    """What each search found, between which rates, and what the higher one missed."""
    rows = [
        {
            "setting": Treatment({name: row[name] for name in factors}).label(),
            "met": f"{row[CAPACITY]:,g}".replace("nan", "-"),
            "missed": f"{row['missed_rps']:,g}".replace("inf", "-"),
            "limit": _limit(row["limited_by"]),
        }
        for row in source.trials.sort_values([*factors, "replicate"]).to_dict("records")
    ]
    return Table.of(SEARCHES_TABLE, rows, "searches", n=len(rows))


def _limit(limited_by: str) -> str:
    if limited_by == GENERATOR:
        return _("could not be sent")
    return listing([plain_name(column) for column in limited_by.split(", ")])


def _setting(levels: dict[str, int | float | str]) -> str:
    """The levels of a trial: the level alone where there is one factor."""
    return format_level(*levels.values()) if len(levels) == 1 else Treatment(levels).label()
