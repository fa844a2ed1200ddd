"""The container target of a study."""

from typing import ClassVar, Literal

from pydantic import Field

from deadzone.plugins import NONE, Argument, TargetSpec
from deadzone.study.factors import FactorLevel, SizeLevel


class ContainerTargetSpec(TargetSpec):
    """A container that docker or podman starts from an image. Services run there, programs of other
    workloads do not."""

    runs_services_only: ClassVar[bool] = True

    kind: Literal["container"]
    engine: Literal["auto", "docker", "podman"] = "auto"
    """the command that starts containers; auto takes the first that works here"""

    image: str = Field(min_length=1)
    """image of the service; Deadzone pulls none"""

    port: int | None = Field(default=None, ge=1, le=65535)
    """port that the service listens on inside; default {port}"""

    options: tuple[Argument, ...] = ()
    """further options of `run`, such as [--volume, /data:/data]"""

    cpu_limit: FactorLevel = NONE
    """CPU limit of every trial where it is no factor [cores]"""

    memory_limit: SizeLevel = NONE
    """memory limit of every trial where it is no factor [bytes]"""
