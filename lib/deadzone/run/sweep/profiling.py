"""Profiles beside a trial, as the sweep sees whoever takes them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

from deadzone.measurement import ProfileFile
from deadzone.run.workloads.base import Outcome
from deadzone.study.levels import Level
from deadzone.study.plan import Plan


class TrialProfiles(Protocol):
    """The profiles of a trial, once it has ended. failure: why one is missing, None where all are
    there."""

    files: tuple[ProfileFile, ...]
    failure: str | None


class TrialProfiling(Protocol):
    """Profiles beside the trials of a study; nothing happens where it asks for none."""

    def prepare(self) -> dict[str, Any]:
        """Facts for the provenance. Raises WorkloadError if the profiler is not installed."""

    def capture(
        self, levels: Mapping[str, Level], process: Callable[[], int | None]
    ) -> AbstractContextManager[TrialProfiles]:
        """Take profiles as long as the context lasts. process: id of the program that runs now, if
        it is on this machine."""

    def check(self, plan: Plan, responses: Sequence[str]) -> None:
        """Raise StudyError if the profiles are of nothing. responses: columns that trials will
        have, besides the factors."""


def with_profiles(outcome: Outcome, captured: TrialProfiles) -> Outcome:
    """The outcome with the profiles of its trial; one that is missing makes the trial a failed
    one."""
    return replace(outcome, profiles=captured.files, failure=outcome.failure or captured.failure)
