"""Limits of a process that was there before the sweep.

Its CPU and memory limit is put in force in its control group, read back, and given back whatever
happens. Where it shares its group with other processes, it is moved to one of its own for the time
of the sweep.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from deadzone.errors import system_reason
from deadzone.plugins import Level, TargetError
from deadzone.run.targets.limits.base import PERIOD_US, as_bytes, as_cores, group_name
from deadzone.run.targets.limits.cgroup_v1 import CgroupV1, Group, inhabitants, v1_homes
from deadzone.run.targets.limits.cgroup_v2 import UNIFIED, CgroupV2, own_v2_group
from deadzone.run.targets.undo_log import UndoEntry, record_change, undo

HELD = "held-by-"
"""Begins the name of a group into which a server was moved: no group of trials, whose processes
would be killed when left over."""


class HeldLimits:
    """The limits of one group. what: of whom, said to people."""

    def __init__(
        self, what: str, own: Callable[[], Group | None], processes: Callable[[], tuple[int, ...]]
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
            is_gone = self._group and not self._group.folder.is_dir()  # with its container
            if is_gone and (problem := self.give_back()):
                raise TargetError(problem)
            group = self._group = self._group or self._hold()
            self._move_in()
            if "cpu_limit" in limits:
                group.set_cpu_limit(as_cores(limits["cpu_limit"]))
            if "memory_limit" in limits:
                group.set_memory_limit(as_bytes(limits["memory_limit"]))
        except (OSError, TargetError) as error:
            why = system_reason(error) if isinstance(error, OSError) else str(error)
            raise TargetError(
                f"The limits of {self._what} are not ours to change: {why.rstrip('.')}. Root may."
            ) from error

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
        if not pids:
            raise TargetError("none of its processes is there any more")
        refused = []
        for group in (CgroupV2(), CgroupV1()):
            try:
                group.open(f"{HELD}{group_name(counted=True)}")
            except TargetError as error:
                refused.append(f"{group.name}: {str(error).rstrip('.')}")
                continue
            homes = [_homes(pid) for pid in pids]
            if any(home != homes[0] for home in homes):
                group.close()
                raise TargetError("its processes are in several control groups; name one of these")
            moves = {
                str(path): str(homes[0].get(hierarchy)) for hierarchy, path in group.folders.items()
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
