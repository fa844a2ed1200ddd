"""The targets a study can name: where trials execute. Those of packs stand beside this
machine."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Tag

from deadzone import packs
from deadzone.study.factors import FactorLevel, SizeLevel
from deadzone.study.levels import NONE
from deadzone.study.target_spec import TargetSpec

LOCAL = "local"


class LocalTargetSpec(TargetSpec):
    """This machine."""

    kind: Literal["local"] = "local"
    mechanism: Literal["auto", "cgroup-v2", "cgroup-v1", "systemd", "emulated", "unlimited"] = (
        "auto"
    )
    """how a CPU limit is put in force; auto takes the best that works here"""

    cpu_limit: FactorLevel = NONE
    """CPU limit of every trial where it is no factor [cores]"""

    memory_limit: SizeLevel = NONE
    """memory limit of every trial where it is no factor [bytes]"""

    account: bool = True
    """whether it is told of each trial where the time of its threads went; off where even its
    hundredth of a trial is too much"""

    io_bandwidth_limit: SizeLevel = NONE
    """limit of reads and of writes of the disk where it is no factor [bytes/s]"""

    iops_limit: FactorLevel = NONE
    """limit of read and of write calls of the disk where it is no factor [1/s]"""

    io_folder: str | None = None
    """folder on the disk that I/O limits are for, relative to the study file; default that of a
    disk workload"""


def _kind(value: Any) -> str | None:
    """A target without a kind is this machine."""
    kind = value.get("kind", LOCAL) if isinstance(value, dict) else getattr(value, "kind", None)
    return str(kind)


SPECS: dict[str, type[TargetSpec]] = {
    LOCAL: LocalTargetSpec,
    **{kind: packs.load(entry.spec) for kind, entry in packs.brought("targets").items()},
}
"""Every target that a study can name, by its kind."""

if TYPE_CHECKING:
    AnyTarget = TargetSpec
else:
    _TAGGED = [Annotated[spec, Tag(kind)] for kind, spec in SPECS.items()]
    AnyTarget = Annotated[reduce(or_, _TAGGED), Discriminator(_kind)]
