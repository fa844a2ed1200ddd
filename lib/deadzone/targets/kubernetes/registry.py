"""The two ways to run trials in a cluster, by the mode a study names."""

from __future__ import annotations

from collections.abc import Sequence

from deadzone.study.levels import Level
from deadzone.study.target_specs import KubernetesTarget as KubernetesSpec
from deadzone.targets.base import Surroundings
from deadzone.targets.kubernetes.exec_target import ExecTarget
from deadzone.targets.kubernetes.job_target import JobTarget


def make_kubernetes_target(
    spec: KubernetesSpec, levels: Sequence[Level], around: Surroundings
) -> ExecTarget | JobTarget:
    """The target of a specification; nothing is asked of a cluster before it is entered."""
    if spec.mode == "job":
        return JobTarget(spec, levels, around)
    return ExecTarget(spec, levels, around)
