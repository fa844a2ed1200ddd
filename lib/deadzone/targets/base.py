"""Where trials execute: what every target offers to the sweep."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from deadzone.measurement import Command, Measurement
from deadzone.study.design import Treatment


class Target(Protocol):
    """Where trials execute. A context manager: whatever it changes is put back on leaving."""

    factors: tuple[str, ...]
    """Names of the factors the target itself puts in force."""

    scratch: Path
    """A folder for what a trial writes, emptied and removed by the target."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limits in force. Raises TargetError where that cannot be done."""
        ...

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run a command once and measure it."""
        ...

    def facts(self) -> dict[str, Any]:
        """What a reader of the results must know of the target, for the provenance."""
        ...
