"""The targets, by the kind a study names."""

from __future__ import annotations

from collections.abc import Sequence

from deadzone.study.levels import Level
from deadzone.study.spec import LocalTarget as LocalSpec
from deadzone.targets.base import Target
from deadzone.targets.local import LocalTarget


def make_target(spec: LocalSpec, levels: Sequence[Level]) -> Target:
    """The target of a specification; levels are the CPU limits the study will ask for."""
    return LocalTarget(spec, levels)
