"""The workloads, by the kind a study names."""

from __future__ import annotations

from pathlib import Path

from deadzone.study.spec import CommandWorkload as CommandSpec
from deadzone.study.spec import FfmpegWorkload as FfmpegSpec
from deadzone.workloads.base import Workload
from deadzone.workloads.command import CommandWorkload
from deadzone.workloads.ffmpeg import FfmpegWorkload


def make_workload(spec: FfmpegSpec | CommandSpec, folder: Path) -> Workload:
    """The workload of a specification; folder is where the study file lies."""
    match spec:
        case FfmpegSpec():
            return FfmpegWorkload(spec, folder)
        case CommandSpec():
            return CommandWorkload(spec, folder)
