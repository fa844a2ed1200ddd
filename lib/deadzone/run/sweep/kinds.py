"""The workloads and the targets, by the kind a study names; a trial of one workload waits for the
libraries of no other."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from deadzone import packs
from deadzone.errors import StudyError
from deadzone.run.targets.base import Surroundings, Target
from deadzone.run.targets.limits.io import IoLimit, IoLimiter, io_limit
from deadzone.run.targets.local import LocalTarget
from deadzone.run.targets.undo_log import give_back_left_over
from deadzone.run.workloads.base import Workload
from deadzone.study.design import Treatment
from deadzone.study.plan import PlannedTarget
from deadzone.study.target_specs import LocalTargetSpec
from deadzone.study.workload_spec import WorkloadSpec

WORKLOADS = {
    "command": "deadzone.run.workloads.command:CommandWorkload",
    "ffmpeg": "deadzone.run.workloads.ffmpeg:FfmpegWorkload",
    "python": "deadzone.run.workloads.python:PythonWorkload",
}
"""Those of the core, made as a `deadzone.packs.Kind` says; the packs bring the others."""


def make_workload(
    spec: WorkloadSpec, folder: Path, treatments: Sequence[Treatment] = ()
) -> Workload:
    """The workload of a specification; folder is where the study file lies, treatments those it
    will be asked for."""
    place = WORKLOADS.get(spec.kind) or packs.kind_of("workloads", spec.kind).make
    made: Workload = packs.load(place)(spec, folder, [one.levels for one in treatments])
    return made


def make_target(planned: PlannedTarget, around: Surroundings | None = None) -> Target:
    """The target of a plan; around: the sweep it is for. Raises StudyError where nothing says which
    disk is limited."""
    spec, around = planned.spec, around or Surroundings()
    if isinstance(spec, LocalTargetSpec):
        cpu, memory = planned.levels("cpu_limit"), planned.levels("memory_limit")
        return LocalTarget(spec, cpu, memory, _io_limiter(planned), around.note)
    made: Target = packs.load(packs.kind_of("targets", spec.kind).make)(planned, around)
    return made


def _io_limiter(planned: PlannedTarget) -> IoLimiter | None:
    limits = tuple(
        dict.fromkeys(
            io_limit(limits.io_bandwidth_limit, limits.iops_limit) for limits in planned.limits
        )
    )
    if all(limit == IoLimit() for limit in limits):
        return None
    if planned.io_folder is None:
        raise StudyError(
            "target.io_folder is missing: I/O limits are for one disk; name a folder on it."
        )
    return IoLimiter(planned.io_folder, limits)


def take_back(targets: Iterable[PlannedTarget], note: Callable[[str], None]) -> None:
    """Give back what killed sweeps left on this machine and in the namespaces of the targets, where
    none is opened, which would do so. note: is told what was done in a cluster, and what could not
    be."""
    if Path("/proc/self").exists():
        give_back_left_over(note)
    for target in targets:
        if give_back := packs.kind_of("targets", target.spec.kind).give_back:
            packs.load(give_back)(target.spec, note)
