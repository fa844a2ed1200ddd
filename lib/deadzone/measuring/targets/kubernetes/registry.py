"""The two ways to run trials in a cluster, by the mode a study names."""

from __future__ import annotations

from collections.abc import Sequence

from deadzone.measuring.targets.base import Surroundings
from deadzone.measuring.targets.kubernetes.exec_target import ExecTarget
from deadzone.measuring.targets.kubernetes.job_target import JobTarget
from deadzone.study.levels import Level
from deadzone.study.target_specs import KubernetesTarget as KubernetesSpec


def make_kubernetes_target(
    spec: KubernetesSpec, levels: Sequence[Level], around: Surroundings
) -> ExecTarget | JobTarget:
    """The target of a specification; nothing is asked of a cluster before it is entered."""
    if spec.mode == "job":
        return JobTarget(spec, levels, around)
    return ExecTarget(spec, levels, around)
