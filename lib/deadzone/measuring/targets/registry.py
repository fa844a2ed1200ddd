"""The targets, by the kind a study names."""

from __future__ import annotations

from collections.abc import Sequence

from deadzone.measuring.targets.base import Surroundings, Target
from deadzone.measuring.targets.container import ContainerTarget
from deadzone.measuring.targets.kubernetes.registry import make_kubernetes_target
from deadzone.measuring.targets.limits.io import IoWish
from deadzone.measuring.targets.local import LocalTarget
from deadzone.study.levels import Level
from deadzone.study.target_specs import AnyTarget
from deadzone.study.target_specs import ContainerTarget as ContainerSpec
from deadzone.study.target_specs import KubernetesTarget as KubernetesSpec
from deadzone.study.target_specs import LocalTarget as LocalSpec


def make_target(
    spec: AnyTarget,
    levels: Sequence[Level],
    memory_levels: Sequence[Level] = (),
    io: IoWish | None = None,
    around: Surroundings | None = None,
) -> Target:
    """The target of a specification.

    levels, memory_levels and io: the limits the study will ask for. around: the sweep it is for.
    """
    match spec:
        case LocalSpec():
            return LocalTarget(spec, levels, memory_levels, io)
        case ContainerSpec():
            return ContainerTarget(spec)
        case KubernetesSpec():
            return make_kubernetes_target(spec, levels, around or Surroundings())
