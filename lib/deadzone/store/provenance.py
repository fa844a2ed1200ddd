"""The circumstances of a run: host, processor, kernel, versions, git commit. No secrets, no
environment."""

import hashlib
import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deadzone.extras import version_of
from deadzone.store.programs import answer_of

IDENTITY = "identity"
"""The key of what was measured, in texts by name: its program's checksum, its image."""

PACKAGES = ("deadzone", "numpy", "pandas", "scipy", "pyarrow", "papermill")


def usable_cores() -> int:
    """Cores that programs started from here may use."""
    return len(os.sched_getaffinity(0))


def host_facts() -> dict[str, Any]:
    """What of this machine bears on a measurement."""
    return {
        "recorded_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "cpu_model": cpu_model(),
        "cores_usable": usable_cores(),
        "cores_online": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "operating_system": operating_system(),
        "frequency_governor": first_line(
            Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
        ),
        "virtualised": "hypervisor" in _cpu_field("flags").split(),
        "pressure_stall_information": Path("/proc/pressure/memory").exists(),
        "load_average_1min": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "packages": {name: version_of(name) for name in PACKAGES},
    }


def cpu_model() -> str:
    """The processor's own name."""
    return _cpu_field("model name") or platform.processor() or platform.machine()


def operating_system() -> str:
    """Name and version of the distribution."""
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def git_facts(folder: Path) -> dict[str, Any]:
    """Commit of the working tree a folder is in, and whether it was changed since; empty outside
    git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return {}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"git_commit": commit, "git_changed": bool(changes)}


def notebook_facts(path: Path, home: Path) -> dict[str, Any]:
    """Path of a notebook, from home where it lies in it, its SHA-256, and whether it differs from
    the committed one: None outside git, and for one that is not committed."""
    name = path.relative_to(home) if path.is_relative_to(home) else path
    is_committed = _git(path.parent, "ls-files", "--error-unmatch", path.name) is not None
    is_changed = _git(path.parent, "diff", "--quiet", "HEAD", "--", path.name) is None
    return {
        "path": str(name),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "differs": is_changed if is_committed else None,
    }


def workload_changes(facts: Mapping[str, Any], workload: Mapping[str, str]) -> str:
    """What differs from the workload that a run began with, in words; empty where nothing does, and
    of a run that does not know.

    facts: the circumstances of the run. workload: what is measured now, in texts by name.
    """
    parts = (part.get(IDENTITY) for part in (*facts.get("earlier_parts", ()), facts))
    known: Mapping[str, str] = next(filter(None, parts), workload)
    return "; ".join(
        f"{name} was {known.get(name, 'not there')}, is {workload.get(name, 'not there')}"
        for name in {**known, **workload}
        if known.get(name) != workload.get(name)
    )


def _git(folder: Path, *arguments: str) -> str | None:
    answer = answer_of(("git", "-C", str(folder), *arguments))
    return answer.stdout.strip() if answer.returncode == 0 else None


def _cpu_field(name: str) -> str:
    path = Path("/proc/cpuinfo")
    match = re.search(rf"^{name}\s*:(.*)", path.read_text() if path.exists() else "", re.MULTILINE)
    return match[1].strip() if match else ""


def first_line(path: Path) -> str | None:
    """The first line of a file that the kernel fills; None where there is none."""
    try:
        return path.read_text().splitlines()[0].strip()
    except (OSError, IndexError):
        return None
