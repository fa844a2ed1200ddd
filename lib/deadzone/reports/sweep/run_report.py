"""What the reports of runs share, whatever was asked of the run: its claims and where its figures come from."""

from dataclasses import dataclass

from deadzone.reports.document.display import Block, section
from deadzone.reports.sweep import prose
from deadzone.reports.sweep.claims import claims_section
from deadzone.reports.sweep.source import Source


@dataclass(frozen=True, eq=False)
class RunReport:
    """A run under report; every method gives the blocks of one section of its notebook."""

    source: Source

    def conclusions(self) -> list[Block]:
        """What was claimed of the run."""
        return claims_section(self.source)

    claims = conclusions

    def origin(self) -> list[Block]:
        """The circumstances of the run, and the commands that make it again."""
        return [section("heading.provenance"), *prose.origin(self.source)]

    def nothing(self) -> list[Block]:
        """A section for which only another kind of run has something to show."""
        return []

    capacity = cold_start = connections = guideline = nothing
