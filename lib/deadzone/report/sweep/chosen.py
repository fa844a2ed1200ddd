"""What an adaptive sweep chose when, why it ended, and what was open then."""

from collections.abc import Sequence

from deadzone.analysis.phases.quantities import listing, plain_name
from deadzone.language.formats import exact
from deadzone.language.messages import N_, _, ngettext
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Block, Prose, Table
from deadzone.report.sweep.trials import Source
from deadzone.store.run import RunFolder
from deadzone.study.design import Treatment
from deadzone.study.workload_spec import CAPACITY, GENERATOR

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


def chosen_trials(source: Source) -> list[Block]:
    """How many batches there were, and the end, in sentences; nothing of a sweep whose plan was
    made beforehand."""
    run = RunFolder(source.folder) if source.folder else None
    batches = [batch["trials"] for batch in run.batches() if "trials" in batch] if run else []
    said = [
        ngettext(
            "{trials:count} trials in {n:count} batch, in random order.",
            "{trials:count} trials in {n:count} batches, each in random order.",
            trials=sum(map(len, batches)),
            n=len(batches),
        )
    ]
    said = [*(said if batches else []), *(run.ending() if run else ())]
    blocks: list[Block] = [Prose(tuple(said))] if said else []
    if source.study and source.response == CAPACITY and "limited_by" in source.trials:
        blocks.append(_searches(source, source.study.factor_names()))
    return blocks


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
