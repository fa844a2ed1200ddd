"""What an author concluded beside what the data support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from deadzone.language.catalogue import say
from deadzone.reports.document.display import Claim, Evidence, Prose, Table

Verdict = Literal["supported", "partly", "undecided", "contradicted"]

VERDICTS: tuple[Verdict, ...] = ("supported", "partly", "undecided", "contradicted")
"""supported: the data show it. partly: a part of it, or with a reservation. undecided: the data can neither
show nor refute it. contradicted: the data show otherwise."""

TABLE = "claims"
"""Id of the table of claims; a claim's row is `claims-<name>`."""


@dataclass(frozen=True)
class Judged:
    """A conclusion of the author, judged.

    name: of its row. claim: what the author concluded. found: what the data say of it. verdict: see VERDICTS.
    evidence: ids of figures, tables or rows that show it.
    """

    name: str
    claim: str
    found: str
    verdict: Verdict
    evidence: tuple[str, ...] = ()

    def row(self) -> Evidence:
        """A pointer to the claim's row."""
        return Evidence(f"{TABLE}-{self.name}", say("claims.row"))


def claims_table(judged: Sequence[Judged]) -> Table:
    """One row a conclusion: what was claimed, the verdict, and what the data say."""
    frame = pd.DataFrame(
        {
            say("claims.claim"): [one.claim for one in judged],
            say("claims.verdict"): [verdict_name(one.verdict) for one in judged],
            say("claims.found"): [one.found for one in judged],
        }
    )
    return Table(frame, claims_caption(judged), id=TABLE, row_ids=[one.name for one in judged])


def verdict_name(verdict: Verdict) -> str:
    """A verdict in words."""
    return say(f"claims.{verdict}")


def claims_caption(judged: Sequence[Judged]) -> str:
    """How many conclusions the data support, in part, not at all, or cannot decide."""
    counts = {name: sum(one.verdict == name for one in judged) for name in VERDICTS}
    return say("claims.caption", n=len(judged), **counts)


def evidence_of(judged: Sequence[Judged]) -> Prose:
    """Where the evidence for each conclusion that does not stand as it is can be looked up."""
    doubtful = [one for one in judged if one.verdict != "supported" and one.evidence]
    return Prose(
        tuple(
            Claim(
                say("claims.see", claim=one.claim, verdict=verdict_name(one.verdict)),
                tuple(map(Evidence, one.evidence)),
            )
            for one in doubtful
        ),
        heading=say("claims.evidence"),
        level=3,
        id="section-evidence",
    )
