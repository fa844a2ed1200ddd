"""The local target: runs programs on this machine under a real CPU limit and measures them."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from deadzone.errors import SaidAs, TargetError
from deadzone.measurement import Command, Interference, Measurement, Sample
from deadzone.run.targets import interference
from deadzone.run.targets.account import ThreadAccount
from deadzone.run.targets.base import Companion, Exit, Target, measurement
from deadzone.run.targets.interference import LEAST_CORES, OtherProcesses
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.targets.launching import Answering, Launcher, Program, Reader
from deadzone.run.targets.limits import pacer
from deadzone.run.targets.limits.base import (
    Counters,
    LimitMechanism,
    as_bytes,
    as_cores,
    group_name,
    quota_us,
)
from deadzone.run.targets.limits.cgroup_v1 import CgroupV1
from deadzone.run.targets.limits.cgroup_v2 import CgroupV2
from deadzone.run.targets.limits.io import IO_LIMITS, IoLimiter, io_limit
from deadzone.run.targets.limits.systemd import SystemdScope
from deadzone.run.targets.processes import below, listed
from deadzone.run.targets.undo_log import give_back_left_over
from deadzone.study.design import Treatment
from deadzone.study.levels import NONE, Level
from deadzone.study.target_specs import LocalTargetSpec

SCRATCH_HOMES = (Path("/dev/shm"),)
"""Memory-backed file systems, tried first: a trial's output should not wait for a disk."""

NO_PROC = (
    "Measuring on this machine needs Linux with /proc mounted, and there is none; fit, compare, "
    "report and the notebooks that read runs work without it."
)


class Emulated(LimitMechanism):
    """A pacer beside the launcher, which stops and continues whatever descends from it. It needs no
    right, and counts what the kernel's quota counts, the time for which the program was stopped in
    the place of throttling; reports say so in their first lines."""

    name = "emulated"

    _pacer: Answering | None = None

    def adopt(self, pid: int) -> None:
        """Start the pacer. Raises TargetError where this system does not let it see and signal
        processes."""
        argv = (sys.executable, "-I", "-S", pacer.__file__, str(pid))
        self._pacer = Answering(argv, "The pacer, which holds the program to its CPU limit,")
        self._ask("read")

    def set_cpu_limit(self, cores: float | None) -> None:
        """Hand the limit to the pacer, which begins a fresh period."""
        quota_us(cores)  # refuses what the kernel would refuse
        self._ask(f"limit {'none' if cores is None else cores}")

    def read(self) -> Counters:
        """What the pacer counted. CPU time comes from the program's own accounting."""
        return self._ask("read")

    def _ask(self, request: str) -> Counters:
        assert self._pacer is not None
        return Counters(**self._pacer.ask(request))

    def close(self) -> None:
        """End the pacer, and with it whatever it still holds."""
        if self._pacer:
            self._pacer.close()
            self._pacer = None


MECHANISMS: dict[str, type[LimitMechanism]] = {
    "cgroup-v2": CgroupV2,
    "cgroup-v1": CgroupV1,
    "systemd": SystemdScope,
    "emulated": Emulated,
    "unlimited": LimitMechanism,
}
"""By name, in the order of preference: the kernel's own files before a go-between, a quota before
its emulation."""

QUOTA_MECHANISMS = ("cgroup-v2", "cgroup-v1", "systemd")
"""Those in which the kernel itself holds the limit."""


class LocalTarget(Target):
    """Programs on this machine, in a control group of their own where the system has one to
    give."""

    factors: tuple[str, ...] = ("cpu_limit", "memory_limit", *IO_LIMITS)

    def __init__(
        self,
        spec: LocalTargetSpec,
        levels: Sequence[Level] = (),
        memory_levels: Sequence[Level] = (),
        io: IoLimiter | None = None,
        note: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """levels, memory_levels, io: the limits the study will ask for, those of I/O with what puts
        them in force; a mechanism is chosen that can do them all. note: is told what killed runs
        left and cannot be given back."""
        self._note = note
        self._spec = spec
        self._levels = tuple(levels) or (spec.cpu_limit,)
        self._memory_levels = tuple(memory_levels) or (spec.memory_limit,)
        self._memory_limit: Level = NONE
        self._cores: float | None = None
        self._io = io
        self.scratch = Path(os.devnull)
        self._launcher: Launcher | None = None
        self._refused: dict[str, str] = {}
        self._neighbours = interference.Neighbours()
        self._others = OtherProcesses()
        self.account = ThreadAccount() if spec.account else None
        """Where the time of a trial's threads goes; a companion may keep it of its own."""
        self._trials_cpu_s = 0.0

    def __enter__(self) -> Self:
        if not Path("/proc/self").exists():
            raise TargetError(NO_PROC)
        give_back_left_over(self._note)
        try:
            self.scratch = make_scratch(all(level == NONE for level in self._memory_levels))
            self._open_best()
            if self.account:
                self.account.open()
            own_s = interference.harness_cpu_s() + self._mechanism.read().overhead_s
            self._neighbours.mark(interference.read_machine(), own_s)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        with undisturbed():
            self._close()
            if self.account:
                self.account.close()
            shutil.rmtree(self.scratch, ignore_errors=True)

    def prepare(self, treatment: Treatment) -> None:
        """Put the treatment's limits in force, or the target's own where a limit is no factor."""
        self._cores = as_cores(treatment.levels.get("cpu_limit", self._spec.cpu_limit))
        self._mechanism.set_cpu_limit(self._cores)
        memory = treatment.levels.get("memory_limit", self._spec.memory_limit)
        if memory != self._memory_limit:
            self._mechanism.set_memory_limit(as_bytes(memory))
            self._memory_limit = memory
        self._running.has_memory_limit = memory != NONE
        if self._io:
            asked = (treatment.levels.get(name, getattr(self._spec, name)) for name in IO_LIMITS)
            self._io.set(io_limit(*asked))

    def start(self, command: Command, log: Path, port: int | None = None) -> Program:
        """Start a service under the limits set by prepare; it goes on until it is stopped, or the
        target is closed."""
        return self._running.start(command, log)

    def read(self) -> Counters:
        """The accounting of the group now."""
        return self._mechanism.read()

    def processes(self) -> tuple[int, ...]:
        """What runs in the group, the launcher first: it holds the account of those that have
        ended."""
        launcher = self._running.pid
        files = self._mechanism.procs_files()
        inside = listed(files) if files else below(launcher)
        return (launcher, *(pid for pid in inside if pid != launcher))

    def execute(
        self, command: Command, timeout_s: float, companion: Companion | None = None
    ) -> Measurement:
        """Run the command to its end or time-out; the limit set by prepare holds from its first
        instruction.

        companion: what belongs to the trial besides; its CPU time is not the neighbours'.
        """
        launcher, mechanism, account = self._running, self._mechanism, self.account
        account = None if companion else account
        beside = [one for one in (companion, self.belongs) if one]
        samples: list[Sample] = []
        before: list[tuple[Counters, interference.MachineReading, float]] = []
        after: list[tuple[Counters, Interference, dict[str, float]]] = []
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._others.begin(self._spared)

        def read(beside_s: float) -> tuple[Counters, interference.MachineReading, float]:
            counted, machine = mechanism.read(), interference.read_machine()
            return counted, machine, interference.harness_cpu_s() + counted.overhead_s + beside_s

        def there() -> tuple[int, ...]:
            """What lives on as a trial begins or ends: of a program that says when, the program."""
            return self.processes()[1:] if command.has_gate else ()

        def sample(t_s: float, used: Counters) -> None:
            samples.extend(() if companion else used.series(t_s))
            for one in beside:
                samples.extend(one.tick(t_s))

        def on_start(cpu_s: float) -> None:
            self._trials_cpu_s += cpu_s
            if account:
                account.begin(there())
            before.append(read(sum(one.begin() for one in beside)))
            self._neighbours.mark(before[0][1], before[0][2] + self._trials_cpu_s)

        def on_tick(t_s: float) -> None:
            sample(t_s, mechanism.read().since(before[0][0]))
            if account:
                account.look(lambda: self.processes()[1:])

        def on_end(ended: Exit) -> None:
            wall_s = max(ended.wall_s, 1e-9)
            counted, machine, others_s = read(sum(one.end() for one in beside))
            used = counted.since(before[0][0])
            sample(ended.wall_s, used)
            own_cpu_s = sum(used.cpu_times(ended.user_s, ended.sys_s))
            seen = interference.between(before[0][1], machine, own_cpu_s + others_s - before[0][2])
            self._trials_cpu_s += own_cpu_s
            self._neighbours.mark(machine, others_s + self._trials_cpu_s)
            wide = self._neighbours.of_trial(seen)
            seen = wide if companion is None else seen
            facts: dict[str, float] = dict(account.counts()) if account else {}
            if account:
                facts |= account.end(
                    (launcher.pid,), ended.wall_s, own_cpu_s, used, self._cores, there()
                )
            waited = interference.waited_share(
                seen.foreign_cpu, ended.wall_s, facts.get("ready_s"), used.cpu_stall_s
            )
            seen = replace(
                seen,
                exposure=interference.exposure(own_cpu_s / wall_s, waited),
                own_memory_pressure=(used.memory_stall_s or 0.0) / wall_s,
                own_io_pressure=(used.io_stall_s or 0.0) / wall_s,
                processes=self._others_at_end(seen),
            )
            after.append((used, seen, facts))

        ended = launcher.run(command, timeout_s, Reader(on_start, on_tick, on_end))
        self._trials_cpu_s += ended.teardown_cpu_s
        used, seen, counters = after[0]
        return measurement(
            ended,
            used,
            timeout_s,
            started_at=started_at,
            stdout=launcher.output("stdout"),
            stderr=launcher.output("stderr"),
            interference=seen,
            telemetry=tuple(samples),
            counted={**ended.counted, **counters},
        )

    def await_counts(self) -> None:
        """Wait until neighbours are counted for long enough to judge a trial of any length."""
        time.sleep(max(self._neighbours.until_counted_s(), 0.0))

    def _others_at_end(self, seen: Interference) -> interference.Shares:
        """Who the others were; it looks for none where the kernel's clock cannot tell that there
        were any."""
        if seen.foreign_cpu < seen.foreign_cpu_resolution + LEAST_CORES:
            return ()
        return self._others.at_end(self._spared())

    def _spared(self) -> Sequence[int]:
        """What belongs to every trial, and is no other."""
        return self.belongs.processes() if self.belongs else ()

    def others_between_trials(self, seconds: float) -> dict[str, float]:
        """What other processes use while no trial runs, looked at for so long [cores], by name."""
        time.sleep(seconds)
        return dict(self._others.between(self._spared()))

    def at_work(self, name: str) -> tuple[int, ...]:
        """Other processes of a name that worked beside the last trial, those that used most
        first."""
        return self._others.at_work(name)

    def facts(self) -> dict[str, Any]:
        """The mechanism in force, and why better ones were not."""
        return {
            "target": "local",
            "limits_mechanism": self._mechanism.name,
            "mechanisms_refused": self._refused,
            **(self.account.facts() if self.account else {}),
            **({"io_limits_mechanism": self._io.name} if self._io else {}),
            "scratch": "tmpfs" if self.scratch.parent in SCRATCH_HOMES else "disk",
        }

    @property
    def _running(self) -> Launcher:
        if self._launcher is None:
            raise TargetError("The local target is not open; use it in a with statement.")
        return self._launcher

    @property
    def _mechanism(self) -> LimitMechanism:
        return self._running.mechanism

    def _open_best(self) -> None:
        """Open the first mechanism that takes every limit of the study."""
        chosen = self._spec.mechanism
        limited = any(level != NONE for level in (*self._levels, *self._memory_levels))
        unfit = "unlimited" if limited else "emulated"
        best = [name for name in MECHANISMS if name != unfit]
        for name in best if chosen == "auto" else [chosen]:
            try:
                self._open(MECHANISMS[name]())
                return
            except TargetError as error:
                self._refused[name] = str(error).rstrip(".")
                self._close()
        reasons = "\n".join(f"  {name}: {why}" for name, why in self._refused.items())
        raise TargetError(
            f"No mechanism can put this study's limits in force here:\n{reasons}\n"
            "Run as root, or in a systemd user session; `deadzone doctor` says what is missing."
        )

    def _open(self, mechanism: LimitMechanism) -> None:
        self._launcher = Launcher(mechanism, self.scratch)
        self._launcher.open(group_name(counted=True))
        for level in dict.fromkeys(self._levels):
            mechanism.set_cpu_limit(as_cores(level))
        for memory in dict.fromkeys(self._memory_levels):
            if memory != NONE:
                mechanism.set_memory_limit(as_bytes(memory))
                mechanism.set_memory_limit(None)
        self._memory_limit = NONE
        if self._io:
            self._io.open(group_name(counted=True), self._launcher.pid, mechanism.procs_files())

    def _close(self) -> None:
        if self._launcher:
            self._launcher.close()
            self._launcher = None
        if self._io:
            self._io.close()


def make_scratch(in_memory: bool = True) -> Path:
    """A fresh folder for what trials write, memory-backed where the system has such a place; not
    where the memory of trials is limited, for what they write would count as theirs.

    Raises TargetError if none can be made.
    """
    homes = [home for home in SCRATCH_HOMES if in_memory and os.access(home, os.W_OK)]
    with SaidAs(
        TargetError,
        "No folder for what trials write can be made",
        "Make room, or set TMPDIR.",
        names_file=True,
    ):
        return Path(tempfile.mkdtemp(prefix=f"{group_name()}-", dir=homes[0] if homes else None))
