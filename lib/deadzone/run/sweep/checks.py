"""What can be wrong with a study besides its file: found before anything is made or measured."""

from collections.abc import Sequence
from typing import Any

from deadzone.errors import StudyError, check_known, did_you_mean
from deadzone.run.targets.base import Target
from deadzone.run.workloads.base import Workload
from deadzone.run.workloads.command import INPUTS, SCRATCH
from deadzone.store.table import COLUMNS, NOT_COLUMNS, SHARED
from deadzone.study.levels import check_once, check_placeholders, placed
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
        ("factor", plan.study.factor_names(), {*taken, *workload.responses}),
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
    names = plan.study.factor_names()
    services = [planned.spec for planned in plan.services.values()]
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
    before_start = (PYTHON, *(reached or (INPUTS,)))
    check_placeholders(service.ready.argv or (), (PYTHON, PORT, HOST, *reached))
    check_placeholders(service.restore or (), before_start)
    check_placeholders(service.hook or (), (*factors, *before_start))
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
