"""Profiles beside a trial: where a study asks for them, they are taken while its load runs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from deadzone.plugins import Level, Plan, StudyError, check_known, placeholders
from deadzone.study.profile_specs import SERVICE_URL, ProfilesSpec
from deadzone_profiles.capturing import CaptureResult, Capturing, Subject, make_profiler


class StudyProfiling:
    """The profiles of a study's trials; nothing happens where it asks for none."""

    def __init__(self, spec: ProfilesSpec | None) -> None:
        self._spec = spec
        self._profiler = make_profiler(spec) if spec else None

    def prepare(self) -> dict[str, Any]:
        """Facts for the provenance. Raises WorkloadError if the profiler is not installed."""
        return self._profiler.check() if self._profiler else {}

    def capture(
        self, levels: Mapping[str, Level], process: Callable[[], int | None]
    ) -> AbstractContextManager[CaptureResult]:
        """Take profiles as long as the context lasts, which is as long as the load does."""
        if self._spec is None or self._profiler is None:
            return nullcontext(CaptureResult())
        return Capturing(self._spec, self._profiler, Subject(levels, process))

    def check(self, plan: Plan, responses: Sequence[str]) -> None:
        """Raise StudyError if the profiles of a study are of nothing, or name what it does not
        have.

        responses: columns that trials will have, besides the factors.
        """
        spec, factors = plan.study.profiles, plan.factors
        if spec is None:
            return
        if spec.profiler == "pprof" and spec.url is None and not plan.services:
            raise StudyError(
                "profiles.url is missing; without a service it says where the pages of pprof are"
            )
        known = (*factors, *((SERVICE_URL,) if plan.services else ()))
        for name in placeholders(spec.url or ""):
            check_known(
                StudyError, f"profiles.url names {{{name}}}, which is no factor", name, known
            )
        if (factor := spec.change.factor) is not None:
            sentence = f"profiles.change.factor is {factor!r}, which is no factor"
            check_known(StudyError, sentence, factor, factors)
        if spec.load is not None:
            column = spec.load.column
            sentence = f"profiles.load.column is {column!r}, which no trial has"
            check_known(StudyError, sentence, column, (*factors, *responses))
