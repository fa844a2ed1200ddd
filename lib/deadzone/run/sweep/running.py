"""The sweep: executes every trial of a study that its run does not hold yet."""

import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from deadzone import packs
from deadzone.errors import (
    DeadzoneError,
    OtherWorkloadError,
    StoreError,
    StudyError,
    SweepError,
    UnsearchableError,
    resume_option,
)
from deadzone.language.messages import Message, _
from deadzone.measurement import Interference, Measurement
from deadzone.run.sweep.failing import FAILURES_IN_A_ROW, Failures
from deadzone.run.sweep.forecast import TrialTimes, ahead, remaining
from deadzone.run.sweep.kinds import take_back
from deadzone.run.sweep.measuring import Measuring
from deadzone.run.sweep.parallel import in_parallel
from deadzone.run.sweep.printed import printed_counts
from deadzone.run.sweep.progress import Progress
from deadzone.run.targets.base import Surroundings
from deadzone.run.targets.interrupts import interrupts_later
from deadzone.run.trust import HARMLESS, NeighbourEffect, doubts, foreign_cpu
from deadzone.run.workloads.base import Outcome
from deadzone.store.command_lines import way_on
from deadzone.store.provenance import IDENTITY, workload_changes
from deadzone.store.run import LOGS, RunFolder, finished_trials
from deadzone.store.table import OTHER_WORKLOAD, SEARCH_STAGE
from deadzone.study.design import PlannedTrial, Treatment
from deadzone.study.masking import masked
from deadzone.study.plan import Plan
from deadzone.study.reasons import reason, recorded

if TYPE_CHECKING:
    import pandas as pd

MEASURED = (
    *("started_at", "wall_s", "user_s", "sys_s", "cpu_efficiency", "max_rss_bytes"),
    *("nr_periods", "nr_throttled", "throttled_s", "exit_code"),
)
INTERFERENCE = ("foreign_cpu", "steal", "memory_pressure", "io_pressure")
"""Figures of a measurement, and of what disturbed it, that are columns of the journal."""

SHOWN_LINES, SHOWN_LINE = 6, 80
"""Lines with numbers that are shown where a response was not found, and how much of each
[characters]."""


def measuring_of(
    plan: Plan, run: RunFolder | None = None, around: Surroundings | None = None
) -> Measuring:
    """How the trials of a plan are measured: a program on a target, or a client that asks a
    service.

    run: keeps the logs of a service. around: what a target is told.
    """
    if plan.services:
        served: Measuring = packs.part(lambda pack: pack.services)(
            plan, run.folder / LOGS if run else None, around
        )
        return served
    return Measuring(plan, around)


Judge = Callable[["pd.DataFrame"], Sequence[Any]]
"""What is wrong with the trials at the ends of the range, as `deadzone.analysis.finding.Finding`,
from the tidy table so far."""

TrialSource = Callable[[Plan, RunFolder], Iterator[Sequence[PlannedTrial]]]
"""Where the trials of a run come from, batch by batch: asked for the next one when the last is
measured and recorded."""


def planned_trials(plan: Plan, run: RunFolder) -> Iterator[Sequence[PlannedTrial]]:
    """The trials of the plan that the run does not hold yet, all at once."""
    yield remaining(plan.trials, run.finished())


def run_sweep(
    plan: Plan,
    run: RunFolder,
    progress: Progress | None = None,
    source: TrialSource = planned_trials,
    judge: Callable[[], Judge] | None = None,
) -> RunFolder:
    """Execute every trial of a source that the run does not hold yet, by default those of the plan.

    judge: loads what judges the rehearsal, so that what is wrong with one trial at each end of the
    range is told before the others have cost anything; by default nothing is told. A run that is
    resumed has been rehearsed.

    Raises SweepError when trials keep failing, StoreError when nothing can be recorded any more,
    TargetError or WorkloadError when measuring cannot start. Whatever was measured is in the run's
    journal and tables; a run that ends before its first trial leaves no folder.
    """
    progress = progress or Progress()
    with run.lock():
        run.check_not_pruned()
        run.check_same_study(plan.study)
        if not plan.is_adaptive and any("trials" in batch for batch in run.batches()):
            why = plan.warning or "its trials are planned now."
            raise StoreError(f"Run {run.run_id} chose its trials: {why} Start a new run.")
        run.provenance()  # one that is damaged is refused before anything is begun
        batches = source(plan, run)
        try:
            around = Surroundings(run.run_id, run.folder, lambda text: progress.note(masked(text)))
            if batch := next(batches, ()):
                with measuring_of(plan, run, around) as measuring:
                    if plan.warning:
                        progress.note(plan.warning)
                    is_new = not run.journal_file.exists()
                    with interrupts_later():  # it loads while the neighbours are looked at
                        judging = judge() if judge and is_new and plan.is_rehearsed else None
                    facts = measuring.prepare()
                    changed = _other_workload(plan, run, facts[IDENTITY])
                    sweep = _Sweep(plan, run, progress, measuring, judging, changed)
                    run.write_provenance(facts)
                    while batch:
                        sweep.measure_all(batch)
                        batch = next(batches, ())
                if sweep.is_spent and not plan.is_adaptive:
                    stop(run, progress, spent(plan, run))
            else:  # one that was killed after its last trial gave nothing back
                take_back(plan.targets.values(), around.note)
            run.write_tables()
        except BaseException as error:
            kept = _keep(run, plan)
            if isinstance(error, OtherWorkloadError):
                kept = "Nothing more was measured."
            elif isinstance(error, UnsearchableError):
                kept = "Fix it, then start a new run."
            elif isinstance(error, DeadzoneError):  # the cause comes first
                error.args, kept = (*error.args, kept), ""
            progress.close(kept)
            raise
        progress.close(f"{_counted(run, _known(run, plan))}, recorded in {run.folder}")
    return run


def _other_workload(plan: Plan, run: RunFolder, identity: Mapping[str, str]) -> str:
    """What differs from the workload that a run began with, in words. Raises OtherWorkloadError,
    with two ways to go on, unless the study says to continue."""
    changes = workload_changes(run.provenance(), identity)
    if changes and plan.study.target.on_change == "stop":
        raise OtherWorkloadError(
            f"Run {run.run_id} began with another workload: {changes}. Start a new run; or go on "
            f"with {resume_option(run.run_id, is_changed=True)}, which names the trials of the "
            "other workload and does not trust them."
        )
    return changes


def _known(run: RunFolder, plan: Plan) -> int:
    """How many trials are known of: those of the plan, and those that were chosen."""
    return len(plan.trials) + sum(len(batch.get("trials", ())) for batch in run.batches())


def _counted(run: RunFolder, n_planned: int) -> str:
    """How many of the planned trials a run holds, with what was repeated and is not trusted."""
    records = run.records()
    last = {record["trial"]: record for record in records if record["final"]}
    judged = [bool(record["trusted"]) for record in last.values() if not record["warmup"]]
    attempts = f" in {len(records)} attempts" if len(records) > len(last) else ""
    doubted = f", {judged.count(False)} of the {len(judged)} after the warm-up not trusted"
    return f"{len(last)} of {n_planned} trials measured{attempts}{'' if all(judged) else doubted}"


def _keep(run: RunFolder, plan: Plan) -> str:
    """After a sweep that was stopped: keep what there is, and say what is left to do."""
    if not run.folder.is_dir():
        return (
            f"{run.folder} is gone: what was measured is where it was moved to; put it back, then "
            f"go on with {resume_option(run.run_id)}."
        )
    try:
        if not run.journal_file.exists():
            run.discard()
            return "Nothing was measured."
        done, records = len(run.finished()), run.records()
        n_planned = _known(run, plan)
        run.write_tables()
    except (StoreError, MemoryError) as error:
        return f"The tables of run {run.run_id} were not written, its journal is kept: {error}"
    if done >= n_planned and not plan.is_adaptive:
        report = f"`deadzone report {plan.study.study}/{run.run_id}`"
        return f"All {done} trials are measured and kept in {run.folder}; {report} publishes them."
    kept = f"{done} of {n_planned} trials are kept in {run.folder}"
    if any(record["status"] == "ok" for record in records) or not records:
        return f"{kept}; go on with {on}." if (on := way_on(run)) else f"{kept}."
    return f"{kept}, none of which ended well; fix the cause, then start a new run."


def spent(plan: Plan, run: RunFolder) -> Message:
    """Why a sweep ends whose budget of time allows no further trial."""
    return reason("budget_spent", budget_s=plan.study.design.budget_s, n=len(run.finished()))


def stop(
    run: RunFolder, progress: Progress, why: Message, still_open: Sequence[Message] = ()
) -> None:
    """Record and say why a sweep ends before its plan does, and what is still open."""
    run.append_batch({"stopped": recorded(why), "open": [*map(recorded, still_open)]})
    progress.note(why)
    for question in still_open:
        progress.note(reason("still_open", question=question))


class _Sweep:
    """How far a sweep is, over all its batches. is_spent: whether a trial was left out, for it was
    expected to end after the budget of time."""

    def __init__(
        self,
        plan: Plan,
        run: RunFolder,
        progress: Progress,
        measuring: Measuring,
        judge: Judge | None,
        other_workload: str,
    ) -> None:
        """Takes account of what the run holds already. judge: what judges the rehearsal, where
        there is one. other_workload: what is another one since the run began, in words."""
        self._plan, self._run, self._progress = plan, run, progress
        self._measuring, self._judge = measuring, judge
        self._changed = (other_workload,) if other_workload else ()
        self._recognising = packs.part(lambda pack: pack.recognising)(
            measuring, progress, plan.study.trust.max_foreign_cpu
        )
        records = run.records()
        self._recognising.go_on(records)
        self._times = TrialTimes(plan.study.design.cooldown_s, records)
        self._harm = NeighbourEffect(plan.study.response.name)
        for record in records:
            self._harm.add(record)
        self._attempts: dict[int, int] = {one["trial"]: one["attempt"] for one in records}
        self._failures = Failures(plan, records)
        self._harmless_noted = self._disturbed_noted = self.is_spent = False
        self._again: list[PlannedTrial] = []
        self._tried = self._unread = self._losses = 0
        self._done = self._total = len(finished_trials(records))
        self._at_once, self._fresh = 1, not records
        if plan.is_adaptive:
            progress.choose()
        self._until_s = time.monotonic() + (plan.study.design.budget_s or math.inf)
        self._turn = threading.Lock()

    def measure_all(self, batch: Sequence[PlannedTrial]) -> None:
        """Measure and record every trial of a batch, block by block, or as many at once as there
        are workers; those that were disturbed again at the end of it, when the machine may be
        quiet."""
        self._total += len(batch)
        is_whole = len(self._measuring.workers()) > 1
        for number, block in groupby(batch, lambda trial: not is_whole and trial.block):
            trials = [*block]
            if number > 1 and not self._plan.is_adaptive and not self._fits(trials):
                return  # an uneven block would weigh some levels more
            self._with_repeats(trials)

    def _with_repeats(self, trials: Sequence[PlannedTrial]) -> None:
        while trials:
            workers = self._measuring.workers()
            self._at_once = len(workers)
            if len(workers) > 1:
                # To stop all is not to stop each: a worker that is stopped gives up its pod,
                # which is right for one that is done.
                in_parallel(
                    trials,
                    workers,
                    self._measure,
                    self._plan.study.design.cooldown_s,
                    self._measuring.stop,
                    Measuring.stop,
                )
            else:
                for trial in trials:
                    self._measure(self._measuring, trial)
            trials, self._again = self._again, []

    def _fits(self, trials: Sequence[PlannedTrial]) -> bool:
        """Whether trials are expected to end within the study's budget of time, which a run that
        goes on has anew."""
        expected_s = sum(map(self._times.typical_s, trials))
        fits = time.monotonic() + expected_s <= self._until_s
        self.is_spent |= not fits
        return fits

    def _measure(self, worker: Measuring, trial: PlannedTrial) -> None:
        """Measure a trial once and record it, unless it is left out; it is to come again while it
        was lost or disturbed, up to the study's bound. In a resumed run the attempts of before
        count."""
        with self._turn:
            if trial.treatment.label() in self._failures.hopeless or not self._fits([trial]):
                self._total -= 1
                return
            self._tell_rehearsal()
            total, left_s = ahead(self._plan, self._times, self._done, self._total)
            if left_s is not None:
                left_s = min(left_s / self._at_once, max(self._until_s - time.monotonic(), 0.0))
            self._progress.show(self._done, total, trial.treatment.label(), left_s)
        if self._tried and not worker.is_one_of_many:
            time.sleep(self._plan.study.design.cooldown_s)
        measured, outcome = worker.measure(trial.treatment)
        measured = replace(measured, changed=(*self._changed, *measured.changed))
        trust, limit = self._plan.study.trust, self._plan.limits_of(trial.treatment).cpu_limit
        measured, recognised = self._recognising.see(measured)
        harmless = self._is_harmless(measured.interference)
        reasons = doubts(measured, limit, trust, self._plan.study.workload.waits_on_io, harmless)
        lost = (measured.error or "it was lost",) if measured.status == "lost" else ()
        attempt = self._attempts.get(trial.trial, 0) + 1
        again = bool(lost or reasons) and self._is_repeated(trial, attempt, measured, reasons)
        record = trial_record(trial, attempt, measured, outcome, reasons, final=not again)
        record |= {"recognised": recognised} if recognised else {}
        with self._turn:
            self._tried += 1
            self._harm.add(record)
            self._times.add(record)
            samples = (*measured.telemetry, *outcome.samples)
            self._run.append(record, samples, outcome.histograms, outcome.profiles)
            self._attempts[trial.trial] = attempt
            if again:
                self._again.append(trial)
            if (again or (reasons and not trial.warmup)) and not self._disturbed_noted:
                # once: beside a busy neighbour nearly every trial is disturbed
                self._disturbed_noted, why = True, masked((*lost, *reasons)[0])
                self._progress.note(
                    f"trial {trial.trial} is {'repeated' if again else 'not trusted'}: {why}; more "
                    "are counted at the end"
                )
            self._losses = self._losses + 1 if lost else 0
            if self._losses >= FAILURES_IN_A_ROW and not worker.is_one_of_many:
                raise SweepError(
                    f"The last {self._losses} trials were lost, the last one with: "
                    f"{masked('; '.join(lost))}. The sweep was stopped."
                )
            self._take_account(record, measured, outcome)

    def _tell_rehearsal(self) -> None:
        """What both ends of the range showed, as soon as they have been tried. Raises SweepError
        where the user does not go on with an experiment that can have no verdict."""
        if not (judge := self._judge):
            return
        tried = {Treatment(record["levels"]).label() for record in self._run.records()}
        if any(end.label() not in tried for end in self._plan.ends):
            return
        self._judge = None
        with interrupts_later():
            findings = judge(self._run.trials())
        for finding in findings:
            self._progress.note(_("Rehearsal: {finding}", finding=finding))
        is_vain = any(finding.severity == "stops" for finding in findings)
        if is_vain and not self._progress.agrees(_("Go on all the same?")):
            raise SweepError(_("The sweep was stopped after its rehearsal."))

    def _is_repeated(
        self, trial: PlannedTrial, attempt: int, measured: Measurement, reasons: Sequence[str]
    ) -> bool:
        """Whether a trial that was lost or disturbed is measured again: not one for warm-up that
        was disturbed alone, nor one beside others that work so steadily that its repeat would be
        disturbed alike."""
        trust, bound = self._plan.study.trust, self._plan.study.trust.max_attempts
        if measured.status != "lost":
            asks_again = self._recognising.asks_again(measured)
            beside = foreign_cpu(measured.interference, trust.max_foreign_cpu)
            is_steady = self._harm.is_steady and [*reasons] == [beside]
            if trial.warmup or (is_steady and not asks_again):
                return False
            bound += self._recognising.looks if asks_again else 0
        return attempt < bound and not measured.changed

    def _is_harmless(self, seen: Interference) -> bool:
        """Whether neighbours that would make a trial distrusted make no difference in this run;
        told the first time."""
        is_disturbed = foreign_cpu(seen, self._plan.study.trust.max_foreign_cpu)
        if not is_disturbed or not self._harm.is_none(seen.foreign_cpu):
            return False
        if not self._harmless_noted:
            self._progress.note(
                f"other processes used {seen.foreign_cpu:.2f} cores, which made less than "
                f"{HARMLESS:.0%} of difference to the trials before: trials beside as much are "
                "trusted"
            )
        self._harmless_noted = True
        return True

    def _take_account(
        self, record: Mapping[str, Any], measured: Measurement, outcome: Outcome
    ) -> None:
        """Look at what an attempt printed and whether it failed. Raises StudyError where nothing
        can be read, SweepError where no trial ends well any more."""
        out, err = measured.stdout, measured.stderr
        printed = masked((out + err if outcome.unread else err or out).strip())
        self._unread += outcome.unread
        # A program may print nothing at one level; at two of them the expression is what is wrong.
        enough = min(2, len(self._plan.treatments))
        if self._fresh and self._tried == self._unread == enough:
            raise StudyError(_unread(record["error"], printed))
        if record["final"]:
            self._done += 1
            if sentence := self._failures.add(record, printed):
                self._progress.note(sentence)


def trial_record(
    trial: PlannedTrial,
    attempt: int,
    measured: Measurement,
    outcome: Outcome,
    reasons: Sequence[str],
    final: bool,
) -> dict[str, Any]:
    """A line of the journal."""
    failed = measured.status == "ok" and outcome.failure is not None
    error = outcome.failure if failed else measured.error
    told = {
        "foreign_processes": ", ".join(
            f"{name.replace(',', ' ')} {cores:.2f}"  # a name loses what separates
            for name, cores in measured.interference.processes
        ),
        OTHER_WORKLOAD: masked("; ".join(measured.changed)),
        "prepared_processes": outcome.prepared,
        "traceback": masked(outcome.traceback),
        SEARCH_STAGE: trial.stage,
    }
    return {
        **{name: getattr(trial, name) for name in ("trial", "block", "replicate", "warmup")},
        "attempt": attempt,
        "final": final,
        "levels": dict(trial.treatment.levels),
        **{name: getattr(measured, name) for name in MEASURED},
        **{name: getattr(measured.interference, name) for name in INTERFERENCE},
        "status": (outcome.status or "failed") if failed else measured.status,
        "error": masked(error) if error else None,
        "trusted": not reasons,
        "distrust_reason": "; ".join(reasons) or None,
        **measured.placed,
        **measured.counted,
        **{name: text for name, text in told.items() if text},
        **printed_counts(measured.stdout, measured.stderr, outcome.units),
        "responses": dict(outcome.responses),
    }


def _unread(error: str, printed: str) -> str:
    """Why nothing can be read, with the places where numbers stand: the study is wrong and not the
    program."""
    lines = [line.strip()[:SHOWN_LINE] for line in printed.splitlines() if re.search(r"\d", line)]
    places = "; ".join(map(repr, lines[-SHOWN_LINES:]))
    shown = repr(printed[:SHOWN_LINE]) if printed else "nothing"
    where = f"numbers stand in {places}" if places else f"it printed {shown}"
    return (
        f"In the first trials {error}: {where}. Change the regular expression (`--response` of "
        "`try`, `workload.responses` of a study)."
    )
