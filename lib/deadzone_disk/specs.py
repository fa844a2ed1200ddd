"""The disk workload of a study: reading and writing files of one folder in blocks of a given
size."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from deadzone.plugins import Spec, WorkloadSpec
from deadzone.study.quantity import as_size, parse_rate

Size = Annotated[int, BeforeValidator(as_size)]
"""A number of bytes in a study."""

LARGEST_BLOCK = 2**30
"""No program hands the kernel more than this in one call; Linux itself moves at most 2 GiB
[bytes]."""

Operation = Literal["read", "first_write", "overwrite", "mixed"]
"""first_write goes to freshly allocated space, overwrite to blocks that hold data; mixed reads and
overwrites."""

Engine = Literal["auto", "fio", "builtin", "dd"]
"""Runs of releases up to 0.2 may have dd, which is measured no more."""


def _required_rate(text: str) -> str:
    parse_rate(text)
    return text


class DiskSettings(Spec):
    """What one trial does; each of these may be a factor."""

    engine: Engine = "auto"
    """what reads and writes: fio where it is installed, else builtin, which is Python and
    needs nothing else"""

    operation: Operation = "overwrite"
    """read, first_write (to freshly allocated space), overwrite (blocks that hold data), or mixed
    (reads and overwrites)"""

    pattern: Literal["sequential", "random"] = "sequential"
    """order of the blocks"""

    block_size: Annotated[Size, Field(ge=1, le=LARGEST_BLOCK)] = 2**20
    """bytes moved by one call [bytes], also written like 64KiB"""

    queue_depth: int = Field(default=1, ge=1, le=256)
    """calls under way at once, a job [count]"""

    jobs: int = Field(default=1, ge=1, le=64)
    """processes that work at once, each on a file of its own [count]"""

    direct: bool = True
    """bypass the page cache (O_DIRECT); as a factor on and off"""

    fsync: Literal["none", "each", "end"] = "none"
    """flush to the device never, after each write, or once at the end"""

    read_share: float = Field(default=0.7, gt=0, lt=1)
    """share of reads where mixed [share]"""


class DiskWorkloadSpec(WorkloadSpec, DiskSettings):
    """Files of one folder read or written in blocks: throughput, calls a second and latency."""

    gone: ClassVar = {
        "require_direct": "the column direct_io says how a trial was measured",
        "within": "give it to the report: -p within 0.02",
    }
    waits_on_io: ClassVar[bool] = True

    kind: Literal["disk"] = "disk"
    folder: str = Field(min_length=1)
    """folder on the disk to measure, relative to the study file; made and removed if missing"""

    file_size: Annotated[Size, Field(ge=512, le=2**44)] = 256 * 2**20
    """size of each job's file [bytes]"""

    data: Literal["random", "zeros"] = "random"
    """what is written; zeros flatter devices that compress or leave them out"""

    duration_s: float = Field(default=2.0, gt=0, le=3600)
    """longest time a trial moves data [s]"""

    trial_bytes: Annotated[Size, Field(ge=1)] | None = None
    """most bytes a trial writes [bytes]; default what the bound of the run leaves each attempt"""

    max_written_bytes: Annotated[Size, Field(ge=1)] = 4 * 2**30
    """most bytes the whole run writes, files filled beforehand included [bytes]"""

    allow_memory: bool = False
    """measure a folder that lies in memory (tmpfs), which is no disk"""

    required: Annotated[str, AfterValidator(_required_rate)] | None = None
    """rate that must be sustained, such as 20 MB in 1 s"""

    @property
    def disk_folder(self) -> str:
        """The folder that is measured lies on the disk that I/O limits are for."""
        return self.folder

    @property
    def required_bytes_s(self) -> float | None:
        """The rate that must be sustained [bytes/s]; None where the study asks for none."""
        return parse_rate(self.required) if self.required else None


SETTINGS = tuple(DiskSettings.model_fields)
"""Names of what can be a factor."""
