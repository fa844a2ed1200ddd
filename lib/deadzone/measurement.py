"""What passes between a workload and a target: the command to run, and what was measured of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

Number = TypeVar("Number", int, float)

Status = Literal["ok", "failed", "timeout", "oom_killed", "lost"]


@dataclass(frozen=True)
class Command:
    """A program to run once: an argument vector, never a shell string.

    stdin: a file that it reads on standard input; by default it reads nothing. has_gate: whether it
    says itself when what is to be measured begins and ends, over the two pipes whose paths are then
    its last arguments.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    stdin: Path | None = None
    has_gate: bool = False


@dataclass(frozen=True)
class Sample:
    """One point of a time series during a trial: t_s from the trial's start, metric with its unit
    in the name."""

    t_s: float
    metric: str
    value: float


@dataclass(frozen=True)
class HistogramSlice:
    """What was counted of one metric in a slice of a trial; the slices of a trial add up to the
    whole.

    metric: with its unit in the name, as latency_us. t_s: start of the slice, from the start of
    what is measured; below zero in a warm-up. histogram: an HdrHistogram in its base64 form.
    """

    metric: str
    t_s: float
    duration_s: float
    count: int
    histogram: str


@dataclass(frozen=True)
class ProfileFile:
    """A profile of a program as its profiler wrote it.

    kind: what it counts, such as cpu or heap. ending: of the file's name. content: its bytes.
    """

    kind: str
    ending: str
    content: bytes


@dataclass(frozen=True)
class Interference:
    """What the rest of the machine did during a trial.

    foreign_cpu: CPU used by processes outside the trial and the harness [cores]; around a trial
    that is very short. foreign_cpu_resolution: how finely the kernel counts that over a trial this
    long [cores]. steal: CPU the hypervisor withheld [cores]. memory_pressure, io_pressure: share of
    the time some task was stalled; None without PSI in the kernel. own_memory_pressure,
    own_io_pressure: in which one of the trial's own was, where its group is told of it.
    clock_drift: wall clock against monotonic clock, as a share of the trial. exposure: the share of
    what neighbours use that meets the trial: 1 on a machine that it fills. processes: who used it,
    by name [cores], largest first.
    """

    foreign_cpu: float
    foreign_cpu_resolution: float
    steal: float
    memory_pressure: float | None
    io_pressure: float | None
    clock_drift: float
    exposure: float = 1.0
    own_memory_pressure: float = 0.0
    own_io_pressure: float = 0.0
    processes: tuple[tuple[str, float], ...] = ()


NO_INTERFERENCE = Interference(0.0, 0.0, 0.0, None, None, 0.0)


@dataclass(frozen=True)
class Measurement:
    """One execution of a command, as measured; what was not measured keeps its default.

    Counters of throttling are None where the mechanism has none, and CPU time and memory are where
    what is measured is on another machine; times are seconds, sizes bytes. stdout and stderr hold
    the end of what the program printed. placed: where it ran, in a cluster: node, pod, cpu_max.
    counted: what else was counted of it, by column of the tidy table; empty where nothing could be.
    changed: what others changed, before or meanwhile, at that which trials run in: no later trial
    is as the first ones were.
    """

    started_at: str
    wall_s: float
    exit_code: int
    status: Status
    user_s: float | None = None
    sys_s: float | None = None
    max_rss_bytes: int | None = None
    nr_periods: int | None = None
    nr_throttled: int | None = None
    throttled_s: float | None = None
    error: str | None = None
    stdout: str = ""
    stderr: str = ""
    interference: Interference = NO_INTERFERENCE
    telemetry: tuple[Sample, ...] = ()
    placed: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, float] = field(default_factory=dict)
    changed: tuple[str, ...] = ()

    @property
    def cpu_efficiency(self) -> float | None:
        """CPU time over wall time: the cores the trial really used; None where either is not
        known."""
        if self.user_s is None or self.sys_s is None or self.wall_s <= 0:
            return None
        return (self.user_s + self.sys_s) / self.wall_s


def not_measured(error: str, status: Status = "failed") -> Measurement:
    """A trial in which no program ran, for what it needs was not there."""
    started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Measurement(started_at, 0.0, exit_code=-1, status=status, error=error)


def difference(before: Number | None, after: Number | None) -> Number | None:
    """What a counter grew by between two readings, in its unit; None where either reading lacks
    it."""
    return None if before is None or after is None else after - before
