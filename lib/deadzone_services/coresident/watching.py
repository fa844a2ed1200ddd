"""What belongs to a trial although it did not start it: found by unit, process, port, pid file,
control group, container or pod, read at the trial's moments, limited, given back."""

import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from deadzone.plugins import (
    Level,
    Measurement,
    Outcome,
    Sample,
    TargetError,
    did_you_mean,
    not_measured,
)
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.targets.limits.base import THROTTLING, Counters, start_ticks
from deadzone.run.targets.limits.cgroup_v1 import Group, group_named, group_of, inhabitants
from deadzone.run.targets.processes import below, listening, names_of, waits_for_children
from deadzone.run.targets.undo_log import tell
from deadzone.study.coresident_specs import LIMITS, RECORDED, CoresidentSpec
from deadzone_services.base import Watch
from deadzone_services.container import ENGINES, pid_of
from deadzone_services.coresident.held_limits import HeldLimits


class GoneError(TargetError):
    """What belongs to the trials is not there, or not any more."""


def roots_of(spec: CoresidentSpec) -> tuple[int, ...]:
    """Its processes, those below them left out. Raises GoneError, with the nearest that is there,
    if there are none."""
    pids, hint = _FINDERS[spec.way](str(getattr(spec, spec.way)))
    if not pids:
        raise GoneError(f"belongs: {spec}: {hint}")
    return tuple(pids)


Found = tuple[Iterable[int], str]
"""Processes, and what to say where there are none."""


def _by_process(name: str) -> Found:
    # a harness and a server may both be python3
    ours = {os.getpid(), os.getppid(), *below(os.getpid())}
    all_names = {pid: names_of(pid) for pid in psutil.pids() if pid not in ours}
    pids = [pid for pid, names in all_names.items() if name in names]
    known = sorted({*itertools.chain.from_iterable(all_names.values())})
    return pids, f"there is none here.{did_you_mean(name, known)}"


def _by_port(port: str) -> Found:
    there = listening()
    if int(port) in there:
        unseen = "which process listens there, this user may not see; be root, or name the process."
        return _with_group(there[int(port)]), unseen
    listed = ", ".join(map(str, sorted(there, key=lambda other: abs(other - int(port)))[:8]))
    return (), f"nothing is listening there. Listening ports: {listed or 'none'}."


def _by_pid_file(path: str) -> Found:
    try:
        pid = int(Path(path).read_text().split()[0])
    except (OSError, ValueError, IndexError) as error:
        return (), f"it holds no process id: {error}."
    return [pid] if Path(f"/proc/{pid}").is_dir() else [], f"its process {pid} has ended."


def _by_group(name: str) -> Found:
    group = group_named(name)
    return inhabitants(group) if group else (), "no process runs in a group of that name."


def _by_container(name: str) -> Found:
    engines = [engine for engine in ENGINES if shutil.which(engine)]
    pids = [pid for engine in engines if (pid := pid_of(engine, name))]
    missing = f"none of {', '.join(ENGINES)} is installed."
    return pids[:1], "no container of that name runs here." if engines else missing


def _by_pod(name: str) -> Found:
    """A container of a pod has the pod's name for its host's, unless it shares the node's
    network."""
    pids = []
    for process in map(Path, (f"/proc/{pid}" for pid in psutil.pids())):
        with suppress(OSError):
            is_pods = "kubepods" in (process / "cgroup").read_text()
            if is_pods and (process / "root" / "etc" / "hostname").read_text().strip() == name:
                pids.append(int(process.name))
    return pids, "no container of it runs on this node."


_FINDERS = {
    "unit": _by_group, "cgroup": _by_group, "process": _by_process, "port": _by_port,
    "pid_file": _by_pid_file, "container": _by_container, "pod": _by_pod,
}  # fmt: skip


def _with_group(pids: Iterable[int]) -> tuple[int, ...]:
    """Processes with those of their process groups, such as a helper that a server started and left
    to itself; a group that Deadzone or what started it is in may hold anything."""
    ours = (os.getpid(), *(parent.pid for parent in psutil.Process().parents()))
    groups = {*map(_process_group, pids)} - {None, *map(_process_group, ours)}
    members = [pid for pid in psutil.pids() if groups and _process_group(pid) in groups]
    return tuple(dict.fromkeys((*pids, *members)))


def _process_group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:  # it has ended
        return None


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
        self.roots: dict[int, int | None] = {}
        """The processes as they were found, with their starts [ticks]; none before."""
        self._named: Group | None = None
        self._limits = HeldLimits(f"{spec.label} ({spec})", self._own_group, self.processes)
        # of one that has ended and was not waited for yet, what it used is in no other account
        self._watch = Watch(
            self._read, lambda: ((*self.roots, *below(*self.roots)), ()), disk_waits=False
        )
        self._group: Group | None = None
        self._last_s: float | None = None
        self._total_s = 0.0
        self._wall_s = (0.0, 0.0)
        self._ticked_s = 0.0

    def find(self) -> str:
        """Find its processes anew; who they are. Raises GoneError where there are none."""
        self.roots = {pid: start_ticks(pid) for pid in roots_of(self._spec)}
        if named := self._spec.unit or self._spec.cgroup:
            self._named = group_named(named)
        self._group = self._own_group()
        pids = self.processes()
        if not self._group and not all(map(waits_for_children, self.roots)):
            raise TargetError(
                f"{self._spec} waits for none of its children (it ignores SIGCHLD), so their CPU "
                "time is in no account. Start it in a control group of its own, such as with "
                "`systemd-run --unit=NAME`, and write `belongs: [{unit: NAME}]`."
            )
        names = ", ".join(dict.fromkeys(name for pid in pids for name in names_of(pid)[:1]))
        return f"{self._spec}: {names} ({len(pids)} {'processes' if len(pids) > 1 else 'process'})"

    def who(self, is_started: bool) -> str:
        """Who its processes are; of one that is not there, and is_started by the study, its key."""
        forgiven = (GoneError,) if is_started else ()
        with suppress(*forgiven):
            return self.find()
        return str(self._spec)

    def look(self, within_s: float) -> None:
        """Find it anew unless it is there as it was found: the study may have started it again.

        within_s: so long it may take to be there. Raises GoneError where it is not there then.
        """
        until_s = time.monotonic() + within_s
        while not self.is_there():
            try:
                self.find()
                self._last_s = None  # another account
            except GoneError as error:
                if time.monotonic() >= until_s:
                    raise (GoneError(self.gone()) if self.roots else error) from None
                time.sleep(LOOK_AGAIN_S)

    def gone(self, instead: str = "") -> str:
        """Of one that was found before: that it has gone, and who it was."""
        was = ", ".join(map(str, self.roots))
        return f"{self._spec} has gone{instead} (it was process {was})"

    def is_there(self) -> bool:
        """Whether it is there as it was found; of one that was started again the account is
        lost."""
        return any(start_ticks(pid) == ticks for pid, ticks in self.roots.items())

    def processes(self) -> tuple[int, ...]:
        """Its processes now."""
        roots = tuple(self.roots)
        return tuple(pid for pid in (*roots, *below(*roots)) if start_ticks(pid) is not None)

    def prepare(self, levels: Mapping[str, Level]) -> None:
        """Put its limits in force where these are factors. Raises TargetError where that is not
        permitted."""
        own = zip(LIMITS, self._spec.factors, strict=True)
        asked = {limit: levels[name] for limit, name in own if name in levels}
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
        self._ticked_s, label = t_s, self._spec.label
        return [
            Sample(t_s, f"{label}_{sample.metric.removeprefix('service_')}", sample.value)
            for sample in self._watch.tick(t_s)
        ]

    def end(self) -> float:
        """The trial has ended."""
        self._wall_s = (self._wall_s[0], time.monotonic())
        return self._added_up(self._watch.end())

    def responses(self) -> dict[str, float]:
        """What it used in the trial, by column."""
        use = self._watch.use()
        wall_s = max(self._wall_s[1] - self._wall_s[0], 1e-9)
        cpu_s = None if use.user_s is None else use.user_s + (use.sys_s or 0.0)
        limits: tuple[float | None, int | None] = (None, None)
        with suppress(OSError):
            limits = self._group.limits() if self._group else limits
        facts: dict[str, Any] = {
            "cores": None if cpu_s is None else cpu_s / wall_s,
            "cpu_s": cpu_s,
            **{name: getattr(use.grown, name) for name in THROTTLING},
            **dict(zip(("cpu_limit", "memory_limit_bytes"), limits, strict=True)),
            **{name.removeprefix("service_"): value for name, value in use.responses.items()},
        }
        known = {name: facts[name] for name in RECORDED if facts.get(name) is not None}
        return {f"{self._spec.label}_{name}": float(value) for name, value in known.items()}

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

    def _added_up(self, now_s: float) -> float:
        """CPU time in all; one that was started again counts on."""
        self._total_s += 0.0 if self._last_s is None else max(0.0, now_s - self._last_s)
        self._last_s = now_s
        return self._total_s


class CoresidentProcesses(AbstractContextManager["CoresidentProcesses"]):
    """All that belongs to the trials of a sweep. A context manager: limits are given back on
    leaving."""

    def __init__(self, specs: Sequence[CoresidentSpec], note: Callable[[str], None]) -> None:
        """note: told what could not be given back where an error ends the sweep."""
        self._note = note
        self._all = [CoresidentProcess(spec) for spec in specs]

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
            if not all(process.roots for process in self._all):
                raise
            return not_measured(str(error), "lost"), Outcome()
        if gone := [process for process in self._all if not process.is_there()]:
            why = gone[0].gone(" or was started again in between")
            return replace(measured, status="lost", error=why), outcome
        used = [process.responses() for process in self._all]
        own = {name: value for one in used for name, value in one.items() if name not in levels}
        return measured, replace(outcome, responses={**own, **outcome.responses})

    def begin(self) -> float:
        """The trial begins: CPU time of all so far [s]."""
        return sum(process.begin() for process in self._all)

    def tick(self, t_s: float) -> Sequence[Sample]:
        """Readings of all."""
        return [sample for process in self._all for sample in process.tick(t_s)]

    def end(self) -> float:
        """The trial has ended: CPU time of all so far [s]."""
        return sum(process.end() for process in self._all)
