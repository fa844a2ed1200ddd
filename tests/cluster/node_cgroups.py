"""The control groups that belong to the node: one in each hierarchy, with all its pods beneath."""

import contextlib
import os
import signal
import time
from pathlib import Path

from node_places import NAME, NotPossibleHere

ROOT = Path("/sys/fs/cgroup")

NEEDED_V1 = ("cpu", "cpuacct", "cpuset", "devices", "memory", "pids")

GONE_TIMEOUT_S = 30.0
"""How long killed processes may take to leave their groups [s]."""


def make_groups() -> Path:
    """Make them; returns the group of the node's own programs. Raises NotPossibleHere."""
    if os.access(ROOT / "cgroup.controllers", os.R_OK):
        hierarchies, home = [ROOT], ROOT / NAME
    else:
        missing = [name for name in NEEDED_V1 if not (ROOT / name / "cgroup.procs").exists()]
        if missing:
            raise NotPossibleHere(f"no cgroup hierarchy for {', '.join(missing)} is mounted here")
        hierarchies, home = _hierarchies_v1(), ROOT / "pids" / NAME
    try:
        for hierarchy in hierarchies:
            (hierarchy / NAME).mkdir(exist_ok=True)
        (home / "programs").mkdir(exist_ok=True)
    except OSError as error:
        raise NotPossibleHere(f"no control groups can be made here ({error})") from error
    return home / "programs"


def remove_groups() -> None:
    """Kill every process in them, and remove them."""
    deadline = time.monotonic() + GONE_TIMEOUT_S
    while pids := processes():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise RuntimeError(
                f"killed, but still there: processes {', '.join(map(str, sorted(pids)))}"
            )
        time.sleep(0.05)
    for group in _groups():
        for folder, _, _ in os.walk(group, topdown=False):
            Path(folder).rmdir()


def processes() -> set[int]:
    """Process ids of everything that belongs to the node."""
    return {
        int(line)
        for group in _groups()
        for folder, _, _ in os.walk(group)  # which a group that vanishes meanwhile does not end
        for line in _lines(Path(folder, "cgroup.procs"))
        if line != "0"
    }


def _groups() -> list[Path]:
    return [path for hierarchy in (ROOT, *_hierarchies_v1()) if (path := hierarchy / NAME).is_dir()]


def _hierarchies_v1() -> list[Path]:
    """Mounted hierarchies; of those that go by two names, one."""
    folders = [one for one in ROOT.iterdir() if one.is_dir() and (one / "cgroup.procs").exists()]
    by_device = {path.stat().st_dev: path for path in folders}
    by_device.pop(ROOT.stat().st_dev, None)
    return list(by_device.values())


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:  # removed meanwhile
        return []
