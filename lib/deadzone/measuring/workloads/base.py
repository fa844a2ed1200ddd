"""What a trial executes: what every workload offers to the sweep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from deadzone.measurement import Command, HistogramSlice, Measurement, ProfileFile, Sample, Status
from deadzone.study.levels import Level


@dataclass(frozen=True)
class Outcome:
    """What a workload makes of a measured trial: its own responses, why the trial failed, if it did, the
    distributions it counted, the profiles taken meanwhile, and time series of its own.

    unread: whether a response was not found in what the program printed. wall_s: of a client, the time that counts where
    its own start-up and end do not [s]. death_is_result: whether a service that ends meanwhile is what the trial was to
    find out, and no failure. units: of responses read from a text, the word that stood behind the number.
    """

    responses: Mapping[str, float] = field(default_factory=dict)
    failure: str | None = None
    unread: bool = False
    wall_s: float | None = None
    status: Status | None = None
    histograms: tuple[HistogramSlice, ...] = ()
    profiles: tuple[ProfileFile, ...] = ()
    samples: tuple[Sample, ...] = ()
    death_is_result: bool = False
    units: Mapping[str, str] = field(default_factory=dict)


class Workload(Protocol):
    """What a trial executes."""

    responses: tuple[str, ...]
    """Names of the responses it adds to those of every trial."""

    def uses(self, factor: str) -> bool:
        """Whether the levels of this factor reach the program."""

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError if it needs a factor that the study does not have."""

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Get everything ready before the first trial; returns facts for the provenance.

        Raises WorkloadError if a program or an input is missing.
        """

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Get ready for one trial, unmeasured, and say what to run."""

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """The workload's own responses, and its judgement of a trial the target found nothing wrong with."""

    def finish(self) -> None:
        """Remove what `prepare_sweep` made outside the scratch folder; called once, after the last trial. Never raises."""
