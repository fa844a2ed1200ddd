"""The workloads, by the kind a study names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from deadzone.measuring.workloads.base import Workload
from deadzone.measuring.workloads.command import CommandWorkload
from deadzone.measuring.workloads.disk.workload import DiskWorkload
from deadzone.measuring.workloads.ffmpeg import FfmpegWorkload
from deadzone.measuring.workloads.http import HttpWorkload
from deadzone.measuring.workloads.load import LoadWorkload
from deadzone.measuring.workloads.load_script import ScriptedLoad
from deadzone.study.disk_specs import DiskWorkload as DiskSpec
from deadzone.study.http_specs import HttpWorkload as HttpSpec
from deadzone.study.levels import Level
from deadzone.study.load_specs import LoadWorkload as LoadSpec
from deadzone.study.workload_specs import CommandWorkload as CommandSpec
from deadzone.study.workload_specs import FfmpegWorkload as FfmpegSpec


def make_workload(
    spec: FfmpegSpec | CommandSpec | DiskSpec | LoadSpec | HttpSpec,
    folder: Path,
    treatments: Sequence[Mapping[str, Level]] = (),
) -> Workload:
    """The workload of a specification; folder is where the study file lies, treatments the levels of each."""
    match spec:
        case FfmpegSpec():
            return FfmpegWorkload(spec, folder)
        case CommandSpec():
            return CommandWorkload(spec, folder)
        case DiskSpec():
            return DiskWorkload(spec, folder, treatments)
        case LoadSpec(driver="deadzone"):
            return LoadWorkload(spec, treatments)
        case LoadSpec():
            return ScriptedLoad(spec, folder, treatments)
        case HttpSpec():
            return HttpWorkload(spec, folder)
