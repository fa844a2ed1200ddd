"""The local target: runs programs on this machine under a real CPU limit and measures them."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from deadzone.errors import TargetError
from deadzone.measurement import Command, Measurement, Sample, Status
from deadzone.study.design import Treatment
from deadzone.study.levels import NONE, Level
from deadzone.study.spec import LocalTarget as LocalSpec
from deadzone.targets.interference import MachineReading, between, read_machine
from deadzone.targets.launching import Exit, Launcher
from deadzone.targets.leftovers import remove_leftovers
from deadzone.targets.limits.base import Counters, LimitMechanism, as_cores, group_name, reason
from deadzone.targets.limits.registry import MECHANISMS

Number = TypeVar("Number", int, float)

TELEMETRY_PERIOD_S = 0.1

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

SCRATCH_HOMES = (Path("/dev/shm"),)
"""Memory-backed file systems, tried first: a trial's output should not wait for a disk."""


class LocalTarget:
    """Programs on this machine, in a control group of their own where the system has one to give."""

    factors: tuple[str, ...] = ("cpu_limit",)

    def __init__(self, spec: LocalSpec, levels: Sequence[Level] = ()) -> None:
        """levels: the CPU limits the study will ask for; a mechanism is chosen that can do them all."""
        self._spec = spec
        self._levels = tuple(levels) or (spec.cpu_limit,)
        self.scratch = Path(os.devnull)
        self._mechanism: LimitMechanism | None = None
        self._launcher: Launcher | None = None
        self._refused: dict[str, str] = {}

    def __enter__(self) -> Self:
        remove_leftovers()
        try:
            self.scratch = make_scratch()
            self._open_best()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A second Ctrl-C must not stop the clean-up half way.
        previous = _hold_interrupts()
        try:
            self._close()
            shutil.rmtree(self.scratch, ignore_errors=True)
        finally:
            _release_interrupts(previous)

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's CPU limit in force, or the target's own where the limit is no factor."""
        level = treatment.levels.get("cpu_limit", self._spec.cpu_limit)
        self._open_mechanism.set_cpu_limit(as_cores(level))

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run the command to its end or time-out; the limit set by prepare holds from its first instruction."""
        assert self._launcher is not None
        mechanism = self._open_mechanism
        samples: list[Sample] = []
        before: list[tuple[Counters, MachineReading, float]] = []
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")

        def on_start() -> None:
            before.append((mechanism.read(), read_machine(), _harness_cpu_s()))

        def on_tick(t_s: float) -> None:
            samples.extend(_samples(t_s, before[0][0], mechanism.read()))

        ended = self._launcher.run(command, timeout_s, TELEMETRY_PERIOD_S, on_start, on_tick)
        after = (mechanism.read(), read_machine(), _harness_cpu_s())
        wall_s = ended.ended_s - ended.started_s
        samples.extend(_samples(wall_s, before[0][0], after[0]))
        user_s, sys_s = cpu_times(ended, before[0][0], after[0])
        own_cpu_s = user_s + sys_s + after[2] - before[0][2]
        status, error = _judge(ended, before[0][0], after[0], timeout_s)
        return Measurement(
            started_at=started_at,
            wall_s=wall_s,
            user_s=user_s,
            sys_s=sys_s,
            max_rss_bytes=ended.max_rss_bytes,
            nr_periods=_delta(before[0][0].nr_periods, after[0].nr_periods),
            nr_throttled=_delta(before[0][0].nr_throttled, after[0].nr_throttled),
            throttled_s=_delta(before[0][0].throttled_s, after[0].throttled_s),
            exit_code=ended.exit_code,
            status=status,
            error=error,
            stdout=self._launcher.output("stdout"),
            stderr=self._launcher.output("stderr"),
            interference=between(before[0][1], after[1], own_cpu_s),
            telemetry=tuple(samples),
        )

    def facts(self) -> dict[str, Any]:
        """The mechanism in force, and why better ones were not."""
        return {
            "target": "local",
            "limits_mechanism": self._open_mechanism.name,
            "mechanisms_refused": self._refused,
            "scratch": "tmpfs"
            if any(self.scratch.is_relative_to(home) for home in SCRATCH_HOMES)
            else "disk",
        }

    @property
    def _open_mechanism(self) -> LimitMechanism:
        if self._mechanism is None:
            raise TargetError("The local target is not open; use it in a with statement.")
        return self._mechanism

    def _open_best(self) -> None:
        """Open the first mechanism that takes every limit of the study."""
        chosen = self._spec.mechanism
        names = [chosen] if chosen != "auto" else [name for name in MECHANISMS if self._serves(name)]
        for name in names:
            try:
                self._open(MECHANISMS[name]())
            except TargetError as error:
                self._refused[name] = str(error).rstrip(".")
                self._close()
            else:
                return
        reasons = "\n".join(f"  {name}: {why}" for name, why in self._refused.items())
        raise TargetError(
            f"No mechanism can put this study's CPU limits in force here:\n{reasons}\n"
            "Run as root, or in a systemd user session; `deadzone doctor` says what is missing."
        )

    def _serves(self, name: str) -> bool:
        limited = any(level != NONE for level in self._levels)
        return name != "unlimited" if limited else name != "affinity"

    def _open(self, mechanism: LimitMechanism) -> None:
        self._mechanism = mechanism
        mechanism.open(group_name())
        self._launcher = Launcher(mechanism, self.scratch)
        self._launcher.open()
        for level in dict.fromkeys(self._levels):
            mechanism.set_cpu_limit(as_cores(level))

    def _close(self) -> None:
        if self._launcher:
            self._launcher.close()
            self._launcher = None
            (self.scratch / "go").unlink(missing_ok=True)
        if self._mechanism:
            self._mechanism.close()
            self._mechanism = None


def make_scratch() -> Path:
    """A fresh folder for what trials write, memory-backed where the system has such a place.

    Raises TargetError if none can be made.
    """
    homes = [home for home in SCRATCH_HOMES if os.access(home, os.W_OK)]
    try:
        return Path(tempfile.mkdtemp(prefix=f"{group_name()}-", dir=homes[0] if homes else None))
    except OSError as error:
        raise TargetError(
            f"No folder for what trials write can be made: {reason(error)}. Make room, or set TMPDIR."
        ) from error


def cpu_times(ended: Exit, before: Counters, after: Counters) -> tuple[float, float]:
    """User and system time of a trial [s].

    The group's accounting where there is one, for it also holds descendants nobody waited for; split as the
    group says, or where it does not, as the program's own accounting says.
    """
    usage = _delta(before.usage_s, after.usage_s)
    if usage is None:
        return ended.user_s, ended.sys_s
    user, system = _delta(before.user_s, after.user_s), _delta(before.sys_s, after.sys_s)
    if not user and not system:
        user, system = ended.user_s, ended.sys_s
    total = (user or 0.0) + (system or 0.0)
    share = (user or 0.0) / total if total else 1.0
    return usage * share, usage * (1 - share)


def _judge(ended: Exit, before: Counters, after: Counters, timeout_s: float) -> tuple[Status, str | None]:
    """The status of a trial as far as its ending tells, and what went wrong."""
    if ended.timed_out:
        return "timeout", f"killed after {timeout_s:g} s"
    if ended.exec_error:
        return "failed", f"the program did not start: {ended.exec_error}"
    if _delta(before.oom_kills, after.oom_kills):
        return "oom_killed", "a process was killed for want of memory"
    if ended.exit_code < 0:
        return "failed", f"killed by {signal_name(-ended.exit_code)}"
    if ended.orphans:
        return "ok", f"{ended.orphans} processes were left running and were killed"
    return "ok", None


def signal_name(number: int) -> str:
    """SIGKILL, SIGTERM, or for a real-time signal its number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _samples(t_s: float, before: Counters, now: Counters) -> list[Sample]:
    """One reading of the time series: cumulative since the trial's start."""
    series = {
        "cpu_usage_s": _delta(before.usage_s, now.usage_s),
        "nr_periods": _delta(before.nr_periods, now.nr_periods),
        "nr_throttled": _delta(before.nr_throttled, now.nr_throttled),
        "throttled_s": _delta(before.throttled_s, now.throttled_s),
    }
    return [Sample(t_s, metric, float(value)) for metric, value in series.items() if value is not None]


def _delta(before: Number | None, after: Number | None) -> Number | None:
    return None if before is None or after is None else after - before


def _harness_cpu_s() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def _hold_interrupts() -> dict[int, Any]:
    """Ignore interrupts from now on; returns the handlers to put back (empty outside the main thread)."""
    try:
        return {number: signal.signal(number, signal.SIG_IGN) for number in INTERRUPTS}
    except ValueError:
        return {}


def _release_interrupts(previous: dict[int, Any]) -> None:
    for number, handler in previous.items():
        signal.signal(number, handler)
