"""Where trials execute: what every target offers to the sweep."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from deadzone.measurement import Command, Measurement, Sample
from deadzone.run.workloads.base import Place
from deadzone.study.design import Treatment


@dataclass(frozen=True)
class Surroundings:
    """What a target is told of the sweep: the run's id and folder, and where to say what a person
    should read."""

    run_id: str = "none"
    folder: Path = Path(os.devnull)
    note: Callable[[str], None] = lambda sentence: None


@dataclass(frozen=True)
class Seen:
    """What a target saw after a trial of what it runs in.

    lost: why the trial is not one of its treatment, such as a pod that was replaced meanwhile.
    changed: what others changed since the sweep began. is_other: whether it is not what was
    prepared any more.
    """

    lost: str | None = None
    changed: tuple[str, ...] = ()
    is_other: bool = False


class Companion(Protocol):
    """What belongs to a trial beside its command, such as the service that a client asks; read at
    the same moments."""

    def begin(self) -> float:
        """The trial begins: CPU time of the companion so far [s]."""

    def tick(self, t_s: float) -> Sequence[Sample]:
        """Readings so long after the beginning."""

    def end(self) -> float:
        """The trial has ended: CPU time of the companion so far [s]."""


class Belongs(Companion, Protocol):
    """What belongs to every trial, such as a server that is up: its CPU time goes on over the
    trials."""

    def processes(self) -> tuple[int, ...]:
        """Its processes now."""


class Target:
    """Where one trial after the other executes. A context manager: whatever it changes is put back
    on leaving. A kind of target derives from it and defines what it has."""

    factors: tuple[str, ...] = ()
    """Names of the factors it puts in force itself."""

    scratch: Path
    """A folder for what a trial writes, emptied and removed with it."""

    place: Place | None = None
    """Where programs run, if that is not here."""

    belongs: Belongs | None = None
    """What belongs to every trial besides, and is no neighbour."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        return

    def facts(self) -> dict[str, Any]:
        """What a reader of the results must know of it, for the provenance."""
        return {}

    def identity(self) -> dict[str, str]:
        """What the trials run in, in texts by name: a run goes on with the same alone."""
        return {}

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limits in force. Raises TargetError where that cannot be done."""

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run a command once and measure it."""
        raise NotImplementedError

    def look(self) -> Seen:
        """What it sees, after a trial, of what the trial ran in."""
        return Seen()

    def processes(self) -> tuple[int, ...]:
        """What runs in it on this machine; the first only holds the account of those that
        ended."""
        return ()

    def workers(self) -> "Sequence[Target]":
        """One for each trial that may run at once, where that is more than one."""
        return ()

    def stop(self) -> object:
        """Let whatever is waited for end soon."""
        return None

    def await_counts(self) -> None:
        """Wait until neighbours are counted for long enough to judge a trial of any length."""

    def others_between_trials(self, seconds: float) -> dict[str, float] | None:
        """What other processes use while no trial runs, looked at for so long [cores], by name;
        None where they cannot be seen."""
        return None

    def at_work(self, name: str) -> tuple[int, ...]:
        """Other processes of a name that worked beside the last trial, those that used most
        first."""
        return ()
