"""What belongs to a trial although it did not start it: a server that is up, by the name of what
runs it."""

import re
from pathlib import PurePath
from typing import Any

from pydantic import Field

from deadzone.errors import StudyError
from deadzone.study.base import COLUMN_PATTERN, Spec

WAYS = ("unit", "process", "port", "pid_file", "cgroup", "container", "pod")

LIMITS = ("cpu_limit", "memory_limit")
"""Factors `NAME_cpu_limit` and `NAME_memory_limit` are put in force on what belongs."""

USED = (
    "cpu_limit", "memory_limit_bytes", "memory_peak_bytes", "memory_stall_s", "major_faults",
    "oom_kills", "io_stall_s", "read_bytes", "written_bytes", "rss_bytes", "threads",
)  # fmt: skip
"""What is recorded of whatever works for a trial, a service under test included, as far as the
system tells it."""

RECORDED = ("cores", "cpu_s", "nr_periods", "nr_throttled", "throttled_s", *USED)
"""What is recorded in each trial, as columns `NAME_cores` and so on, as far as the system tells
it."""


class CoresidentSpec(Spec):
    """Something that runs on this machine and works for the trials. Exactly one key beside name
    says what."""

    name: str | None = Field(default=None, pattern=COLUMN_PATTERN)
    """its columns begin with this; default what the key says"""

    unit: str | None = Field(default=None, min_length=1)
    """systemd unit, such as postgresql.service"""

    process: str | None = Field(default=None, min_length=1)
    """name of a program, with the children of its processes"""

    port: int | None = Field(default=None, ge=1, le=65535)
    """TCP port that its process listens on"""

    pid_file: str | None = Field(default=None, min_length=1)
    """file that holds its process id"""

    cgroup: str | None = Field(default=None, min_length=1)
    """control group, from the root of the hierarchy"""

    container: str | None = Field(default=None, min_length=1)
    """container of docker or podman"""

    pod: str | None = Field(default=None, min_length=1)
    """pod whose containers run on this node"""

    one_of = WAYS

    @property
    def way(self) -> str:
        """The key that says what it is."""
        return next(way for way in WAYS if getattr(self, way) is not None)

    @property
    def label(self) -> str:
        """What its columns begin with."""
        if self.name:
            return self.name
        value = str(getattr(self, self.way))
        if self.way in ("unit", "pid_file", "cgroup"):
            value = PurePath(value).stem
        word = re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_")
        return word if re.match(COLUMN_PATTERN, word) else f"{self.way}_{word}".rstrip("_")

    @property
    def factors(self) -> tuple[str, ...]:
        """Factors that are put in force on it."""
        return tuple(f"{self.label}_{limit}" for limit in LIMITS)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that a trial has of it."""
        return tuple(f"{self.label}_{name}" for name in RECORDED)

    def __str__(self) -> str:
        return f"{self.way} {getattr(self, self.way)}"


def each_called_once(belongs: tuple[CoresidentSpec, ...]) -> tuple[CoresidentSpec, ...]:
    """What belongs, as it is. Raises ValueError where two have the same label."""
    labels = [member.label for member in belongs]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise ValueError(f"has two called {twice!r} in belongs; give one of them a name")
    return belongs


def coresident_of(text: str) -> dict[str, Any]:
    """The keys of a text such as `port=5432` or `process=postgres,name=db`. Raises StudyError."""
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not mark or not value or key not in (*WAYS, "name") for key, mark, value in pairs):
        raise StudyError(
            f"--belongs {text!r} names no process. Say which process counts as the trials', by one "
            f"of {', '.join(f'{way}=...' for way in WAYS)}, such as port=5432."
        )
    keys = {key: value for key, _, value in pairs}
    if len(keys) < len(pairs):
        raise StudyError(
            f"--belongs {text!r} gives a key twice; write `--belongs` for each process."
        )
    return keys
