"""Where trials come from that are not all known beforehand: from a proposer that sees what was
measured, within a budget.

A batch is in the run's journal of batches before its first trial starts, so a run that was killed
goes on with it; where it was killed before, the same trials and the same seed give the same batch
again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deadzone.run.sweep.forecast import TrialTimes, remaining
from deadzone.run.sweep.progress import Progress
from deadzone.run.sweep.running import TrialSource, planned_trials, spent, stop
from deadzone.run.targets.interrupts import interrupts_later
from deadzone.store.run import RunFolder
from deadzone.study.design import NextTreatments, PlannedTrial, Treatment
from deadzone.study.plan import Plan
from deadzone.study.reasons import reason, recorded

if TYPE_CHECKING:
    import pandas as pd

Proposer = Callable[["pd.DataFrame"], NextTreatments]
"""The next trials, from the tidy table of those before without its warm-up; none where the sweep
may stop."""


def trials_of(plan: Plan, proposer: Proposer | None, progress: Progress) -> TrialSource:
    """Where the trials of a plan come from: from the plan; of an adaptive one from the proposer,
    batch by batch, until it asks for none, the budget is spent, or they took as long as the grid
    would."""
    if proposer is None or not plan.is_adaptive:
        return planned_trials

    def source(plan: Plan, run: RunFolder) -> Iterator[Sequence[PlannedTrial]]:
        finished = run.finished()
        batches = [batch for batch in run.batches() if "trials" in batch]
        for earlier in (plan.trials, batch_trials(batches[-1]) if batches else ()):
            if left := remaining(earlier, finished):
                yield left
        while True:
            with interrupts_later():
                table = run.trials()
            proposal = proposer(table[~table["warmup"]] if len(table) else table)
            records = run.records()
            times = TrialTimes(plan.study.design.cooldown_s, records)
            taken_s, grid_s = times.measured_s, times.further_s(plan.grid_trials) or 0.0
            if not proposal.treatments:
                return stop(run, progress, proposal.reason, proposal.open)
            n = sum(len(batch["trials"]) for batch in batches)
            is_long = n >= plan.most_trials or (batches and taken_s >= grid_s)
            if is_long and plan.study.design.kind != "search":  # which knows its number of trials
                return stop(run, progress, reason("as_long", n=n), proposal.open)
            tried = {record["trial"] for record in records}
            if batches and any(one["trial"] not in tried for one in batches[-1]["trials"]):
                # a trial that was expected to end after the budget did not start
                return stop(run, progress, spent(plan, run), proposal.open)
            batches.append(_record(plan, batches, proposal))
            run.append_batch(batches[-1])
            yield batch_trials(batches[-1])

    return source


def _record(
    plan: Plan, batches: Sequence[Mapping[str, Any]], proposal: NextTreatments
) -> dict[str, Any]:
    """A line of the journal of batches: the next one, which is a block; a replicate is counted for
    each treatment."""
    earlier = [Treatment(trial["levels"]).label() for batch in batches for trial in batch["trials"]]
    trials: list[dict[str, Any]] = []
    for number, treatment in enumerate(proposal.treatments, len(plan.trials) + len(earlier) + 1):
        earlier.append(treatment.label())
        replicate = earlier.count(treatment.label())
        trials.append({"trial": number, "replicate": replicate, "levels": dict(treatment.levels)})
    until = plan.study.design.until
    return {
        "batch": len(batches) + 1,
        "trials": trials,
        **({"stage": proposal.stage} if proposal.stage else {}),
        "gain": [float(gain) for gain in proposal.gain[: len(trials)]],
        "reason": recorded(proposal.reason),
        "until": until.model_dump(mode="json") if until else None,
        "budget_s": plan.study.design.budget_s,
    }


def batch_trials(batch: Mapping[str, Any]) -> list[PlannedTrial]:
    """The trials of a batch as it is recorded; none of the record of an end."""
    return [
        PlannedTrial(
            *(trial["trial"], batch["batch"], trial["replicate"], False),
            Treatment(trial["levels"]),
            batch.get("stage", ""),
        )
        for trial in batch.get("trials", ())
    ]
