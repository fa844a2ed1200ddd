"""Where trials execute: what every target offers to the sweep; how a program ended, and what a
trial of it was, wherever it ran."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from deadzone.measurement import Command, Measurement, Sample, Status
from deadzone.run.targets.limits.base import THROTTLING, Counters
from deadzone.run.workloads.base import Place
from deadzone.study.design import Treatment


@dataclass(frozen=True)
class Surroundings:
    """What a target is told of the sweep: the run's id and folder, and where to say what a person
    should read."""

    run_id: str = "none"
    folder: Path = Path(os.devnull)
    note: Callable[[str], None] = lambda sentence: None


@dataclass(frozen=True)
class Seen:
    """What a target saw after a trial of what it runs in.

    lost: why the trial is not one of its treatment, such as a pod that was replaced meanwhile.
    changed: what others changed since the sweep began. is_other: whether it is not what was
    prepared any more.
    """

    lost: str | None = None
    changed: tuple[str, ...] = ()
    is_other: bool = False


class Companion(Protocol):
    """What belongs to a trial beside its command, such as the service that a client asks; read at
    the same moments."""

    def begin(self) -> float:
        """The trial begins: CPU time of the companion so far [s]."""

    def tick(self, t_s: float) -> Sequence[Sample]:
        """Readings so long after the beginning."""

    def end(self) -> float:
        """The trial has ended: CPU time of the companion so far [s]."""


class Belongs(Companion, Protocol):
    """What belongs to every trial, such as a server that is up: its CPU time goes on over the
    trials."""

    def processes(self) -> tuple[int, ...]:
        """Its processes now."""


class Target:
    """Where one trial after the other executes. A context manager: whatever it changes is put back
    on leaving. A kind of target derives from it and defines what it has."""

    factors: tuple[str, ...] = ()
    """Names of the factors it puts in force itself."""

    scratch: Path
    """A folder for what a trial writes, emptied and removed with it."""

    place: Place | None = None
    """Where programs run, if that is not here."""

    belongs: Belongs | None = None
    """What belongs to every trial besides, and is no neighbour."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Put back whatever was changed."""

    def facts(self) -> dict[str, Any]:
        """What a reader of the results must know of it, for the provenance."""
        return {}

    def identity(self) -> dict[str, str]:
        """What the trials run in, in texts by name: a run goes on with the same alone."""
        return {}

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limits in force. Raises TargetError where that cannot be done."""

    def execute(self, command: Command, timeout_s: float) -> Measurement:
        """Run a command once and measure it."""
        raise NotImplementedError

    def look(self) -> Seen:
        """What it sees, after a trial, of what the trial ran in."""
        return Seen()

    def processes(self) -> tuple[int, ...]:
        """What runs in it on this machine; the first only holds the account of those that
        ended."""
        return ()

    def workers(self) -> "Sequence[Target]":
        """One for each trial that may run at once, where that is more than one."""
        return ()

    def stop(self) -> object:
        """Let whatever is waited for end soon."""
        return None

    def await_counts(self) -> None:
        """Wait until neighbours are counted for long enough to judge a trial of any length."""

    def others_between_trials(self, seconds: float) -> dict[str, float] | None:
        """What other processes use while no trial runs, looked at for so long [cores], by name;
        None where they cannot be seen."""
        return None

    def at_work(self, name: str) -> tuple[int, ...]:
        """Other processes of a name that worked beside the last trial, those that used most
        first."""
        return ()


@dataclass(frozen=True)
class Exit:
    """How a program ended, and after how long, from the kernel's accounting of it and all its
    descendants.

    teardown_cpu_s: what it used after the end of what was measured.
    """

    wall_s: float
    exit_code: int
    user_s: float = 0.0
    sys_s: float = 0.0
    max_rss_bytes: int | None = None
    timed_out: bool = False
    exec_error: str | None = None
    counted: Mapping[str, int] = field(default_factory=dict)
    teardown_cpu_s: float = 0.0


def measurement(ended: Exit, used: Counters, timeout_s: float, **further: Any) -> Measurement:
    """A trial of a program that ended. used: what its group counted meanwhile. further: other
    fields of it."""
    user_s, sys_s = used.cpu_times(ended.user_s, ended.sys_s)
    status, error = _judged(ended, used.oom_kills, timeout_s)
    return Measurement(
        wall_s=ended.wall_s,
        user_s=user_s,
        sys_s=sys_s,
        max_rss_bytes=ended.max_rss_bytes,
        exit_code=ended.exit_code,
        status=status,
        error=error,
        **{name: getattr(used, name) for name in THROTTLING},
        **further,
    )


def _judged(ended: Exit, oom_kills: int | None, timeout_s: float) -> tuple[Status, str | None]:
    """The status of a trial as far as its ending tells, and what went wrong."""
    if ended.timed_out:
        return "timeout", f"killed after {timeout_s:g} s"
    if ended.exec_error:
        return "failed", f"the program did not start: {ended.exec_error}"
    if oom_kills:
        return "oom_killed", "a process was killed: out of memory"
    if ended.exit_code < 0:
        number = -ended.exit_code
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return "failed", f"killed by {name}"
    if left := ended.counted.get("left_running"):
        return "ok", f"{left} processes were left running and were killed"
    return "ok", None
