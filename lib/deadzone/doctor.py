"""What works on this machine, tried out rather than looked up, and how to get what does not."""

import platform
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from deadzone import packs, places
from deadzone.check import Check
from deadzone.errors import DeadzoneError
from deadzone.extras import extras, missing
from deadzone.measurement import Command, Measurement
from deadzone.run.targets.interference import OtherProcesses, between, exposure, read_machine
from deadzone.run.targets.limits.io import IoLimit, IoLimiter
from deadzone.run.targets.local import QUOTA_MECHANISMS, LocalTarget
from deadzone.run.targets.undo_log import remove_leftovers
from deadzone.run.trust import foreign_cpu
from deadzone.run.workloads.ffmpeg import BUNDLED, find_ffmpeg
from deadzone.store.programs import program_version
from deadzone.store.provenance import cpu_model, usable_cores
from deadzone.study.design import Treatment
from deadzone.study.quantity import size_text
from deadzone.study.spec import TrustSpec
from deadzone.study.target_specs import LocalTargetSpec

LISTENED_S = 1.0
"""So long the machine is listened to: neighbours that come and go are seen as they are then [s]."""

QUIET_REMEDY = (
    "end them or wait, or say in the study what belongs to the trials, or trust.max_foreign_cpu"
)

TRIED_LIMIT = 0.5
BUSY = "import time\nwhile time.process_time() < 0.5: pass"
QUOTA_REMEDY = (
    "run as root, or in a systemd user session (loginctl enable-linger USER; log in again), or in "
    "a container with a writable cgroup"
)
LONGEST_VERSION = 80
"""Letters of what a program says of itself."""

TRIED_BANDWIDTH, TRIED_CALLS = 50_000_000, 1_000

EXTRAS = {
    "ffmpeg": "an ffmpeg of its own",
    "kubernetes": "pods as a target",
    "load": "the load generator",
    "locust": "load tests that Locust drives",
    "notebooks": "notebooks, plots, Parquet, and reports in HTML",
    "pdf": "reports in PDF",
    "profiles": "profiles of pprof",
    "py-spy": "profiles of Python programs",
    "services": "HTTP requests as trials, and the bundled services",
    "xlsx": "tables of Excel",
}
"""What each extra of the wheel is for."""


def examine() -> list[Check]:
    """Try out everything a study may need. Removes what killed runs left behind, and says so."""
    machine = f"{usable_cores()} cores of {cpu_model()}, Python {platform.python_version()}"
    removed = ", ".join(map(str, left := remove_leftovers()))
    left_over = f"removed {len(left)} left by killed runs: {removed}" if left else "none"
    return [
        Check("machine", "works", machine),
        _quiet(),
        Check("left-overs", "works", left_over),
        *_limits(),
        _io_limit(),
        _interference(),
        *_programs(),
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


def _quiet() -> Check:
    """How much of the machine others use now, who they are, and what that costs a sweep by its rule
    of trust."""
    try:
        others, before = OtherProcesses(), read_machine()
    except OSError as error:
        return Check("quiet", "optional", f"what others use cannot be read here ({error})")
    others.look()
    used = time.process_time()
    time.sleep(LISTENED_S)
    named, own_s = others.look(), time.process_time() - used
    seen = replace(between(before, read_machine(), own_s), exposure=exposure(1), processes=named)
    trust = TrustSpec()
    loud = foreign_cpu(seen, trust.max_foreign_cpu)
    cost = (
        f"{loud}; no trial is trusted beside that, and a sweep takes up to {trust.max_attempts} "
        "times as long"
    )
    quiet = f"other processes used {seen.foreign_cpu:.2f} cores"
    return _check("quiet", not loud, cost if loud else quiet, QUIET_REMEDY)


def _limits() -> Iterator[Check]:
    """Try each mechanism that gives a real quota; one is enough. Without any, limits are
    emulated."""
    tried = {name: _try_mechanism(name) for name in QUOTA_MECHANISMS}
    for name, outcome in tried.items():
        works = f"a limit of {TRIED_LIMIT} cores was put in force and read back"
        is_refused = isinstance(outcome, str)
        yield _check(f"CPU limit by {name}", not is_refused, str(outcome) if is_refused else works)
    if any(isinstance(outcome, Measurement) for outcome in tried.values()):
        return
    measured = _try_mechanism("emulated", BUSY)
    if isinstance(measured, str):
        yield Check("CPU limit", "missing", f"no mechanism works ({measured})", QUOTA_REMEDY)
        return
    share = (measured.cpu_efficiency or 0.0) / TRIED_LIMIT
    sentence = (
        f"emulated: a program stopped and continued in turns used {share:.0%} of a limit of "
        f"{TRIED_LIMIT} cores"
    )
    yield Check("CPU limit", "works", sentence, f"for a quota of the kernel, {QUOTA_REMEDY}")


def _try_mechanism(name: str, program: str = "pass") -> Measurement | str:
    outcome = _tried(LocalTargetSpec(mechanism=name, cpu_limit=TRIED_LIMIT), program)  # type: ignore[arg-type]
    return outcome if isinstance(outcome, str) else outcome[0]


def _tried(
    spec: LocalTargetSpec, program: str = "pass", io: IoLimiter | None = None
) -> tuple[Measurement, dict[str, Any]] | str:
    """A Python program measured on a target, with the target's facts, or what stands in the way."""
    try:
        with LocalTarget(spec, io=io) as target:
            target.prepare(Treatment({}))
            measured = target.execute(Command((sys.executable, "-S", "-c", program)), timeout_s=60)
            facts = target.facts()
    except DeadzoneError as error:
        lines = str(error).splitlines()
        return lines[1].split(": ", 1)[1] if len(lines) > 1 else lines[0]
    return (
        (measured, facts)
        if measured.status == "ok"
        else f"a program under it ended as {measured.status}"
    )


def _io_limit() -> Check:
    """Try a limit on the disk below the runs, or below the current folder outside a repository."""
    folder = runs if (runs := places.runs_folder()).is_dir() else Path.cwd()
    limiter = IoLimiter(folder, [IoLimit(TRIED_BANDWIDTH, TRIED_CALLS)])
    outcome = _tried(
        LocalTargetSpec(io_bandwidth_limit=TRIED_BANDWIDTH, iops_limit=TRIED_CALLS), io=limiter
    )
    if isinstance(outcome, str):
        remedy = (
            "run as root, with cgroup v2 (controller io) or v1 (controller blkio), in a folder on "
            "a disk"
        )
        return Check("I/O limit", "optional", outcome, remedy)
    sentence = (
        f"a limit of {size_text(TRIED_BANDWIDTH)}/s and {TRIED_CALLS:,} calls/s was put in force "
        "and read back"
    )
    return Check(f"I/O limit by {outcome[1]['io_limits_mechanism']}", "works", sentence)


def _programs() -> Iterator[Check]:
    """The programs that some studies need: ffmpeg, of the wheel and of the system, and an engine
    for containers."""
    try:
        bundled = f"{_version_of(find_ffmpeg(BUNDLED))} (from the wheel imageio-ffmpeg)"
        yield Check("ffmpeg", "works", bundled)
    except DeadzoneError as error:
        yield Check("ffmpeg", "optional", str(error), "name a system ffmpeg in the study")
    version = shutil.which("ffmpeg") and _version_of("ffmpeg")
    absent = "not installed; studies that name the system's ffmpeg need it"
    yield _check("system ffmpeg", bool(version), version or absent, "apt install ffmpeg")
    if not (engine := next(filter(shutil.which, ("podman", "docker")), None)):
        absent = "neither podman nor docker is installed"
        yield Check("container engine", "optional", absent, "apt install podman")
        return
    answer = program_version((engine, "version", "--format", "{{.Server.Version}}")) or ""
    works = answer[:1].isdigit()
    silent = f"{engine} is installed, but no engine answers it"
    yield _check("container engine", works, f"{engine} {answer}" if works else silent)


def examine_workload(context: str | None, named: str) -> list[Check]:
    """What a sweep of a workload in a cluster would meet. named: NAMESPACE/WORKLOAD. Raises
    TargetError."""
    checks: list[Check] = packs.part(lambda pack: pack.examine_workload)(context, named)
    return checks


def _interference() -> Check:
    sentence, works = "CPU of others and steal from /proc/stat", Path("/proc/pressure/io").exists()
    rest = ", memory and I/O stalls from /proc/pressure" if works else "; no /proc/pressure"
    remedy = "boot with psi=1 to see memory and I/O stalls"
    return _check("interference", works, sentence + rest, remedy)


def _extra(name: str) -> Check:
    """Whether all that an extra of the wheel brings is installed."""
    what, lacks = EXTRAS.get(name, name), ", ".join(map(str, missing(name)))
    sentence = f"{what}; not installed: {lacks}" if lacks else what
    remedy = f"install Deadzone with [{name}], from where you have it"
    return _check(f"extra [{name}]", not lacks, sentence, remedy)


def _version_of(ffmpeg: str) -> str:
    said = program_version((ffmpeg, "-version")) or "installed"
    return said.partition(" Copyright")[0][:LONGEST_VERSION]
