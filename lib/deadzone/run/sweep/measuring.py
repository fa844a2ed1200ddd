"""Measuring one treatment: its limits put in force, its program run, its own responses read.

The sweep decides what is measured and how often; this module alone knows what a measurement takes.

What works for the trials beside the program, and the profiles that are taken of it, come from the
packs that bring them.
"""

from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from typing import Any, Self

from deadzone import packs
from deadzone.errors import LostError, StudyError
from deadzone.measurement import Measurement, not_measured
from deadzone.run.sweep.checks import check
from deadzone.run.sweep.kinds import make_target, make_workload
from deadzone.run.targets.base import Seen, Surroundings, Target
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.workloads.base import Outcome, Workload, with_profiles
from deadzone.store.provenance import IDENTITY, git_facts, host_facts
from deadzone.study.design import Treatment
from deadzone.study.masking import masked
from deadzone.study.plan import NOWHERE, Plan


class Measuring:
    """A plan's workload on its target. A context manager: the target is open inside it."""

    is_one_of_many = False
    """Whether others measure at the same time, so that what is lost here says nothing of the next
    trial."""

    def __init__(
        self, plan: Plan, around: Surroundings | None = None, target: Target | None = None
    ) -> None:
        """around: what the target is told. target: where the workload runs, by default the
        plan's."""
        self._plan = plan
        self._note = (around or Surroundings()).note
        self.target = target or make_target(plan.targets[NOWHERE], around)
        self._runs_on = self.target
        self._workload = self._at_place_of(
            self.target, make_workload(plan.study.workload, plan.folder, plan.treatments)
        )
        self._profiling = packs.part(lambda pack: pack.profiling)(plan.study.profiles)
        self.coresident_processes = packs.part(lambda pack: pack.coresident_processes)(
            plan.study.belongs, self._note
        )
        self.target.belongs = self.coresident_processes
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: ExitStack) -> None:
        """Open what trials need; the stack closes it."""
        stack.enter_context(self.target)
        stack.callback(self._finish)  # what it cleans up lies in the target
        stack.enter_context(self.coresident_processes)

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def _finish(self) -> None:
        with undisturbed():
            words = self._workload.finish()
        if words:
            self._note(words)

    def check(self) -> None:
        """Raise StudyError if the study cannot be measured as it is written; nothing is opened."""
        check(self._plan, [self.target], self._workload, self._profiling)

    def workers(self) -> "tuple[Measuring, ...]":
        """As many as trials may run at once, each with a place of its own on the target."""
        return tuple(map(self._worker, self.target.workers())) or (self,)

    def _worker(self, part: Target) -> "Measuring":
        worker = copy(self)
        worker.is_one_of_many = True
        worker._runs_on = part
        worker._workload = self._at_place_of(part, copy(self._workload))
        return worker

    def _at_place_of(self, target: Target, workload: Workload) -> Workload:
        """The workload, moved to where the target runs programs, if that is not here.

        Raises StudyError for a workload that runs on this machine only.
        """
        if target.place is not None and not workload.move_to(target.place):
            raise StudyError(
                f"workload.kind: {self._plan.study.workload.kind} runs on this machine only, not "
                f"on the {self._plan.targets[NOWHERE].spec.kind} target."
            )
        return workload

    @property
    def starts(self) -> bool:
        """Whether a command of the study runs before its trials, which may start what belongs to
        them."""
        return any(getattr(self._plan.study.workload, key, None) for key in ("setup", "prepare"))

    def stop(self) -> None:
        """Let whatever the workers wait for end soon."""
        self._runs_on.stop()

    def prepare(self) -> dict[str, Any]:
        """Get everything ready before the first trial; returns the facts for the provenance.

        Raises WorkloadError if a program or an input is missing.
        """
        if setup := getattr(self._plan.study.workload, "setup", None):
            self._note(f"first the setup runs: {masked(' '.join(map(str, setup)))}")
        profiler = self._profiling.prepare()
        prepared = self._workload.prepare_sweep(self.target.scratch)
        facts = {
            **host_facts(),
            **self._facts(),
            **self.coresident_processes.facts(self.starts),
            **profiler,
            **prepared,
            **git_facts(self._plan.folder),
            **self._identity(),
        }
        self.target.await_counts()
        return facts

    def _facts(self) -> dict[str, Any]:
        """Where and how trials are measured, for the provenance."""
        return self.target.facts()

    def _identity(self) -> dict[str, Any]:
        """What is measured, as far as it can change between two parts of a run, for the
        provenance."""
        return {IDENTITY: {**self.target.identity(), **self._workload.identity()}}

    def measure(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        """Run one trial of a treatment.

        What belongs to it is there, under its limits, or the trial is lost. Raises TargetError or
        WorkloadError where it cannot be started as the study asks.
        """
        return self.coresident_processes.measure(
            treatment.levels, lambda: self._looked_after(treatment)
        )

    def _looked_after(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        """A trial; lost where what it runs in is gone or replaced, with what others changed
        there."""
        where = self._where(treatment)
        try:
            measured, outcome = self._measure(treatment)
            seen = where.look() if where else Seen()
        except LostError as error:
            self._displace(treatment)
            return not_measured(str(error), "lost"), Outcome()
        if seen.is_other:
            self._displace(treatment)
        if seen.lost:
            measured = replace(measured, status="lost", error=seen.lost)
        return replace(measured, changed=seen.changed), outcome

    def _where(self, treatment: Treatment) -> Target | None:
        """What the trial's program or service runs in; None where it is only reached."""
        return self._runs_on

    def _displace(self, treatment: Treatment) -> None:
        """What the treatment was prepared in is another one now: the next trial of it prepares it
        anew."""

    def _measure(self, treatment: Treatment) -> tuple[Measurement, Outcome]:
        self._runs_on.prepare(treatment)
        command = self._workload.prepare_trial(treatment.levels, self._runs_on.scratch)
        self.coresident_processes.ready(treatment.levels, self.starts)
        with self._profiling.capture(treatment.levels, self._program) as profiles:
            measured = self._runs_on.execute(command, self._plan.study.design.timeout_s)
        ended_well = measured.status == "ok"
        outcome = (
            self._workload.outcome(measured, self._runs_on.scratch) if ended_well else Outcome()
        )
        return measured, with_profiles(outcome, profiles)

    def _program(self) -> int | None:
        """Process id of the program that runs now, None if it is not on this machine or has
        ended."""
        processes = self._runs_on.processes()
        return processes[1] if len(processes) > 1 else None
