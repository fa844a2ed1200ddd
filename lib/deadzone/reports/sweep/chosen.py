"""What an adaptive sweep chose when, why it ended, and what was open then."""

from deadzone.language.catalogue import say, spoken
from deadzone.reports.document.display import Block, Prose
from deadzone.reports.document.tabling import table_of
from deadzone.reports.sweep.source import Source
from deadzone.store.run import Run
from deadzone.study.design import Treatment
from deadzone.study.levels import format_level


def chosen_trials(source: Source) -> list[Block]:
    """The batches with their reasons, and the end in sentences; nothing of a sweep whose plan was made beforehand."""
    kept = Run(source.folder).batches() if source.folder else []
    batches, ends = [one for one in kept if "trials" in one], [one for one in kept if "stopped" in one]
    found: list[Block] = []
    if batches:
        rows = [
            {
                "batch": batch["batch"],
                "chosen": ", ".join(_setting(one["levels"]) for one in batch["trials"]),
                "why": batch["reason"][spoken()],
            }
            for batch in batches
        ]
        n = sum(len(one["trials"]) for one in batches)
        found.append(table_of("sweep.batches", rows, n=n, batches=len(batches)))
    if ends:
        still_open = [say("adaptive.still_open", question=one[spoken()]) for one in ends[-1]["open"]]
        found.append(Prose((ends[-1]["stopped"][spoken()], *still_open)))
    return found


def _setting(levels: dict[str, int | float | str]) -> str:
    """The levels of a trial: the level alone where there is one factor."""
    return format_level(*levels.values()) if len(levels) == 1 else Treatment(levels).label()
