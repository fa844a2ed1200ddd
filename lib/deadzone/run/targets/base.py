"""Where trials execute: what every target offers to the sweep."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from deadzone.measurement import Command, Measurement, Sample
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


class Preparing(Protocol):
    """Whatever is made ready for one treatment after the other."""

    scratch: Path
    """A folder for what a trial writes, emptied and removed with it."""

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limits in force. Raises TargetError where that cannot be done."""


class Executing(Preparing, Protocol):
    """Where one trial after the other executes: a target, or a part of one beside others."""

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run a command once and measure it."""


class Limiting(Preparing, Protocol):
    """What puts limits in force. A context manager: whatever it changes is put back on leaving."""

    factors: tuple[str, ...]
    """Names of the factors it puts in force itself."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None: ...

    def facts(self) -> dict[str, Any]:
        """What a reader of the results must know of it, for the provenance."""


class Target(Limiting, Executing, Protocol):
    """Where trials execute."""
