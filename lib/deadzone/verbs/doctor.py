"""`doctor`: what works on this machine, tried out rather than looked up, and how to get what does
not."""

import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadzone import packs, places
from deadzone.errors import DeadzoneError
from deadzone.extras import extras, install_line, requirements, version_of
from deadzone.measurement import Command
from deadzone.packs import Check
from deadzone.run.targets.limits.io import IoLimit, IoLimiter
from deadzone.run.targets.local import QUOTA_MECHANISMS, LocalTarget
from deadzone.run.targets.undo_log import remove_leftovers
from deadzone.run.workloads.ffmpeg import BUNDLED, find_ffmpeg
from deadzone.store.programs import program_version
from deadzone.store.provenance import cpu_model, usable_cores
from deadzone.study.design import Treatment
from deadzone.study.quantity import size_text
from deadzone.study.target_specs import LocalTargetSpec

if TYPE_CHECKING:
    import pandas as pd

TRIED_LIMIT = 0.5
QUOTA_REMEDY = (
    "run as root, or in a systemd user session (loginctl enable-linger USER; log in again), or in "
    "a container with a writable cgroup"
)
LONGEST_VERSION = 80
"""Letters of what a program says of itself."""


def doctor() -> "pd.DataFrame":
    """What `deadzone doctor` shows, one row each: what (was tried), works (true or false), why, and
    what_to_do, empty where nothing is to do.

    Everything is tried out, which takes some seconds. Raises nothing for what does not work.

    >>> doctor().query("not works")  # doctest: +SKIP
    """
    import pandas as pd

    rows = [(one.name, one.state == "works", one.finding, one.remedy) for one in examine()]
    return pd.DataFrame(rows, columns=["what", "works", "why", "what_to_do"])


def examine() -> list[Check]:
    """Try out everything a study may need. Removes what killed runs left behind, and says so."""
    left = [*map(str, remove_leftovers())]
    left_over = f"removed {len(left)} left by killed runs: {', '.join(left)}" if left else "none"
    return [
        Check(
            "machine",
            "works",
            f"{usable_cores()} cores of {cpu_model()}, Python {platform.python_version()}",
        ),
        Check("left-overs", "works", left_over),
        *_limits(),
        _io_limit(),
        _ffmpeg(),
        *(
            check
            for pack in packs.packs()
            for place in pack.checks
            for check in packs.load(place)()
        ),
        *map(_extra, extras()),
    ]


def _check(name: str, works: bool, finding: str, remedy: str = "") -> Check:
    """What works, or what is missing and only some studies need."""
    return Check(name, "works" if works else "optional", finding, "" if works else remedy)


def main_job_works(checks: list[Check]) -> bool:
    """Whether nothing is missing that sweeping on this machine needs."""
    return not any(check.state == "missing" for check in checks)


def _limits() -> Iterator[Check]:
    """Try each mechanism that gives a real quota; one is enough. Without any, limits are
    emulated."""
    wrong = {name: _wrong_with(_limited_by(name)) for name in QUOTA_MECHANISMS}
    for name, why in wrong.items():
        works = f"a limit of {TRIED_LIMIT} cores was put in force and read back"
        yield _check(f"CPU limit by {name}", not why, why or works)
    if all(wrong.values()):
        why = _wrong_with(_limited_by("emulated"))
        found = f"no mechanism works ({why})" if why else "emulated"
        yield Check("CPU limit", "missing" if why else "works", found, QUOTA_REMEDY)


def _limited_by(mechanism: Any) -> LocalTargetSpec:
    return LocalTargetSpec(mechanism=mechanism, cpu_limit=TRIED_LIMIT)


def _wrong_with(spec: LocalTargetSpec, io: IoLimiter | None = None) -> str:
    """What stands in the way of a program under a limit; empty where nothing does."""
    try:
        with LocalTarget(spec, io=io) as target:
            target.prepare(Treatment({}))
            tried = target.execute(Command((sys.executable, "-S", "-c", "pass")), timeout_s=60)
    except DeadzoneError as error:
        lines = str(error).splitlines()
        return lines[1].split(": ", 1)[1] if len(lines) > 1 else lines[0]
    return "" if tried.status == "ok" else f"a program under it ended as {tried.status}"


def _io_limit() -> Check:
    """Try a limit on the disk below the runs, or below the current folder outside a repository."""
    folder = runs if (runs := places.runs_folder()).is_dir() else Path.cwd()
    limit = IoLimit(bandwidth := 50_000_000, calls := 1_000)
    spec = LocalTargetSpec(io_bandwidth_limit=bandwidth, iops_limit=calls)
    why = _wrong_with(spec, IoLimiter(folder, [limit]))
    works = f"a limit of {size_text(bandwidth)}/s was put in force and read back"
    return _check("I/O limit", not why, why or works, "run as root, in a folder on a disk")


def _ffmpeg() -> Check:
    try:
        said = program_version((find_ffmpeg(BUNDLED), "-version")) or "installed"
    except (DeadzoneError, ModuleNotFoundError) as error:
        return Check("ffmpeg", "optional", str(error), "name a system ffmpeg in the study")
    version = said.partition(" Copyright")[0][:LONGEST_VERSION]
    return Check("ffmpeg", "works", f"{version} (from the wheel imageio-ffmpeg)")


def _extra(name: str) -> Check:
    """Whether all that an extra of the wheel brings is installed."""
    wanted = [one for one in requirements() if one.extra == name]
    lacks = ", ".join(str(one) for one in wanted if not version_of(one.package))
    packages = ", ".join(one.package for one in wanted)
    sentence = f"not installed: {lacks}" if lacks else f"installed: {packages}"
    return _check(f"extra [{name}]", not lacks, sentence, install_line(name))
