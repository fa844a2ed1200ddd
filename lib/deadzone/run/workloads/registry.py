"""The workloads, by the kind a study names; a trial of one waits for the libraries of no other."""

from collections.abc import Sequence
from pathlib import Path

from deadzone.run.workloads.base import Workload
from deadzone.run.workloads.command import CommandWorkload
from deadzone.study import workload_specs
from deadzone.study.design import Treatment
from deadzone_disk import specs as disk_specs
from deadzone_load import specs as load_specs


def make_workload(
    spec: workload_specs.AnyWorkload, folder: Path, treatments: Sequence[Treatment] = ()
) -> Workload:
    """The workload of a specification; folder is where the study file lies, treatments those it will be asked for."""
    planned = [treatment.levels for treatment in treatments]
    match spec:
        case workload_specs.FfmpegWorkload():
            from deadzone.run.workloads.ffmpeg import FfmpegWorkload

            return FfmpegWorkload(spec, folder)
        case workload_specs.CommandWorkload():
            return CommandWorkload(spec, folder)
        case workload_specs.PythonWorkload():
            from deadzone.run.workloads.python import PythonWorkload

            return PythonWorkload(spec)
        case disk_specs.DiskWorkload():
            from deadzone_disk.workload import DiskWorkload

            return DiskWorkload(spec, folder, planned)
        case load_specs.LoadWorkload():
            from deadzone_load.workload import LoadWorkload, ScriptedLoad

            if spec.driver == "deadzone":
                return LoadWorkload(spec, planned)
            return ScriptedLoad(spec, folder, planned)
        case workload_specs.HttpWorkload():
            from deadzone_services.http import HttpWorkload

            return HttpWorkload(spec, folder)
