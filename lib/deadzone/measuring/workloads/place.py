"""Where a workload's files lie and its preparations run: on this machine, or in a container elsewhere.

A workload that can run elsewhere is Movable: it is told the place, and does all work on files through it.
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from deadzone.errors import SaidAs, WorkloadError
from deadzone.study.masking import masked

UNMEASURED_TIMEOUT_S = 600.0
"""A preparation, a setup or a hook that takes longer than this is taken for hung [s]."""

SHOWN_WORDS = 600
"""How much of the end of what a failing preparation printed is shown [characters]."""


@dataclass(frozen=True)
class Said:
    """How a preparation ended, and the end of what it printed."""

    code: int
    text: str


class Place(Protocol):
    """Where the programs of trials run."""

    @property
    def is_here(self) -> bool:
        """Whether it is this machine, with its paths and programs."""

    @property
    def identity(self) -> str | None:
        """Changes whenever all files of the place are gone, as with a new pod; None while there is none yet."""

    def fresh_folder(self, folder: Path) -> Path:
        """An empty folder, whatever stood there before."""

    def provide(self, source: Path, sha256: str) -> Path:
        """Path at the place of a file of this machine, which is copied there where it has to be."""

    def has_program(self, program: str, cwd: Path | None) -> bool:
        """Whether a program can be started there."""

    def run(self, argv: Sequence[str], cwd: Path | None, timeout_s: float) -> Said | None:
        """Run a preparation, unmeasured and unlimited in no other way than the trials; None if it takes too long."""

    def count_files(self, folder: Path) -> int:
        """Entries of a folder."""


@runtime_checkable
class Movable(Protocol):
    """A workload that can run elsewhere."""

    def move_to(self, place: Place) -> None:
        """From now on, everything happens at this place."""


def run_unmeasured(
    place: Place, key: str, argv: Sequence[str], cwd: Path | None, timeout_s: float = UNMEASURED_TIMEOUT_S
) -> None:
    """Run a program of the study that is not measured; key: where the study names it. Raises WorkloadError if it fails."""
    said = masked(" ".join(argv))
    with SaidAs(WorkloadError, f"{key} cannot be started: {said}"):
        answer = place.run(argv, cwd, timeout_s)
    if answer is None:
        raise WorkloadError(f"{key} did not end within {timeout_s:g} s: {said}.")
    if answer.code:
        words = masked(answer.text[-SHOWN_WORDS:])
        raise WorkloadError(f"{key} failed with exit code {answer.code}: {said}\n{words}")


def fresh_folder(folder: Path) -> Path:
    """An empty folder of this machine, whatever stood there before."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


class Here:
    """This machine."""

    is_here = True
    identity: str | None = "here"

    def fresh_folder(self, folder: Path) -> Path:
        """An empty folder, whatever stood there before."""
        return fresh_folder(folder)

    def provide(self, source: Path, sha256: str) -> Path:
        """The file itself."""
        return source

    def has_program(self, program: str, cwd: Path | None) -> bool:
        """Whether it is a file that may be run, or on the PATH."""
        path = str((cwd or Path()) / program) if "/" in program else program
        return shutil.which(path) is not None

    def run(self, argv: Sequence[str], cwd: Path | None, timeout_s: float) -> Said | None:
        """Run a preparation as a child of this process."""
        try:
            answer = subprocess.run(
                tuple(argv),
                cwd=cwd,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return None
        return Said(answer.returncode, (answer.stderr or answer.stdout).strip())

    def count_files(self, folder: Path) -> int:
        """Entries of a folder."""
        return sum(1 for _ in folder.iterdir())
