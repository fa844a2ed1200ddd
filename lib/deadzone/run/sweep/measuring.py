"""Measuring one treatment: its limits put in force, its program run, its own responses read.

The sweep decides what is measured and how often; this module alone knows what a measurement takes.

What works for the trials beside the program, and the profiles that are taken of it, come from the
packs that bring them.

The workloads, by the kind a study names; a trial of one waits for the libraries of no other.

What can be wrong with a study besides its file: found before anything is made or measured.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from deadzone import packs
from deadzone.errors import LostError, StudyError, check_known, did_you_mean
from deadzone.measurement import Measurement, not_measured
from deadzone.run.targets.base import Seen, Surroundings, Target
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.targets.registry import make_target
from deadzone.run.workloads.base import Outcome, Workload, with_profiles
from deadzone.run.workloads.command import INPUTS, SCRATCH, CommandWorkload
from deadzone.store.provenance import IDENTITY, git_facts, host_facts
from deadzone.store.table import COLUMNS, NOT_COLUMNS, SHARED
from deadzone.study import workload_specs
from deadzone.study.design import Treatment
from deadzone.study.levels import check_once, check_placeholders, placed
from deadzone.study.masking import masked
from deadzone.study.objective_specs import DERIVED
from deadzone.study.plan import NOWHERE, Plan
from deadzone.study.service_specs import (
    DATA,
    ENVIRONMENT,
    HOST,
    PORT,
    PYTHON,
    SERVICE_PLACEHOLDERS,
    ServiceSpec,
)
from deadzone.study.target_specs import LOCAL
from deadzone.study.workload_spec import WorkloadSpec

MARKS = ("status", "error", "trusted", "distrust_reason", "counted")
JUDGED = tuple(name for name in SHARED if name not in MARKS)
"""Columns of every table that a study can have as its response."""


def check(
    plan: Plan,
    targets: Sequence[Target],
    workload: Workload,
    profiling: Any,
    served: Sequence[str] = (),
) -> None:
    """Raise StudyError if names collide, a factor reaches nothing or nothing measures the response.

    targets, workload, profiling: what will execute the plan. served: columns that every trial with
    a service has.
    """
    theirs = tuple(column for member in plan.study.belongs for column in member.columns)
    responses = (*JUDGED, *workload.responses, *served, *theirs)
    if plan.study.belongs and plan.study.target.kind != LOCAL and not plan.services:
        raise StudyError(
            "belongs: what runs on this machine belongs to trials on this machine, and these run "
            f"on the {plan.study.target.kind} target."
        )
    check_names(plan, workload, served)
    check_factors(plan, targets, workload)
    if plan.study.search:
        for column in plan.study.objectives:
            check_response(column, (*responses, *DERIVED), "objectives")
    else:
        check_response(plan.study.response.name, responses)
    profiling.check(plan, responses)


def check_names(plan: Plan, workload: Workload, served: Sequence[str]) -> None:
    """A factor or response must not take the name of another column, or of a folder."""
    taken = {*COLUMNS, *NOT_COLUMNS, INPUTS, SCRATCH}
    taken |= {column for member in plan.study.belongs for column in member.columns} - {
        *_limits_of_belongs(plan)
    }
    if plan.services:
        taken |= {*SERVICE_PLACEHOLDERS, PYTHON} | ({*served} - {*workload.responses})
    for kind, names, others in (
        ("factor", plan.factors, {*taken, *workload.responses}),
        ("response", workload.responses, taken),
    ):
        for name in names:
            if name.lower() in others:
                raise StudyError(
                    f"the {kind} {name!r} has the name of something else: a column of every trial, "
                    f"or a placeholder. Call it otherwise, such as 'my_{name}'."
                )


def check_factors(plan: Plan, targets: Sequence[Target], workload: Workload) -> None:
    """Every factor must reach a target, a service or the program, and every placeholder be a
    factor."""
    names, services = plan.factors, [planned.spec for planned in plan.services.values()]
    workload.check((*names, *(SERVICE_PLACEHOLDERS if services else ())))
    for service in services:
        _check_service_placeholders(service, names)
    reached = (*(name for target in targets for name in target.factors), *_limits_of_belongs(plan))
    in_force = tuple(dict.fromkeys(reached))
    served = {name for service in services for name in placed(service.templates())}
    served |= {ENVIRONMENT} if plan.services.keys() - {NOWHERE} else set()
    for name in names:
        if name not in {*in_force, *served} and not workload.uses(name):
            known = (*in_force, "threads")
            raise StudyError(
                f"the factor {name!r} changes nothing: the {plan.study.target.kind} target puts "
                f"{', '.join(in_force) or 'nothing'} in force, and the {plan.study.workload.kind} "
                "workload does not use "
                f"it{', nor does the service' if services else ''}.{did_you_mean(name, known)}"
            )


def _limits_of_belongs(plan: Plan) -> tuple[str, ...]:
    """Factors that limit what belongs to the trials."""
    return tuple(name for member in plan.study.belongs for name in member.factors)


def _check_service_placeholders(service: ServiceSpec, factors: Sequence[str]) -> None:
    """Raise StudyError for a placeholder of a service that is neither a factor nor something
    Deadzone fills in."""
    given = (*factors, PYTHON, SCRATCH, INPUTS, PORT, HOST, *((DATA,) if service.data else ()))
    reached = SERVICE_PLACEHOLDERS if service.url else ()
    check_placeholders(service.templates(), (*given, *reached))
    if service.read_back:
        factor = service.read_back.factor
        sentence = f"service.read_back.factor is {factor!r}, which is no factor"
        check_known(StudyError, sentence, factor, factors)
    unmeasured = (*(service.restore or ()), *(service.ready.argv or ()))
    check_placeholders(unmeasured, (PYTHON, PORT, HOST, *reached))
    check_once("service.setup", service.setup or (), factors, (INPUTS, PYTHON))
    if service.argv and service.port is None and PORT not in placed(service.templates()):
        raise StudyError(
            "service.argv names no {port}, so it is not known where the service listens; write "
            "{port} in it, or in service.env, or give service.port."
        )


def check_response(name: str, known: Sequence[str], key: str = "response.name") -> None:
    """The response, or what an objective bounds, must be a column that trials will have. key: where
    the study names it."""
    sentence = f"{key} is {name!r}, which no trial measures"
    check_known(StudyError, sentence, name, dict.fromkeys(known), "Known:")


def make_workload(
    spec: WorkloadSpec, folder: Path, treatments: Sequence[Treatment] = ()
) -> Workload:
    """The workload of a specification; folder is where the study file lies, treatments those it
    will be asked for."""
    levels = [treatment.levels for treatment in treatments]
    match spec:
        case workload_specs.FfmpegWorkloadSpec():
            from deadzone.run.workloads.ffmpeg import FfmpegWorkload

            return FfmpegWorkload(spec)
        case workload_specs.CommandWorkloadSpec():
            return CommandWorkload(spec, folder, levels)
        case workload_specs.PythonWorkloadSpec():
            from deadzone.run.workloads.python import PythonWorkload

            return PythonWorkload(spec)
    made: Workload = packs.load(packs.kind_of("workloads", spec.kind).make)(spec, folder, levels)
    return made


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
        workload = make_workload(plan.study.workload, plan.folder, plan.treatments)
        self._workload = self._at_place_of(self.target, workload)
        self._profiling = packs.part(lambda pack: pack.profiling)(plan.study.profiles)
        self.coresident_processes = packs.part(lambda pack: pack.coresident_processes)(
            plan.study.belongs, self._note
        )
        self.target.belongs = self.coresident_processes
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self._finish)
            self._open(stack)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: ExitStack) -> None:
        """Open what trials need; the stack closes it."""
        stack.enter_context(self.target)
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
        workload = self._plan.study.workload
        return any(getattr(workload, key, None) for key in ("setup", "prepare"))

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
        self.target.await_counts()
        return {
            **host_facts(),
            **self._facts(),
            **self.coresident_processes.facts(self.starts),
            **profiler,
            **prepared,
            **git_facts(self._plan.folder),
            **self._identity(),
        }

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
            measured = self._runs_on.execute(command, self._plan.design.timeout_s)
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
