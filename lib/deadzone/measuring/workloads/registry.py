"""The workloads, by the kind a study names; a trial of one waits for the libraries of no other."""

from collections.abc import Sequence
from pathlib import Path

from deadzone.measuring.workloads.base import Workload
from deadzone.measuring.workloads.command import CommandWorkload
from deadzone.study.design import Treatment
from deadzone.study.disk_specs import DiskWorkload as DiskSpec
from deadzone.study.load_specs import LoadWorkload as LoadSpec
from deadzone.study.workload_specs import CommandWorkload as CommandSpec
from deadzone.study.workload_specs import FfmpegWorkload as FfmpegSpec
from deadzone.study.workload_specs import HttpWorkload as HttpSpec


def make_workload(
    spec: FfmpegSpec | CommandSpec | DiskSpec | LoadSpec | HttpSpec,
    folder: Path,
    treatments: Sequence[Treatment] = (),
) -> Workload:
    """The workload of a specification; folder is where the study file lies, treatments those it will be asked for."""
    planned = [treatment.levels for treatment in treatments]
    match spec:
        case FfmpegSpec():
            from deadzone.measuring.workloads.ffmpeg import FfmpegWorkload

            return FfmpegWorkload(spec, folder)
        case CommandSpec():
            return CommandWorkload(spec, folder)
        case DiskSpec():
            from deadzone.measuring.workloads.disk.workload import DiskWorkload

            return DiskWorkload(spec, folder, planned)
        case LoadSpec(driver="deadzone"):
            from deadzone.measuring.workloads.load import LoadWorkload

            return LoadWorkload(spec, planned)
        case LoadSpec():
            from deadzone.measuring.workloads.load import ScriptedLoad

            return ScriptedLoad(spec, folder, planned)
        case HttpSpec():
            from deadzone.measuring.workloads.http import HttpWorkload

            return HttpWorkload(spec, folder)
