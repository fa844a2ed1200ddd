"""What every engine of the disk workload is asked for, and what it tells of a trial."""

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deadzone_disk.specs import DiskSettings

WORDS = {
    errno.ENOSPC: "no space is left on the disk; make room, or lower workload.file_size",
    errno.EDQUOT: "the disk quota of this user is used up; lower workload.file_size, or ask for "
    "more",
    errno.EFBIG: "the file would be larger than the system allows here (ulimit -f, or the file "
    "system's own limit); lower workload.file_size",
    errno.EROFS: "the file system is mounted read-only; name another folder, or mount it for "
    "writing",
    errno.EACCES: "this user may not write there; name another folder, or change its owner",
    errno.EPERM: "this user may not write there; name another folder, or change its owner",
    errno.EINVAL: "the system refuses the call: with O_DIRECT the block size must be a multiple of "
    "the device's logical block, and the file system must permit it",
    errno.EIO: "the device reports an error; look at the kernel's log (dmesg)",
    errno.ENOENT: "the file is gone; something removed it during the run",
}
"""By the system's number of an error."""


@dataclass(frozen=True)
class DiskTrial:
    """One trial to be carried out.

    settings: with `direct` as it can be had. files: one a job. file_size: of each [bytes].
    first_block: where sequential work begins in each file. most_blocks: a job stops after so many,
    or None. duration_s: a job stops then. seed: of the order and the first block. data: what is
    written, random or zeros. scratch: a folder for the engine's own files, in memory where there is
    one.
    """

    settings: DiskSettings
    files: tuple[Path, ...]
    file_size: int
    first_block: int
    most_blocks: int | None
    duration_s: float
    seed: int
    data: str
    scratch: Path

    @property
    def blocks(self) -> int:
        """Whole blocks in a file."""
        return self.file_size // self.settings.block_size


@dataclass(frozen=True)
class Latency:
    """Latencies of one kind of call [ms]. number: of calls. percentiles: by percent, as the engine
    tells them."""

    number: int
    mean_ms: float | None = None
    max_ms: float | None = None
    percentiles: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class EngineAccount:
    """What an engine did in a trial.

    elapsed_s: from the first call to the last. calls: reads and writes together. flushes: to the
    device. series: moments [s] and the throughput just before each [bytes/s]; empty where the
    engine tells none.
    """

    elapsed_s: float
    read_bytes: int
    written_bytes: int
    calls: Latency
    flushes: Latency = Latency(0)
    series: Sequence[tuple[float, float]] = ()


class EngineFailure(Exception):
    """The engine ended without a result; the text says why, as a clause of a trial's error."""


def in_words(number: int | None, otherwise: str) -> str:
    """An error of the system with what to do about it; the system's own words where it is none of
    these."""
    return WORDS.get(number or 0, otherwise)
