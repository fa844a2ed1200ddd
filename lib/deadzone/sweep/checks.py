"""What can be wrong with a study besides its file: found before anything is made or measured."""

from __future__ import annotations

from deadzone.errors import StudyError, did_you_mean
from deadzone.store.table import IDENTITY, NOT_COLUMNS, SHARED
from deadzone.study.spec import Study
from deadzone.targets.base import Target
from deadzone.workloads.base import Workload
from deadzone.workloads.command import INPUTS, SCRATCH

JUDGED = tuple(name for name in SHARED if name not in ("status", "error", "trusted", "distrust_reason"))
"""Columns of every table that a study can have as its response."""


def check(study: Study, target: Target, workload: Workload) -> None:
    """Raise StudyError if names collide, a factor reaches nothing, or the response is measured by nobody."""
    check_names(study, workload)
    check_factors(study, target, workload)
    check_response(study, workload)


def check_names(study: Study, workload: Workload) -> None:
    """A factor or response must not take the name of another column, or of a folder."""
    taken = {*IDENTITY, *SHARED, *NOT_COLUMNS, INPUTS, SCRATCH}
    for kind, names in (("factor", study.factor_names()), ("response", workload.responses)):
        for name in names:
            if name in taken:
                raise StudyError(
                    f"the {kind} {name!r} has the name of something else; call it otherwise, for "
                    f"{', '.join(sorted(taken))} are taken."
                )
        taken |= set(names)


def check_factors(study: Study, target: Target, workload: Workload) -> None:
    """Every factor must reach the target or the program, and every placeholder be a factor."""
    workload.check(study.factor_names())
    for name in study.factor_names():
        if name not in target.factors and not workload.uses(name):
            known = (*target.factors, "threads")
            raise StudyError(
                f"the factor {name!r} changes nothing: the {study.target.kind} target puts "
                f"{', '.join(target.factors)} in force, and the {study.workload.kind} workload does not use it."
                f"{did_you_mean(name, known)}"
            )


def check_response(study: Study, workload: Workload) -> None:
    """The response must be a column that trials will have."""
    known = (*JUDGED, *workload.responses)
    name = study.response.name
    if name not in known:
        raise StudyError(
            f"response.name is {name!r}, which no trial measures.{did_you_mean(name, known)} Known: {', '.join(known)}."
        )
