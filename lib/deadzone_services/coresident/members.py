"""The processes of what belongs to a trial, found by unit, process, port, pid file, control group,
container or pod.

Their CPU and memory limit is put in force in their control group, read back, and given back
whatever happens. Where what belongs shares its group with other processes, it is moved to one of
its own for the time of the sweep.
"""

import contextlib
import itertools
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import psutil

from deadzone.errors import system_reason
from deadzone.plugins import Level, TargetError, did_you_mean
from deadzone.run.targets.limits.base import PERIOD_US, as_bytes, as_cores, group_name
from deadzone.run.targets.limits.cgroup_v1 import CgroupV1, v1_homes, v1_mounts
from deadzone.run.targets.limits.cgroup_v2 import UNIFIED, CgroupV2, own_v2_group, v2_mount
from deadzone.run.targets.limits.inhabited import Group, group_named, inhabitants
from deadzone.run.targets.processes import below, listening, names_of
from deadzone.run.targets.undo_log import UndoEntry, record_change, undo
from deadzone.study.coresident_specs import CoresidentSpec
from deadzone_services.container import ENGINES, ask

MOST_NAMED = 8
"""So many of what there is are named where what was asked for is not there."""

KUBERNETES = "kubepods"
"""Part of the path of every pod's control group."""


class GoneError(TargetError):
    """What belongs to the trials is not there, or not any more."""


def roots_of(spec: CoresidentSpec) -> tuple[int, ...]:
    """Its processes, those below them left out. Raises GoneError, with the nearest that is there,
    if there are none."""
    value = str(getattr(spec, spec.way))
    pids, known, hint = _FINDERS[spec.way](value)
    if not pids:
        there = did_you_mean(value, known) or _listed(known)
        raise GoneError(f"belongs: {spec}: {hint or 'there is none here'}.{there}")
    return tuple(pids)


def group_of_spec(spec: CoresidentSpec) -> Group | None:
    """The control group that a spec names; None where it names processes."""
    return group_named(str(getattr(spec, spec.way))) if spec.way in ("unit", "cgroup") else None


Found = tuple[Iterable[int], Iterable[str], str]
"""Processes, names of others that are there, and what to say where there are none."""


def _by_process(name: str) -> Found:
    # a harness and a server may both be python3
    ours = {os.getpid(), os.getppid(), *below(os.getpid())}
    all_names = {pid: names_of(pid) for pid in psutil.pids() if pid not in ours}
    pids = [pid for pid, names in all_names.items() if name in names]
    return pids, itertools.chain.from_iterable(all_names.values()), ""


def _by_port(port: str) -> Found:
    there = listening()
    pids = _with_group(there.get(int(port), ()))
    unseen = "which process listens there, this user may not see; be root, or name the process"
    hint = unseen if int(port) in there else "nothing listens there"
    nearest = sorted(there, key=lambda port_number: abs(port_number - int(port)))[:MOST_NAMED]
    return pids, [f"{port_number}{_named(there[port_number])}" for port_number in nearest], hint


def _by_pid_file(path: str) -> Found:
    file = Path(path)
    try:
        pid = int(file.read_text().split()[0])
    except OSError as error:
        siblings = (
            [str(sibling) for sibling in file.parent.glob("*.pid")] if file.parent.is_dir() else []
        )
        return (), siblings, f"it cannot be read: {error.strerror}"
    except (ValueError, IndexError):
        return (), (), "it begins with no process id"
    return [pid] if Path(f"/proc/{pid}").is_dir() else [], (), f"its process {pid} has ended"


def _by_group(name: str) -> Found:
    group = group_named(name)
    if group:
        return inhabitants(group), (), "no process runs in it"
    roots = {root for root in (v2_mount(), v1_mounts().get("cpu")) if root}
    # os.walk passes over a group that goes away meanwhile.
    return (
        (),
        sorted({name for root in roots for _, below, _ in os.walk(root) for name in below}),
        "",
    )


def _by_container(name: str) -> Found:
    engines = [engine for engine in ENGINES if shutil.which(engine)]
    for engine in engines:
        answer = ask(engine, "inspect", "--format", "{{.State.Pid}}", name)
        if (
            answer.returncode == 0
            and answer.stdout.strip().isdigit()
            and answer.stdout.strip() != "0"
        ):
            return [int(answer.stdout)], (), ""
    known = [
        name
        for engine in engines
        for name in ask(engine, "ps", "--format", "{{.Names}}").stdout.split()
    ]
    return (), known, "" if engines else f"none of {', '.join(ENGINES)} is installed"


def _by_pod(name: str) -> Found:
    """A container of a pod has the pod's name for its host's, unless it shares the node's
    network."""
    pods: dict[str, list[int]] = defaultdict(list)
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            if KUBERNETES in Path(f"/proc/{pid}/cgroup").read_text():
                pods[Path(f"/proc/{pid}", "root", "etc", "hostname").read_text().strip()].append(
                    pid
                )
    return pods.get(name, ()), pods, "no container of it runs on this node"


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


def _named(pids: Iterable[int]) -> str:
    names = dict.fromkeys(names[0] for pid in pids if (names := names_of(pid)))
    return f" ({', '.join(names)})" if names else ""


def _listed(known: Iterable[str]) -> str:
    shown = sorted(set(known))[:MOST_NAMED]
    return f" There {'are' if len(shown) > 1 else 'is'} {', '.join(shown)}." if shown else ""


HELD = "held-by-"
"""Begins the name of a group into which a server was moved: no group of trials, whose processes
would be killed when left over."""

_COUNT = itertools.count(1)


class HeldLimits:
    """The limits of one group. what: of whom, said to people."""

    def __init__(
        self,
        what: str,
        own: Callable[[], Group | None],
        processes: Callable[[], tuple[int, ...]],
    ) -> None:
        """own: the group that is its alone, None where it shares one. processes: its processes
        now."""
        self._what, self._own, self._processes = what, own, processes
        self._group: Group | None = None
        self._moved: Group | None = None
        self._note: Path | None = None

    def put(self, limits: Mapping[str, Level]) -> None:
        """Put limits in force, by cpu_limit and memory_limit. Raises TargetError where that is not
        permitted."""
        try:
            group = self._group = self._group or self._hold()
            self._move_in()
            if "cpu_limit" in limits:
                group.set_cpu_limit(as_cores(limits["cpu_limit"]))
            if "memory_limit" in limits:
                group.set_memory_limit(as_bytes(limits["memory_limit"]))
        except (OSError, TargetError) as error:
            why = system_reason(error) if isinstance(error, OSError) else str(error)
            sentence = (
                f"The limits of {self._what} are not ours to change: {why.rstrip('.')}. Root may."
            )
            raise TargetError(sentence) from error

    def give_back(self) -> str | None:
        """Give back what was in force before; what could not be."""
        self._group = self._moved = None
        note, self._note = self._note, None
        return undo(note) if note else None

    def _hold(self) -> Group:
        group = self._own()
        if group is None:
            return self._make()
        files = {str(path): path.read_text().strip() for path in group.limit_files()}
        self._note = record_change(UndoEntry(self._what, files=files))
        if isinstance(group, CgroupV1):
            group.set_cpu_limit(None)
            group.limit_files()[0].write_text(str(PERIOD_US))
        return group

    def _make(self) -> Group:
        """A group of its own, with the note of where its processes come from."""
        pids = self._processes()
        refused = []
        for group in (CgroupV2(), CgroupV1()):
            try:
                group.open(f"{HELD}{group_name()}-{next(_COUNT)}")
            except TargetError as error:
                refused.append(f"{group.name}: {str(error).rstrip('.')}")
                continue
            homes = [_homes(pid) for pid in pids]
            if any(home != homes[0] for home in homes):
                group.close()
                raise TargetError("its processes are in several control groups; name one of these")
            moves = {
                str(path): str(homes[0].get(hierarchy))
                for hierarchy, path in group.folders().items()
            }
            self._note = record_change(UndoEntry(self._what, moves=moves))
            self._moved = group
            return group
        raise TargetError("; ".join(refused))

    def _move_in(self) -> None:
        """Move processes that are not in the group yet, and those that they start meanwhile."""
        while self._moved and (outside := {*self._processes()} - {*inhabitants(self._moved)}):
            for pid in outside:
                if Path(f"/proc/{pid}").is_dir():
                    self._moved.adopt(pid)


def _homes(pid: int) -> dict[str, Path]:
    """The groups of a process, by hierarchy."""
    group = own_v2_group(pid)
    return {**v1_homes(pid), **({UNIFIED: group} if group else {})}
