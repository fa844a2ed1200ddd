"""The workloads, by the kind a study names; a trial of one waits for the libraries of no other."""

from collections.abc import Sequence
from pathlib import Path

from deadzone import packs
from deadzone.run.workloads.base import Workload
from deadzone.run.workloads.command import CommandWorkload
from deadzone.study import workload_specs
from deadzone.study.design import Treatment
from deadzone.study.workload_spec import WorkloadSpec


def make_workload(
    spec: WorkloadSpec, folder: Path, treatments: Sequence[Treatment] = ()
) -> Workload:
    """The workload of a specification; folder is where the study file lies, treatments those it
    will be asked for."""
    levels = [treatment.levels for treatment in treatments]
    match spec:
        case workload_specs.FfmpegWorkloadSpec():
            from deadzone.run.workloads.ffmpeg import FfmpegWorkload

            return FfmpegWorkload(spec)
        case workload_specs.CommandWorkloadSpec():
            return CommandWorkload(spec, folder, levels)
        case workload_specs.PythonWorkloadSpec():
            from deadzone.run.workloads.python import PythonWorkload

            return PythonWorkload(spec)
    made: Workload = packs.load(packs.kind_of("workloads", spec.kind).make)(spec, folder, levels)
    return made
