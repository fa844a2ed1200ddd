"""What the specification of every workload says of itself, whoever brings it."""

from typing import ClassVar

from deadzone.study.base import Spec
from deadzone.study.search_specs import RateSearchSpec


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
