"""What passes between a workload and a target: the command to run, and what was measured of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Status = Literal["ok", "failed", "timeout", "oom_killed", "lost"]


@dataclass(frozen=True)
class Command:
    """A program to run once: an argument vector, never a shell string."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None


@dataclass(frozen=True)
class Sample:
    """One point of a time series during a trial: t_s from the trial's start, metric with its unit in the name."""

    t_s: float
    metric: str
    value: float


@dataclass(frozen=True)
class Interference:
    """What the rest of the machine did during a trial.

    foreign_cpu: CPU used by processes outside the trial and the harness [cores].
    foreign_cpu_resolution: how finely the kernel counts that over a trial this long [cores].
    steal: CPU the hypervisor withheld [cores].
    memory_pressure, io_pressure: share of the time some task was stalled; None without PSI in the kernel.
    clock_drift: wall clock against monotonic clock, as a share of the trial.
    """

    foreign_cpu: float
    foreign_cpu_resolution: float
    steal: float
    memory_pressure: float | None
    io_pressure: float | None
    clock_drift: float


@dataclass(frozen=True)
class Measurement:
    """One execution of a command, as measured.

    Counters of throttling are None where the mechanism has none; times are seconds, sizes bytes.
    stdout and stderr hold the end of what the program printed.
    """

    started_at: str
    wall_s: float
    user_s: float
    sys_s: float
    max_rss_bytes: int
    nr_periods: int | None
    nr_throttled: int | None
    throttled_s: float | None
    exit_code: int
    status: Status
    error: str | None
    stdout: str
    stderr: str
    interference: Interference
    telemetry: tuple[Sample, ...] = ()

    @property
    def cpu_efficiency(self) -> float:
        """CPU time over wall time: the cores the trial really used."""
        return (self.user_s + self.sys_s) / self.wall_s
