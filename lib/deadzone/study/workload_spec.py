"""What the specification of every workload says of itself, whoever brings it, and how it leaves a
rate open."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from deadzone.study.base import Spec

LEAST_RATE = 1.0
"""A server that misses its objectives at one request a second has no capacity to speak of [1/s]."""

MOST_RATE = 1_000_000
"""Beyond this no single generator sends, so it is a slip of the keyboard [1/s]."""


CAPACITY = "capacity_rps"
"""The response of a study that searches the rate: the highest one that meets its objectives
[requests/s]."""


GENERATOR = "generator"
"""What limits a search whose load could not be made."""


class RateSearchSpec(Spec):
    """The highest rate that meets the objectives, searched for each combination of levels, once a
    replicate."""

    model_config = ConfigDict(populate_by_name=True)

    find: Literal["capacity"]
    """capacity: the highest rate that meets the objectives"""

    start: float = Field(default=100.0, alias="from", ge=LEAST_RATE, le=MOST_RATE)
    """the rate that is tried first [1/s]"""

    within: float = Field(default=0.05, ge=0.02, le=1)
    """a search ends when the lowest rate that misses is no more than this above the highest that
    meets [share]"""


class WorkloadSpec(Spec):
    """A workload as a study writes it. A subclass sets `kind`, a literal that no other has, and
    adds its keys."""

    kind: str

    waits_on_io: ClassVar[bool] = False
    """Whether waiting for a disk is what a trial measures, and no disturbance of it."""

    @property
    def search(self) -> RateSearchSpec | None:
        """How trials search the rate that is borne; None where the study gives the rates."""
        return None

    @property
    def disk_folder(self) -> str | None:
        """A folder on the disk that I/O limits are for; None where the workload names none."""
        return None
