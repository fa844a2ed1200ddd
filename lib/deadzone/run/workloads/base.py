"""What a trial executes, and where: what every workload offers to the sweep, and the place of its
files and preparations.

The place is this machine, or a container elsewhere. A workload that can run elsewhere is told the
place, and does all work on files through it.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from typing import Any

from deadzone.errors import SaidAs, WorkloadError
from deadzone.measurement import Command, HistogramSlice, Measurement, ProfileFile, Sample, Status
from deadzone.run.workloads.left import LeftRunning
from deadzone.store.programs import ended
from deadzone.study.levels import Level, fill, placed
from deadzone.study.masking import masked


@dataclass(frozen=True)
class Outcome:
    """What a workload makes of a measured trial: its own responses, why the trial failed, if it
    did, the distributions it counted, the profiles taken meanwhile, and time series of its own.

    unread: whether a response was not found in what the program printed. wall_s: of a client, the
    time that counts where its own start-up and end do not [s]. death_is_result: whether a service
    that ends meanwhile is what the trial was to find out, and no failure. units: of responses read
    from a text, the word that stood behind the number. traceback: of the error that a Python
    function raised. prepared: processes that the preparation left running, `name pid@start` each.
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
    traceback: str = ""
    prepared: str = ""


def with_profiles(outcome: Outcome, captured: Any) -> Outcome:
    """The outcome with the profiles of its trial, by their files and the failure of one that is
    missing, which makes the trial a failed one."""
    return replace(outcome, profiles=captured.files, failure=outcome.failure or captured.failure)


UNMEASURED_TIMEOUT_S = 600.0
"""A preparation, a setup or a hook that takes longer than this is taken for hung [s]."""

SHOWN_WORDS = 600
"""How much of the end of what a failing preparation printed is shown, of each stream: servers say
in their log, on stdout, why they do not start [characters]."""


class Place:
    """Where the programs of trials run: this machine, unless one that derives from it says
    otherwise."""

    is_here = True
    """Whether it is this machine, with its paths and programs."""

    @property
    def identity(self) -> str | None:
        """Changes whenever all files of the place are gone, as with a new pod; None while there is
        none yet."""
        return "here"

    @cached_property
    def left(self) -> LeftRunning:
        """What its preparations left running on this machine."""
        return LeftRunning()

    def fresh_folder(self, folder: Path) -> Path:
        """An empty folder, whatever stood there before."""
        return fresh_folder(folder)

    def provide(self, source: Path, sha256: str) -> Path:
        """Path at the place of a file of this machine, which is copied there where it has to be."""
        return source

    def has_program(self, program: str, cwd: Path | None) -> bool:
        """Whether it is a file that may be run, or on the PATH."""
        path = str((cwd or Path()) / program) if "/" in program else program
        return shutil.which(path) is not None

    def run(
        self, argv: Sequence[str], cwd: Path | None, timeout_s: float
    ) -> CompletedProcess[str] | None:
        """Run a preparation, unmeasured and unlimited in no other way than the trials; None if it
        takes too long."""
        try:
            with self.left.inherited() as (environment, file):
                return ended(argv, timeout_s, cwd, environment, (file,))
        except TimeoutExpired:
            return None


class Workload:
    """What a trial executes. One that derives from it needs no factor, runs on this machine only,
    and makes nothing outside the scratch folder, unless it says otherwise."""

    responses: tuple[str, ...] = ()
    """Names of the responses it adds to those of every trial."""

    def move_to(self, place: Place) -> bool:
        """From now on, everything happens at this place. False: it runs on this machine only."""
        return False

    def uses(self, factor: str) -> bool:
        """Whether the levels of this factor reach the program."""
        return False

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError if it needs a factor that the study does not have."""

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Get everything ready before the first trial; returns facts for the provenance.

        Raises WorkloadError if a program or an input is missing.
        """
        return {}

    def identity(self) -> dict[str, str]:
        """What it is, in texts by name, once the sweep is prepared: a run goes on with the same
        alone."""
        return {}

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Get ready for one trial, unmeasured, and say what to run."""
        raise NotImplementedError

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """The workload's own responses, and its judgement of a trial the target found nothing wrong
        with."""
        return Outcome()

    def finish(self) -> str | None:
        """Remove what `prepare_sweep` made outside the scratch folder; called once, after the last
        trial; what to say of it, often nothing. Never raises."""
        return None


def run_unmeasured(place: Place, key: str, argv: Sequence[str], cwd: Path | None) -> None:
    """Run a program of the study that is not measured; key: where the study names it. Raises
    WorkloadError if it fails."""
    command_line = masked(" ".join(argv))
    with SaidAs(WorkloadError, f"{key} cannot be started: {command_line}"):
        answer = place.run(argv, cwd, UNMEASURED_TIMEOUT_S)
    if answer is None:
        raise WorkloadError(f"{key} did not end within {UNMEASURED_TIMEOUT_S:g} s: {command_line}.")
    if answer.returncode:
        ends = (text.strip()[-SHOWN_WORDS:] for text in (answer.stdout, answer.stderr))
        words = masked("\n".join(filter(None, ends)))
        raise WorkloadError(
            f"{key} failed with exit code {answer.returncode}: {command_line}\n{words}"
        )


def fresh_folder(folder: Path) -> Path:
    """An empty folder of this machine, whatever stood there before. Raises WorkloadError if it
    cannot be made."""
    try:
        folder.rmdir()  # most are empty, and then the quicker way
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
    with SaidAs(WorkloadError, "No folder for what a trial writes can be made", names_file=True):
        folder.mkdir(parents=True)
    return folder


SOURCES = (".py", ".sh", ".js", ".mjs", ".rb", ".pl", ".php", ".lua", ".r", ".jl", ".jar", ".sql")
"""Endings of files that an interpreter runs."""

BEGINNINGS = (b"#!", b"\x7fELF")
"""How files begin that are programs. Other files that a command line names may be written by its
trials."""

SHOWN = 12
"""So much of a checksum tells two programs apart [digits]."""


def sha256_of(path: Path | str) -> str:
    """Checksum of a file, in hexadecimal."""
    with Path(path).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def program_files(
    lines: Iterable[Sequence[str] | None],
    cwd: Path | None = None,
    treatments: Iterable[Mapping[str, Level]] = ({},),
) -> dict[str, str]:
    """Checksums of the programs of command lines and of the scripts in them, by the words that name
    them; of what is there before a trial.

    cwd: where relative paths start. treatments: the values of placeholders.
    """
    cwd, named = cwd or Path(), dict[str, str | None]()
    for values, line in product(treatments, filter(None, lines)):
        words = [fill(word, values) for word in line if placed([word]) <= values.keys()]
        for place, word in enumerate(words):
            path = str(cwd / word) if place or "/" in word else word
            if place and words[place - 1] == "-m":
                named[word] = _module(cwd / word.replace(".", "/"))
            elif word not in named:
                named[word] = _script(path) if place else shutil.which(path)
    return {f"file {word}": sha256_of(path)[:SHOWN] for word, path in named.items() if path}


def _module(path: Path) -> str | None:
    """The file that `python -m` runs of a module beside the study; None of one that is
    installed."""
    files = (path.with_suffix(".py"), path / "__main__.py")
    return next((str(file) for file in files if file.is_file()), None)


def _script(path: str) -> str | None:
    """The path of a file that an interpreter, or the machine, runs; None of anything else."""
    if not os.path.isfile(path) or not os.access(path, os.R_OK):  # noqa: PTH113 (any text may stand here)
        return None
    with Path(path).open("rb") as handle:
        is_program = path.lower().endswith(SOURCES) or handle.read(4).startswith(BEGINNINGS)
    return path if is_program else None
