"""What a trial executes: what every workload offers to the sweep."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from deadzone.errors import StudyError, did_you_mean
from deadzone.measurement import Command, Measurement
from deadzone.study.levels import Level, format_level


@dataclass(frozen=True)
class Outcome:
    """What a workload makes of a measured trial: its own responses, and why the trial failed, if it did."""

    responses: Mapping[str, float] = field(default_factory=dict)
    failure: str | None = None


class Workload(Protocol):
    """What a trial executes."""

    def uses(self, factor: str) -> bool:
        """Whether the levels of this factor reach the program."""
        ...

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Get everything ready before the first trial; returns facts for the provenance.

        Raises WorkloadError if a program or an input is missing.
        """
        ...

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Get ready for one trial, unmeasured, and say what to run."""
        ...

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """The workload's own responses, and its judgement of a trial the target found nothing wrong with."""
        ...


def placeholders(template: str) -> tuple[str, ...]:
    """Names in braces in a template; doubled braces are plain text."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)


def fill(template: str, values: Mapping[str, Level]) -> str:
    """Replace {factor} by the factor's level.

    Raises StudyError for a name that is no factor.
    """
    for name in placeholders(template):
        if name not in values:
            known = ", ".join(values)
            raise StudyError(
                f"{{{name}}} in {template!r} is no factor.{did_you_mean(name, values)} Known: {known}."
            )
    return template.format_map({name: format_level(level) for name, level in values.items()})
