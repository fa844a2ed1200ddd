"""What was claimed beside what the data support."""

from collections.abc import Sequence

from deadzone.analysis.claims.judging import Judged
from deadzone.analysis.claims.verdicts import VERDICTS, Verdict
from deadzone.language.catalogue import join, say
from deadzone.report.document.display import Claim, Evidence, Prose, Table

MOST_TRIALS_NAMED = 24
"""More links than this nobody follows; `--json` names all trials."""


def claims_table(judged: Sequence[Judged]) -> Table:
    """One row a claim: what is claimed, the verdict, and what the data say; above them how many the data support, in part,
    not at all, or cannot decide."""
    counts = {name: sum(one.verdict == name for one in judged) for name in VERDICTS}
    return Table.of("sweep.claims", [{"one": one} for one in judged], n=len(judged), **counts)


def verdict_name(verdict: Verdict) -> str:
    """A verdict in words."""
    return say(f"claims.{verdict}")


def named_trials(one: Judged) -> tuple[int, ...]:
    """The trials that a verdict rests on; none where they are very many."""
    return one.trials if len(one.trials) <= MOST_TRIALS_NAMED else ()


def evidence_of(judged: Sequence[Judged], trials: str = "") -> Prose:
    """Where the evidence for each conclusion that does not stand as it is can be looked up, and the trials of each claim on
    a run. trials: id of the table that has a row for each trial."""
    said = []
    for one in judged:
        if one.evidence and (one.verdict != "supported" or one.trials):
            linked = [Evidence(f"{trials}-{n}", say("claims.trial", n=n)) for n in named_trials(one)]
            see = say("claims.see", claim=one.claim, verdict=verdict_name(one.verdict))
            text = join([see, say("claims.trials") if linked else ""])
            said.append(Claim(text, (*map(Evidence, one.evidence), *linked)))
    return Prose(tuple(said), heading=say("claims.evidence"), level=3, id="section-evidence")
