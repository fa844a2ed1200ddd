"""Judging the claims of a study, all together: one verdict each, with the figures behind it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deadzone.analysis.claims.forms import tested
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.claims.verdicts import Verdict, more_trials, verdicts
from deadzone.analysis.claims.wording import sentence, words
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.language.messages import _, join, ngettext
from deadzone.study.claims import ClaimSpec

EVIDENCE = {"phase": ("response", "phases"), "holds": ("treatments",), "cannot_be_judged": ()}
"""The blocks of a report that show what a claim of a form speaks of."""


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim, judged.

    name: of its row. claim: what is claimed. found: what the data say of it. verdict: a `Verdict`.
    evidence: ids of figures, tables or rows that show it. trials: that the verdict rests on, by
    their numbers. confidence: in the verdict, family-wise; None where there is none. more_trials:
    of each setting that would decide an undecided one; None where no number does. added: when the
    claim was made, where that was after the run was measured (ISO 8601), else empty.
    """

    name: str
    claim: str
    found: str
    verdict: Verdict
    evidence: tuple[str, ...] = ()
    confidence: float | None = None
    more_trials: int | None = None
    added: str = ""
    trials: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain JSON values."""
        lists = {"evidence": list(self.evidence), "trials": list(self.trials)}
        return {**asdict(self), "claim": str(self.claim), "found": str(self.found), **lists}


def judge(
    claims: Sequence[ClaimSpec],
    measured: Measured,
    confidence: float = CONFIDENCE,
    added: Sequence[str] = (),
) -> tuple[ClaimVerdict, ...]:
    """The verdict on every claim, in their order.

    confidence: that not one of the verdicts is wrong. added: for each claim when it was made, empty
    for those from before the run.
    """
    tests = [tested(claim, measured) for claim in claims]
    judged = []
    for i, (verdict, sure) in enumerate(verdicts(tests, confidence)):
        claim, test, more, since = claims[i], tests[i], None, added[i] if added else ""
        sentences = [f"{test.reason.rstrip('.')}." if test.reason else test.found]
        if verdict == "undecided" and test.distance is not None:
            more = more_trials(test, len(claims), confidence)
            sentences.append(_what_would_decide(more))
        if since:
            sentences.append(_("Claimed after the run was measured ({when}).", when=since))
        judged.append(
            ClaimVerdict(
                claim.name or f"claim-{i + 1}",
                words(claim.says) or sentence(claim, measured.ratio_of(claim)),
                join(sentences),
                verdict,
                EVIDENCE.get(claim.form, ("response", "treatments")),
                sure,
                more,
                since,
                () if test.reason else measured.trials_of(claim),
            )
        )
    return tuple(judged)


def _what_would_decide(more: int | None) -> str:
    if more is None:
        return _(
            "No realistic number of trials would decide it: the true value is at the edge of "
            "the claim."
        )
    return ngettext(
        "One more trial of each setting would decide it, if the truth is what was measured.",
        "{n} more trials of each setting would decide it, if the truth is what was measured.",
        n=more,
    )
