"""The disk workload: files of one folder read or written in blocks, past the page cache, by fio
or Python."""

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadzone.plugins import (
    Command,
    Level,
    Measurement,
    Outcome,
    StudyError,
    Workload,
    WorkloadError,
    fresh_folder,
)
from deadzone_disk.device import disk_of, facts, in_memory
from deadzone_disk.engine import DiskTrial, EngineFailure, in_words
from deadzone_disk.files import DiskFiles, cached_share, evict, refused_direct
from deadzone_disk.plan import is_fresh, most_jobs, settings_of, writes
from deadzone_disk.programs import BuiltinEngine, FioEngine
from deadzone_disk.responses import RESPONSES, responses_of, samples_of
from deadzone_disk.specs import SETTINGS, DiskSettings, DiskWorkloadSpec

Engine = FioEngine
"""Reads and writes blocks of files, and tells how fast. `version` raises WorkloadError where the
program is missing or too old; `command` needs nothing of Deadzone's; `account` raises EngineFailure
where there is no result."""

ENGINE_FOLDER = "disk"


def make_engine(name: str) -> Engine:
    """The engine of a name; `auto` is fio where it is installed, else the built-in one."""
    is_fio = name == "fio" or (name == "auto" and shutil.which("fio"))
    return FioEngine() if is_fio else BuiltinEngine()


class DiskWorkload(Workload):
    """Blocks of files, read or written; the files are made before the first trial and removed after
    the last."""

    responses: tuple[str, ...] = RESPONSES

    def __init__(
        self, spec: DiskWorkloadSpec, folder: Path, treatments: Sequence[Mapping[str, Level]] = ()
    ) -> None:
        """folder: where the study file lies; the study's folder of files starts there. treatments:
        levels of each."""
        self._spec = spec
        self.folder = (folder / spec.folder).absolute()
        self._planned = [settings_of(spec, levels) for levels in treatments or ({},)]
        self._files = DiskFiles(self.folder)
        self._engines: dict[str, Engine] = {}
        self._trial: DiskTrial | None = None
        self._before: dict[str, float] = {}
        self._trials = 0
        self._position = 0
        self._is_direct = True

    def uses(self, factor: str) -> bool:
        """Whether a factor is one of the settings of a trial."""
        return factor in SETTINGS

    def check(self, factors: Sequence[str]) -> None:
        """Raise StudyError where the settings of a treatment make no sense together with fio."""
        for settings in self._planned:
            if settings.engine == "fio" and self._is_queued(settings):
                raise StudyError(
                    "workload.engine is fio, which keeps one call under way through the page "
                    "cache; use builtin for direct: off with a queue_depth above 1, or where "
                    "direct I/O is refused."
                )

    def prepare_sweep(self, scratch: Path) -> dict[str, Any]:
        """Make and fill the files; find the engines, and whether the page cache can be bypassed."""
        spec = self._spec
        memory = in_memory(
            next(path for path in (self.folder, *self.folder.parents) if path.is_dir())
        )
        if memory and not spec.allow_memory:
            raise WorkloadError(
                f"workload.folder: {self.folder} is in this machine's memory ({memory}), which is "
                "no disk. Name a folder on a disk, or set workload.allow_memory to measure memory "
                "and have the report say so."
            )
        versions = self._find_engines()
        self._files.make()
        kept, fresh = (most_jobs(self._planned, fresh) for fresh in (False, True))
        self._files.check_space((kept + fresh) * spec.file_size)
        filled = [self._files.filled(n, spec.file_size, spec.data) for n in range(kept)]
        self._probe_direct(filled or [self._files.fresh(0, spec.file_size)])
        if not self._is_direct:  # another engine may be needed now
            self.check(())
            versions = self._find_engines()
        return {
            "program": "disk",
            "program_version": ", ".join(versions.values()),
            "disk_engine": ", ".join(versions),
            **facts(self.folder),
            "disk_direct": self._is_direct,
            "disk_in_memory": memory,
            "disk_file_bytes": spec.file_size,
            "disk_data": spec.data,
            "disk_trial_bytes": spec.trial_bytes,
            "disk_required": spec.required,
        }

    def prepare_trial(self, levels: Mapping[str, Level], scratch: Path) -> Command:
        """Empty the page cache of the files, allocate fresh ones for first writes, and say what to
        run."""
        settings = settings_of(self._spec, levels)
        settings = settings.model_copy(update={"direct": settings.direct and self._is_direct})
        self._trials += 1
        self._drop_fresh()
        most = self._most_blocks(settings)
        file_size, files = self._files_for(settings, most)
        self._trial = trial = DiskTrial(
            settings=settings,
            files=tuple(files),
            file_size=file_size,
            first_block=self._first_block(settings, file_size, most),
            most_blocks=most,
            duration_s=self._spec.duration_s,
            seed=self._trials,
            data=self._spec.data,
            scratch=fresh_folder(scratch / ENGINE_FOLDER),
        )
        for path in files:
            evict(path)
        shares = [share for share in map(cached_share, files) if share is not None]
        self._before = {"cached_share": max(shares)} if shares else {}
        return self._engines[settings.engine].command(trial)

    def outcome(self, measurement: Measurement, scratch: Path) -> Outcome:
        """Throughput, calls a second and latency, from the engine's own account."""
        trial = self._trial
        assert trial is not None
        self._drop_fresh()
        try:
            account = self._engines[trial.settings.engine].account(trial, measurement)
        except EngineFailure as failure:
            return Outcome(failure=str(failure))
        if not account.elapsed_s or not account.calls:
            return Outcome(
                failure="the trial was too short for a single call; raise workload.duration_s or "
                "trial_bytes"
            )
        if trial.settings.operation == "overwrite":
            moved = account.written_bytes // trial.settings.jobs
            self._position = (
                trial.first_block * trial.settings.block_size + moved
            ) % trial.file_size
        values = {**responses_of(trial, account), **self._before}
        return Outcome(values, samples=samples_of(account, measurement.wall_s))

    def finish(self) -> str:
        """Remove every file that was made; what could not be."""
        return self._files.remove() or ""

    def _is_queued(self, settings: DiskSettings) -> bool:
        """Whether calls are queued through the page cache, which fio cannot do."""
        return settings.queue_depth > 1 and not (settings.direct and self._is_direct)

    def _find_engines(self) -> dict[str, str]:
        """Choose the engine of each setting; the version of each. fio cannot queue calls through
        the page cache, so `auto` avoids it there."""
        automatic = "builtin" if any(map(self._is_queued, self._planned)) else "auto"
        names = [settings.engine for settings in self._planned]
        self._engines = {n: make_engine(automatic if n == "auto" else n) for n in names}
        return {engine.name: engine.version() for engine in self._engines.values()}

    def _probe_direct(self, files: Sequence[Path]) -> None:
        """Find out whether O_DIRECT works here, with the block sizes of the study."""
        sizes = sorted({settings.block_size for settings in self._planned if settings.direct})
        if not sizes:
            return
        aligned = max(size & -size for size in sizes)
        if refused_direct(files[0], max(aligned, os.sysconf("SC_PAGE_SIZE"))) is not None:
            self._is_direct = False
            return
        for size in sizes:
            number = refused_direct(files[0], size)
            if number == errno.EINVAL:
                size_told = disk_of(self.folder).get("disk_logical_block_bytes")
                block = f"{size_told} bytes" if size_told else "the logical block"
                raise WorkloadError(
                    f"block_size {size}: past the page cache a block must be a multiple of the "
                    f"device's logical block ({block}). Use such a size, or direct: off."
                )
            if number is not None:
                raise WorkloadError(f"workload.folder: {self.folder}: {in_words(number)}.")

    def _most_blocks(self, settings: DiskSettings) -> int | None:
        """Blocks after which a job stops: writes are bounded, and no file is read twice through the
        page cache."""
        blocks = self._spec.file_size // settings.block_size
        if not writes(settings):
            return blocks if not settings.direct else None
        bound = self._spec.trial_bytes or self._spec.max_written_bytes
        allowed = max(1, bound // settings.jobs // settings.block_size)
        return min(blocks, allowed) if is_fresh(settings) else allowed

    def _files_for(self, settings: DiskSettings, most: int | None) -> tuple[int, list[Path]]:
        """Size of the trial's files, and the files, one a job."""
        if is_fresh(settings):
            assert most is not None
            size = most * settings.block_size
            return size, [self._files.fresh(n, size) for n in range(settings.jobs)]
        size = self._spec.file_size
        return size, [self._files.filled(n, size, self._spec.data) for n in range(settings.jobs)]

    def _first_block(self, settings: DiskSettings, file_size: int, most: int | None) -> int:
        """Where sequential work begins: where the last trial ended, so that no region is written
        over and over."""
        if is_fresh(settings) or settings.pattern == "random" or most is None:
            return 0
        blocks = file_size // settings.block_size
        first = -(-self._position // settings.block_size)
        return first if first + most <= blocks else 0

    def _drop_fresh(self) -> None:
        if self._trial and is_fresh(self._trial.settings):
            for path in self._trial.files:
                path.unlink(missing_ok=True)
