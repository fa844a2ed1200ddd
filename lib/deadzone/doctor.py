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
from deadzone.errors import DeadzoneError, MissingExtraError
from deadzone.extras import extras, missing
from deadzone.measurement import Command, Measurement
from deadzone.report.document.fonts import REMEDY, korean_font
from deadzone.run.targets.interference import OtherProcesses, between, exposure, read_machine
from deadzone.run.targets.limits.io import IoLimit, IoLimiter
from deadzone.run.targets.limits.registry import QUOTA_MECHANISMS
from deadzone.run.targets.local import LocalTarget
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
    return [
        _machine(),
        _quiet(),
        _leftovers(),
        *_limits(),
        _io_limit(),
        _interference(),
        _bundled_ffmpeg(),
        _system_ffmpeg(),
        _container_engine(),
        *_of_packs(),
        *map(_extra, extras()),
        _korean_font(),
    ]


def main_job_works(checks: list[Check]) -> bool:
    """Whether nothing is missing that sweeping on this machine needs."""
    return not any(check.state == "missing" for check in checks)


def _machine() -> Check:
    sentence = f"{usable_cores()} cores of {cpu_model()}, Python {platform.python_version()}"
    return Check("machine", "works", sentence)


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
    if loud := foreign_cpu(seen, trust.max_foreign_cpu):
        cost = (
            f"no trial is trusted beside that, and a sweep takes up to {trust.max_attempts} times "
            "as long"
        )
        return Check("quiet", "optional", f"{loud}; {cost}", QUIET_REMEDY)
    return Check("quiet", "works", f"other processes used {seen.foreign_cpu:.2f} cores")


def _leftovers() -> Check:
    removed = remove_leftovers()
    sentence = f"removed {len(removed)} left by killed runs: {', '.join(map(str, removed))}"
    return Check("left-overs", "works", sentence if removed else "none")


def _limits() -> Iterator[Check]:
    """Try each mechanism that gives a real quota; one is enough. Without any, limits are
    emulated."""
    tried = {name: _try_mechanism(name) for name in QUOTA_MECHANISMS}
    for name, outcome in tried.items():
        sentence = f"a limit of {TRIED_LIMIT} cores was put in force and read back"
        problem = outcome if isinstance(outcome, str) else ""
        yield Check(f"CPU limit by {name}", "optional" if problem else "works", problem or sentence)
    if all(isinstance(outcome, str) for outcome in tried.values()):
        yield _emulated_limit()


def _emulated_limit() -> Check:
    measured = _try_mechanism("emulated", BUSY)
    if isinstance(measured, str):
        sentence = (
            "no mechanism for quotas works; only whole cores can be limited, by affinity "
            f"({measured})"
        )
        return Check("CPU limit", "missing", sentence, QUOTA_REMEDY)
    share = (measured.cpu_efficiency or 0.0) / TRIED_LIMIT
    sentence = (
        f"emulated: a program stopped and continued in turns used {share:.0%} of a limit of "
        f"{TRIED_LIMIT} cores"
    )
    return Check("CPU limit", "works", sentence, f"for a quota of the kernel, {QUOTA_REMEDY}")


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


def _bundled_ffmpeg() -> Check:
    try:
        version = _version_of(find_ffmpeg(BUNDLED))
    except DeadzoneError as error:
        return Check("ffmpeg", "optional", str(error), "name a system ffmpeg in the study")
    return Check("ffmpeg", "works", f"{version} (from the wheel imageio-ffmpeg)")


def _container_engine() -> Check:
    for name in ("podman", "docker"):
        if shutil.which(name):
            answer = program_version((name, "version", "--format", "{{.Server.Version}}"))
            if answer and answer[0].isdigit():
                return Check("container engine", "works", f"{name} {answer}")
            return Check(
                "container engine", "optional", f"{name} is installed, but no engine answers it"
            )
    sentence = "neither podman nor docker is installed"
    return Check("container engine", "optional", sentence, "apt install podman")


def examine_workload(context: str | None, named: str) -> list[Check]:
    """What a sweep of a workload in a cluster would meet. named: NAMESPACE/WORKLOAD. Raises
    TargetError."""
    checks: list[Check] = packs.part("examine_workload")(context, named)
    return checks


def _interference() -> Check:
    sentence = "CPU of others and steal from /proc/stat"
    if Path("/proc/pressure/io").exists():
        return Check(
            "interference", "works", f"{sentence}, memory and I/O stalls from /proc/pressure"
        )
    remedy = "boot with psi=1 to see memory and I/O stalls"
    return Check("interference", "optional", f"{sentence}; no /proc/pressure", remedy)


def _system_ffmpeg() -> Check:
    if version := shutil.which("ffmpeg") and _version_of("ffmpeg"):
        return Check("system ffmpeg", "works", version)
    sentence = "not installed; studies that name the system's ffmpeg need it"
    return Check("system ffmpeg", "optional", sentence, "apt install ffmpeg")


def _of_packs() -> Iterator[Check]:
    """What the packs need beside Python packages."""
    for pack in packs.packs():
        for place in pack.checks:
            yield from packs.load(place)()


def _extra(name: str) -> Check:
    """Whether all that an extra of the wheel brings is installed."""
    what, lacks = EXTRAS.get(name, name), missing(name)
    if lacks:
        sentence = f"{what}; not installed: {', '.join(map(str, lacks))}"
        return Check(
            f"extra [{name}]",
            "optional",
            sentence,
            f"install Deadzone with [{name}], from where you have it",
        )
    return Check(f"extra [{name}]", "works", what)


def _korean_font() -> Check:
    try:
        font = korean_font()
    except MissingExtraError as error:
        return Check("Korean reports", "optional", str(error))
    if font:
        return Check("Korean reports", "works", f"letters from {font.name}")
    sentence = "no font with Korean letters: they come out in English"
    return Check("Korean reports", "optional", sentence, REMEDY)


def _version_of(ffmpeg: str) -> str:
    said = program_version((ffmpeg, "-version")) or "installed"
    return _cut(said.partition(" Copyright")[0])


def _cut(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
