"""A container as the place of a workload: its files are made there, its inputs brought there."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from subprocess import CompletedProcess

from deadzone.plugins import TargetError
from deadzone.run.workloads.base import Place
from deadzone.store.programs import NOT_STARTED
from deadzone_kubernetes.api.streams import NoProgramError, StreamBrokenError
from deadzone_kubernetes.container.container import PodContainer

RUN = (
    'if [ -n "$1" ]; then cd "$1" || exit 126; fi; shift; "$@" </dev/null >"$0.out" 2>&1; code=$?; '
    'tail -c 60000 "$0.out"; exit $code'
)
"""Runs a preparation; the shell's own name carries the file for what it prints."""

FIND = 'cd "${2:-/}" && command -v "$1" >/dev/null'


class PodPlace(Place):
    """The container that trials run in at present; with another pod its identity changes."""

    is_here = False

    def __init__(self, inputs: Mapping[str, str]) -> None:
        """inputs: files that lie in the container already, by name."""
        self._inputs = dict(inputs)
        self._container: PodContainer | None = None
        self._sent: dict[str, Path] = {}

    @property
    def identity(self) -> str | None:
        """The pod and its start, so to speak: its uid."""
        return self._container.spot.uid if self._container else None

    def enter(self, container: PodContainer | None) -> None:
        """From now on the place is this container; None: there is none."""
        if container is None or self._container is None or container.spot != self._container.spot:
            self._sent = {}
        self._container = container

    @property
    def _here(self) -> PodContainer:
        if self._container is None:
            raise TargetError("There is no pod to prepare a trial in.")
        return self._container

    def fresh_folder(self, folder: Path) -> Path:
        """An empty folder in the container."""
        made = self._here.shell('rm -rf "$1" && mkdir -p "$1"', str(folder), timeout_s=600.0)
        if made.returncode:
            raise TargetError(
                f"{folder} in {self._here.spot} cannot be made anew: {made.stderr.strip()}."
            )
        return folder

    def provide(self, source: Path, sha256: str) -> Path:
        """Path in the container of a file of this machine: one that lies there, checked, or a copy.

        Raises TargetError if the file that the study names there is another one.
        """
        if sha256 in self._sent:
            return self._sent[sha256]
        own = PurePosixPath(self._here.home) / "inputs" / sha256[:16] / source.name
        there = Path(self._inputs.get(source.name, own))
        if not self._here.holds(there, sha256, source.stat().st_size):
            if source.name in self._inputs:
                raise TargetError(
                    f"{there} in {self._here.spot} is not the file {source.name} of this study "
                    "(target.inputs): its checksum differs, or it is missing."
                )
            self._here.send(source, there)
        self._sent[sha256] = there
        return there

    def has_program(self, program: str, cwd: Path | None) -> bool:
        """Whether the container can start a program."""
        return self._here.shell(FIND, program, str(cwd or "")).returncode == 0

    def run(
        self, argv: Sequence[str], cwd: Path | None, timeout_s: float
    ) -> CompletedProcess[str] | None:
        """Run a preparation in the container, under the trial's limit; None if it takes too long.

        It may run twice where the stream to it breaks, so it must bear that.
        """
        try:
            return self._here.prepare(RUN, argv, cwd, timeout_s)
        except StreamBrokenError:
            return None
        except NoProgramError as error:
            return CompletedProcess(argv, NOT_STARTED, "", str(error))
