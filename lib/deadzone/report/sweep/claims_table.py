"""What was claimed beside what the data support."""

from collections.abc import Sequence

from deadzone.analysis.claims.judging import ClaimVerdict
from deadzone.analysis.claims.verdicts import VERDICTS, Verdict
from deadzone.language.messages import N_, _, join, say
from deadzone.language.tabling import Layout
from deadzone.report.document.display import Claim, Evidence, Prose, Table

VERDICT_NAMES = {
    "supported": N_("supported"),
    "partly": N_("in part"),
    "undecided": N_("not shown"),
    "contradicted": N_("contradicted"),
    "not_measured": N_("not measured"),
}


CLAIMS_TABLE = Layout(
    columns={
        N_("claim"): "{one.claim}",
        N_("verdict"): (VERDICT_NAMES, "{one.verdict}"),
        N_("what the data say"): "{one.found}",
    },
    caption=N_(
        "One claim: {supported} supported, {partly} in part, {undecided} not shown, {contradicted} "
        "contradicted, {not_measured} not measured; with 95 % confidence, not one of these "
        "verdicts is wrong.",
        "{n} claims: {supported} supported, {partly} in part, {undecided} not shown, "
        "{contradicted} contradicted, {not_measured} not measured; with 95 % confidence, not one "
        "of these verdicts is wrong.",
    ),
    ids="{one.name}",
)

MOST_TRIALS_NAMED = 24
"""The most links of a claim; `--json` names all trials."""


def claims_table(judged: Sequence[ClaimVerdict]) -> Table:
    """One row a claim: what is claimed, the verdict, and what the data say; above them how many the
    data support, in part, not at all, or cannot decide."""
    counts = {name: sum(verdict.verdict == name for verdict in judged) for name in VERDICTS}
    return Table.of(
        CLAIMS_TABLE, [{"one": verdict} for verdict in judged], "claims", n=len(judged), **counts
    )


def verdict_name(verdict: Verdict) -> str:
    """A verdict in words."""
    return say(VERDICT_NAMES[verdict])


def named_trials(verdict: ClaimVerdict) -> tuple[int, ...]:
    """The trials that a verdict rests on; none where they are very many."""
    return verdict.trials if len(verdict.trials) <= MOST_TRIALS_NAMED else ()


def evidence_of(judged: Sequence[ClaimVerdict], trials: str = "") -> Prose:
    """Where the evidence for each conclusion that does not stand as it is can be looked up, and the
    trials of each claim on a run. trials: id of the table that has a row for each trial."""
    sentences = []
    for verdict in judged:
        if verdict.evidence and (verdict.verdict != "supported" or verdict.trials):
            linked = [Evidence(f"{trials}-{n}", _("trial {n}", n=n)) for n in named_trials(verdict)]
            see = _(
                "{claim}: {verdict}.", claim=verdict.claim, verdict=verdict_name(verdict.verdict)
            )
            text = join([see, _("It rests on the trials linked here.") if linked else ""])
            sentences.append(Claim(text, (*map(Evidence, verdict.evidence), *linked)))
    return Prose(tuple(sentences), heading=_("Where to look"), level=3, id="section-evidence")
