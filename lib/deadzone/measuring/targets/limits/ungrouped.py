"""What the mechanisms have in common that make no control group: only the CPU is theirs to limit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deadzone.errors import TargetError
from deadzone.measuring.targets.limits.base import Counters


class Ungrouped:
    """A launcher in no group: nothing is made on the system, and nothing counted."""

    name = ""

    def open(self, group: str) -> None:
        """Nothing to make."""

    def wrap(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The launcher needs no wrapping."""
        return tuple(argv)

    def adopt(self, pid: int) -> None:
        """There is no group to enter."""

    def set_memory_limit(self, size: int | None) -> None:
        """Only `none` can be had."""
        if size is not None:
            raise TargetError(
                f"A memory limit of {size:,} bytes needs a control group, and the mechanism is {self.name}."
            )

    def read(self) -> Counters:
        """Nothing is counted; CPU time comes from the program's own accounting."""
        return Counters()

    def procs_files(self) -> tuple[Path, ...]:
        """There is no group."""
        return ()

    def close(self) -> None:
        """Nothing was made."""
