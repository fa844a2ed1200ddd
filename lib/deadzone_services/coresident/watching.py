"""What belongs to a trial although it did not start it: found, read at the trial's moments,
limited, given back."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

from deadzone.plugins import Level, Measurement, Outcome, Sample, TargetError, not_measured
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.targets.limits.base import THROTTLING, Counters, start_ticks
from deadzone.run.targets.limits.inhabited import Group, group_of, inhabitants
from deadzone.run.targets.processes import below, names_of, waits_for_children
from deadzone.run.targets.undo_log import tell
from deadzone.study.coresident_specs import LIMITS, RECORDED, CoresidentSpec
from deadzone_services.coresident.members import GoneError, HeldLimits, group_of_spec, roots_of
from deadzone_services.watching import Pids, Watch

TICK_S = 0.5
"""A server may have hundreds of processes, each of which is read anew: more often would disturb the
trial [s]."""


STARTS_WITHIN_S, LOOK_AGAIN_S = 5.0, 0.02
"""A server that the study starts listens within so long of the end of the command that started it;
how long between two looks [s]."""


class CoresidentProcess:
    """One of what belongs to a trial; a companion of it."""

    def __init__(self, spec: CoresidentSpec) -> None:
        self._spec = spec
        self._roots: dict[int, int | None] = {}
        self._named: Group | None = None
        self._limits = HeldLimits(f"{spec.label} ({spec})", self._own_group, self.processes)
        self._watch = Watch(self._read, self._pids, disk_waits=False)
        self._group: Group | None = None
        self._last_s: float | None = None
        self._total_s = 0.0
        self._wall_s = (0.0, 0.0)
        self._ticked_s = 0.0

    def find(self) -> str:
        """Find its processes anew; who they are. Raises GoneError where there are none."""
        self._roots = {pid: start_ticks(pid) for pid in roots_of(self._spec)}
        self._named = group_of_spec(self._spec)
        self._group = self._own_group()
        pids = self.processes()
        if not self._group and not all(map(waits_for_children, self._roots)):
            raise TargetError(
                f"{self._spec} waits for none of its children (it ignores SIGCHLD), so their CPU "
                "time is in no account. Start it in a control group of its own, such as with "
                "`systemd-run --unit=NAME`, and write `belongs: [{unit: NAME}]`."
            )
        names = dict.fromkeys(name for pid in pids for name in names_of(pid)[:1])
        return (
            f"{self._spec}: {', '.join(names)} ({len(pids)} "
            f"{'processes' if len(pids) > 1 else 'process'})"
        )

    def who(self, is_started: bool) -> str:
        """Who its processes are; of one that is not there, and is_started by the study, its key."""
        try:
            return self.find()
        except GoneError:
            if is_started:
                return str(self._spec)
            raise

    def look(self, within_s: float) -> None:
        """Find it anew unless it is there as it was found: the study may have started it again.

        within_s: so long it may take to be there. Raises GoneError where it is not there then.
        """
        until_s = time.monotonic() + within_s
        while not self._is_there():
            try:
                self.find()
                self._last_s = None  # another account
            except GoneError as error:
                if time.monotonic() < until_s:
                    time.sleep(LOOK_AGAIN_S)
                elif self._roots:
                    raise GoneError(f"{self._spec} has gone {self._was()}") from error
                else:
                    raise

    @property
    def is_known(self) -> bool:
        """Whether it was ever found."""
        return bool(self._roots)

    def _is_there(self) -> bool:
        return any(start_ticks(pid) == ticks for pid, ticks in self._roots.items())

    def _was(self) -> str:
        return f"(it was process {', '.join(map(str, self._roots))})"

    def check(self) -> None:
        """Raise GoneError unless it is there as it was found; of one that was started again the
        account is lost."""
        if self._is_there():
            return
        was = self._was()
        try:
            self.find()
        except GoneError as error:
            raise GoneError(f"{self._spec} has gone {was}") from error
        raise GoneError(f"{self._spec} was started again meanwhile {was}")

    def processes(self) -> tuple[int, ...]:
        """Its processes now."""
        roots = tuple(self._roots)
        return tuple(pid for pid in (*roots, *below(*roots)) if start_ticks(pid) is not None)

    def prepare(self, levels: Mapping[str, Level]) -> None:
        """Put its limits in force where these are factors. Raises TargetError where that is not
        permitted."""
        asked = {
            limit: levels[name]
            for limit in LIMITS
            if (name := f"{self._spec.label}_{limit}") in levels
        }
        if asked:
            self._limits.put(asked)
            self._group = self._own_group()
            self._last_s = None  # another account

    def give_back(self) -> str | None:
        """Give back the limits that were in force before; what could not be."""
        return self._limits.give_back()

    def begin(self) -> float:
        """The trial begins."""
        self._wall_s, self._ticked_s = (time.monotonic(), 0.0), 0.0
        return self._added_up(self._watch.begin())

    def tick(self, t_s: float) -> Sequence[Sample]:
        """Readings under its name, some of the trial's moments left out."""
        if t_s - self._ticked_s < TICK_S:
            return ()
        self._ticked_s = t_s
        read = [
            (sample.metric.removeprefix("service_"), sample.value)
            for sample in self._watch.tick(t_s)
        ]
        return [Sample(t_s, f"{self._spec.label}_{name}", value) for name, value in read]

    def end(self) -> float:
        """The trial has ended."""
        self._wall_s = (self._wall_s[0], time.monotonic())
        return self._added_up(self._watch.end())

    def responses(self) -> dict[str, float]:
        """What it used in the trial, by column."""
        use = self._watch.use()
        wall_s = max(self._wall_s[1] - self._wall_s[0], 1e-9)
        cpu_s = None if use.user_s is None else use.user_s + (use.sys_s or 0.0)
        cpu_limit, memory_limit = self._limits_in_force()
        counted = {name: getattr(use.grown, name) for name in THROTTLING}
        facts: dict[str, Any] = {
            "cores": None if cpu_s is None else cpu_s / wall_s, "cpu_s": cpu_s,
            "cpu_limit": cpu_limit, "memory_limit_bytes": memory_limit, **counted,
            **{name.removeprefix("service_"): value for name, value in use.responses.items()},
        }  # fmt: skip
        label = self._spec.label
        return {
            f"{label}_{name}": float(facts[name])
            for name in RECORDED
            if facts.get(name) is not None
        }

    def _limits_in_force(self) -> tuple[float | None, int | None]:
        with suppress(OSError):
            return self._group.limits() if self._group else (None, None)
        return None, None

    def _own_group(self) -> Group | None:
        """The control group that holds it alone, by which it is read and limited; None where it
        shares one."""
        if self._named:
            return self._named
        pids = self.processes()
        group = group_of(pids[0]) if pids else None
        return group if group and set(inhabitants(group)) <= set(pids) else None

    def _read(self) -> Counters:
        with suppress(OSError, TargetError):
            return self._group.read() if self._group else Counters()
        return Counters()

    def _pids(self) -> tuple[Pids, Pids]:
        """Those that count; of one that has ended and was not waited for yet, what it used is in no
        other account."""
        roots = tuple(self._roots)
        return (*roots, *below(*roots)), ()

    def _added_up(self, now_s: float) -> float:
        """CPU time in all; one that was started again counts on."""
        self._total_s += max(0.0, now_s - (now_s if self._last_s is None else self._last_s))
        self._last_s = now_s
        return self._total_s


class CoresidentProcesses:
    """All that belongs to the trials of a sweep. A context manager: limits are given back on
    leaving."""

    def __init__(self, specs: Sequence[CoresidentSpec], note: Callable[[str], None]) -> None:
        """note: told what could not be given back where an error ends the sweep."""
        self._note = note
        self._all = [CoresidentProcess(spec) for spec in specs]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        with undisturbed():
            problems = [problem for process in self._all if (problem := process.give_back())]
        tell("; ".join(problems), error, self._note)

    def add(self, spec: CoresidentSpec) -> None:
        """From now on this belongs too. Raises GoneError where it is not there."""
        process = CoresidentProcess(spec)
        process.find()
        self._all.append(process)

    def processes(self) -> tuple[int, ...]:
        """The processes of all."""
        return tuple(pid for process in self._all for pid in process.processes())

    def facts(self, is_started: bool) -> dict[str, Any]:
        """Who they are, for the provenance; is_started: perhaps by what is prepared for a trial.
        Raises GoneError where one that is not is not there."""
        return {"belongs": [process.who(is_started) for process in self._all]} if self._all else {}

    def ready(self, levels: Mapping[str, Level], is_started: bool) -> None:
        """Have all there, with their limits in force, as a trial begins.

        is_started: by what was prepared for the trial, so that they may be others than before.
        Raises GoneError where one is not there, TargetError where a limit cannot be put in force.
        """
        for process in self._all:
            process.look(STARTS_WITHIN_S if is_started else 0.0)
            process.prepare(levels)

    def measure(
        self, levels: Mapping[str, Level], measure: Callable[[], tuple[Measurement, Outcome]]
    ) -> tuple[Measurement, Outcome]:
        """A trial with what they used; it is lost where one is not there as it begins, or not any
        more. Raises GoneError where one was never there."""
        try:
            measured, outcome = measure()
        except GoneError as error:
            if not all(process.is_known for process in self._all):
                raise
            return not_measured(str(error), "lost"), Outcome()
        try:
            self._check()
        except GoneError as error:
            return replace(measured, status="lost", error=str(error)), outcome
        used = {
            name: value
            for process in self._all
            for name, value in process.responses().items()
            if name not in levels
        }
        return measured, replace(
            outcome, responses={**used, **outcome.responses}
        ) if used else outcome

    def _check(self) -> None:
        for process in self._all:
            process.check()

    def begin(self) -> float:
        """The trial begins: CPU time of all so far [s]."""
        return sum(process.begin() for process in self._all)

    def tick(self, t_s: float) -> Sequence[Sample]:
        """Readings of all."""
        return [sample for process in self._all for sample in process.tick(t_s)]

    def end(self) -> float:
        """The trial has ended: CPU time of all so far [s]."""
        return sum(process.end() for process in self._all)
