"""What the report of every published study has: its author's conclusions judged, its arithmetic, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from deadzone.explaining.claims.judging import Judged
from deadzone.reports.document.display import Block, Evidence
from deadzone.reports.published import arithmetic, claims
from deadzone.reports.published.published import Published, section


@dataclass(frozen=True, eq=False)
class PublishedReport:
    """A published study and its author's conclusions, judged; every method gives the blocks of one section."""

    published: Published
    judged: tuple[Judged, ...]

    def row(self, name: str) -> Evidence:
        """A pointer to a conclusion's row."""
        return claims.row_of(next(one for one in self.judged if one.name == name))

    def conclusions(self) -> list[Block]:
        """The author's conclusions, judged."""
        return [section("study.claims"), claims.claims_table(self.judged), claims.evidence_of(self.judged)]

    claims = conclusions

    def arithmetic(self) -> list[Block]:
        """The document's arithmetic."""
        return arithmetic.arithmetic(self.published.name)

    def origin(self) -> list[Block]:
        """Tables and command."""
        return self.published.origin()
