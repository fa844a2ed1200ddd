"""A test rig for attribution: the bundled service slowed by a cause that is known, beside the same
service as it is.

Four causes are planted: a CPU limit, a relay that holds back the first byte of the answer, a flush
to the disk after every piece of the upload, and nothing at all. Every run is a study of an
environment for each cause and a plain one, swept as any other.
"""

from __future__ import annotations

import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import deadzone
from deadzone.errors import TargetError
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.running import run_sweep
from deadzone.run.targets.limits.base import group_name, remove_group
from deadzone.run.targets.limits.cgroup_v1 import v1_homes
from deadzone.run.targets.limits.io import throttled_device
from deadzone.run.workloads.ffmpeg import BUNDLED, find_ffmpeg
from deadzone.store.run import RunFolder
from deadzone_services.attribution.hypotheses import CPU_LIMIT, DISK, HYPOTHESES, NETWORK
from deadzone_services.attribution.result import Attribution

FOLDER = "{folder}"
"""Stands for a folder on a real disk: the scratch folder of a trial may lie in memory, where
nothing waits for a disk."""

PROGRAMS = Path(__file__).parents[1] / "notebooks" / "studies" / "programs"

SERVICE = ("{python}", f"{PROGRAMS}/upload_service.py", "--folder", FOLDER, "--port", "{port}")
BEHIND = (*SERVICE[:-1], "{{port}}")
"""Behind the relay, which chooses the port."""

RELAY = ("{python}", f"{PROGRAMS}/late_relay.py", "--port", "{port}")

VIDEO_S = 4

LIMIT_CORES = 0.2
DELAY_S = 1.0
"""Strong enough to show beside busy neighbours; the answer takes some 0.3 s without them."""

DISK_BYTES_S = 1_000_000
PADDING_BYTES = 1_200_000
"""What the slow disk takes a second, and the bytes of the upload beside its video: flushing them
takes a second longer there. Where disks cannot be throttled (it takes root and cgroup v1), the
flushes alone have to do."""

CAUSES: Mapping[str, tuple[dict[str, Any], str | None]] = {
    "CPU limit": ({"target": {"kind": "local", "cpu_limit": LIMIT_CORES}}, CPU_LIMIT),
    "network delay": (
        {"service": {"argv": [*RELAY, "--answer-delay-s", str(DELAY_S), "--", *BEHIND]}},
        NETWORK,
    ),
    "slow disk": ({"service": {"argv": [*SERVICE, "--fsync"]}}, DISK),
    "nothing": ({}, None),
}
"""What the environment of a cause has that the plain one has not, and the hypothesis that it makes
true."""

PLAIN = "plain"

BUSY_MACHINE = {"max_foreign_cpu": 999, "max_steal": 999, "max_pressure": 1, "max_clock_drift": 999}
"""No trial is repeated for its neighbours: the verdicts are to be right beside them too."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """One run's result. is_right: the planted cause is confirmed and every other hypothesis
    excluded."""

    cause: str
    result: Attribution
    took_s: float

    @property
    def is_right(self) -> bool:
        """Whether the planted cause is confirmed, and nothing else, and all others are excluded."""
        planted = CAUSES[self.cause][1]
        others = set(HYPOTHESES) - {planted}
        return (
            set(self.result.confirmed) == {planted} - {None}
            and set(self.result.named("excluded")) == others
        )


def make_video(folder: Path) -> Path:
    """Some seconds of video that ffmpeg takes a fraction of a second for, in a file of the size of
    a larger one.

    An MP4 file may hold boxes of free space, which players pass over.
    """
    path = folder / "upload.mp4"
    picture = f"testsrc2=duration={VIDEO_S}:size=640x360:rate=24"
    codec = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
    made = (
        find_ffmpeg(BUNDLED),
        "-loglevel",
        "error",
        "-y",
        "-f",
        "lavfi",
        "-i",
        picture,
        *codec,
        str(path),
    )
    subprocess.run(made, check=True, stdin=subprocess.DEVNULL)
    with path.open("ab") as file:
        file.write(struct.pack(">I4s", PADDING_BYTES, b"free") + bytes(PADDING_BYTES - 8))
    return path


def environment_of(cause: str) -> str:
    """The environment in which a cause is planted."""
    return cause.lower().replace(" ", "-")


def study_of(
    causes: Sequence[str], video: Path, slow_disk: Sequence[str], blocks: int, seed: int
) -> dict[str, Any]:
    """The study of one run, as its file holds it. slow_disk: what to put before a program whose
    disk is to be slow."""
    service = {
        "argv": list(SERVICE),
        "ready": {"path": "/health", "timeout_s": 120},
        "restart": "treatment",
    }
    study: dict[str, Any] = {
        "study": "planted-cause",
        "question": "Is the planted cause found?",
        "service": service,
        "environments": {environment_of(cause): dict(CAUSES[cause][0]) for cause in causes}
        | {PLAIN: {}},
        "workload": {
            "kind": "http",
            "url": "{service_url}/frames",
            "form": {"video": {"file": str(video), "content_type": "video/mp4"}},
            "answer": {"status": [200], "json_path": "frames"},
            "timeout_s": 90,
        },
        "design": {"replicates": blocks, "warmup": 1, "seed": seed, "timeout_s": 100},
        "response": {"name": "total_s", "unit": "s", "goal": "min"},
        "trust": BUSY_MACHINE,
    }
    for place in (study, *study["environments"].values()):
        if argv := place.get("service", {}).get("argv"):
            filled = [str(video.parent) if word == FOLDER else word for word in argv]
            slow = slow_disk if "--fsync" in argv else ()
            place["service"] = {**place["service"], "argv": [*slow, *filled]}
    return study


def swept(causes: Sequence[str], folder: Path, blocks: int, seed: int) -> RunFolder:
    """Sweep one study in which causes are planted. folder: for the study and its run, on a disk."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"planted-{seed}.yaml"
    with slow_disk(folder) as before:
        study = study_of(causes, make_video(folder), before, blocks, seed)
        path.write_text(yaml.safe_dump(study), encoding="utf-8")
        opened = open_run(str(path), runs=folder / "runs", run_id=path.stem)
        return run_sweep(opened.plan, opened.run)


def run_once(cause: str, folder: Path, blocks: int, seed: int) -> Verdict:
    """Sweep one study with a planted cause and attribute what it measured."""
    began = time.monotonic()
    run = swept([cause], folder, blocks, seed)
    result = deadzone.attribute(run, slow=environment_of(cause) if CAUSES[cause][1] else None)
    return Verdict(cause, result, time.monotonic() - began)


@contextmanager
def slow_disk(folder: Path) -> Iterator[tuple[str, ...]]:
    """What to put before a program so that it writes slowly to the disk of a folder; nothing where
    that cannot be had."""
    home = v1_homes().get("blkio")
    group = home / f"{group_name()}-slow-disk" if home else None
    try:
        if group:
            group.mkdir()
            limit = f"{throttled_device(folder)} {DISK_BYTES_S}"
            (group / "blkio.throttle.write_bps_device").write_text(limit)
    except (OSError, TargetError):
        group = None
    try:
        yield (
            ("sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"))
            if group
            else ()
        )
    finally:
        if group:
            remove_group(group)
