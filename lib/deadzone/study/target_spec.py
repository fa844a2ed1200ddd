"""What the specification of every target says of itself, whoever brings it."""

from typing import ClassVar, Literal

from deadzone.study.base import Spec

UNCHANGED = "unchanged"
"""A limit that is left as the owner of a workload has it."""


POD_LIMITS = ("cpu_limit", "cpu_request", "memory_limit", "memory_request")
"""What a pod has of a node: the factors that a target in a cluster puts in force."""


class TargetSpec(Spec):
    """A target as a study writes it. A subclass sets `kind`, a literal that no other has, and adds
    its keys."""

    kind: str

    on_change: Literal["stop", "continue"] = "stop"
    """what to do where others changed what is measured before a run goes on (`--resume`): stop, or
    go on with trials of the other one that are not trusted"""

    limits_here: ClassVar[bool] = True
    """Whether its limits count cores of this machine, and not of a node elsewhere."""

    runs_services_only: ClassVar[bool] = False
    """Whether it runs no program of another workload."""

    shares_limits: ClassVar[tuple[str, ...]] = ()
    """Limits by which alone environments may differ and still be one target, whose limit is changed
    to and fro."""
