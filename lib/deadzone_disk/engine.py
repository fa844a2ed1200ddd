"""What every engine of the disk workload is asked for, and what it tells of a trial."""

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deadzone_disk.specs import DiskSettings

BLOCK_REFUSED = (
    "the system refuses the call: with O_DIRECT the block size must be a multiple of the device's "
    "logical block, and the file system must permit it"
)


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


@dataclass(frozen=True)
class EngineAccount:
    """What an engine did in a trial.

    elapsed_s: from the first call to the last. calls: reads and writes together. latencies_ms: of
    these, and of flushes to the device, the mean, the longest and the percentiles that the engine
    tells, by column. series: moments [s] and the throughput just before each [bytes/s]; empty where
    the engine tells none.
    """

    elapsed_s: float
    read_bytes: int
    written_bytes: int
    calls: int
    latencies_ms: Mapping[str, float]
    series: Sequence[tuple[float, float]]


class EngineFailure(Exception):
    """The engine ended without a result; the text says why, as a clause of a trial's error."""


def in_words(number: int | None, otherwise: str = "") -> str:
    """An error of the system: what the engine says of it, else the system's own words. What a call
    past the page cache asks for is added."""
    return BLOCK_REFUSED if number == errno.EINVAL else otherwise or os.strerror(number or 0)
