"""A rehearsal: what is wrong with one trial at each end of the range is told before the others have cost anything."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone.errors import SweepError
from deadzone.language.catalogue import say
from deadzone.measuring.sweep.progress import Beside, Progress
from deadzone.measuring.sweep.running import run_sweep
from deadzone.store.run import Run, finished_trials
from deadzone.study.design import WARMUP_BLOCK, PlannedTrial, Treatment
from deadzone.study.plan import Plan

Judge = Callable[[pd.DataFrame], Sequence[Any]]
"""What is wrong with the trials at the ends, as `deadzone.explaining.findings.finding.Finding`, from the tidy table so far."""


class Rehearsing(Beside):
    """A progress that tells it as soon as both ends of the range have been tried, and asks whether to go on with an
    experiment that can have no verdict. A run that is resumed has been rehearsed."""

    def __init__(self, progress: Progress, plan: Plan, run: Run, judge: Judge) -> None:
        super().__init__(progress)
        self._run, self._judge = run, judge
        self._ends = {one.label() for one in plan.ends}
        self._waits = plan.design.rehearsal and not run.journal_file.exists()

    def show(self, done: int, total: int, current: str, left_s: float | None) -> None:
        """Tell how far it is, and what the rehearsal showed once it is over."""
        if self._waits and done >= len(self._ends):
            self._tell()
        self._progress.show(done, total, current, left_s)

    def _tell(self) -> None:
        records = self._run.records()
        finished = finished_trials(records)
        tried = {Treatment(one["levels"]).label() for one in records if one["trial"] in finished}
        if not self._ends <= tried:
            return
        self._waits = False
        found = self._judge(self._run.trials())
        for one in found:
            self.note(say("rehearsal.told", finding=one))
        if any(one.severity == "stops" for one in found) and not self.agrees(say("rehearsal.go_on")):
            raise SweepError(say("rehearsal.stopped"))


def rehearse(plan: Plan, judge: Judge) -> tuple[list[dict[str, Any]], Sequence[Any]]:
    """Measure one trial at each end of a plan's range and keep nothing: their records, and what is wrong.

    Raises what `run_sweep` raises.
    """
    ends = [PlannedTrial(i, WARMUP_BLOCK, 1, True, end) for i, end in enumerate(plan.ends, start=1)]
    with tempfile.TemporaryDirectory(prefix="deadzone-rehearsal-") as folder:
        run = Run.create(Path(folder), plan.study)
        run_sweep(plan, run, Progress(), lambda *_: iter([ends]))
        return run.records(), judge(run.trials())
