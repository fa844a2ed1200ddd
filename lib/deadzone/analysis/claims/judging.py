"""Judging the claims of a study, all together: one verdict each, with the figures behind it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deadzone.analysis.claims.forms import tested, words
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.claims.verdicts import Verdict, verdicts
from deadzone.analysis.claims.wording import sentence
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.language.messages import _, join
from deadzone.study.claims import ClaimSpec


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim, judged.

    name: of its row. claim: what is claimed. found: what the data say of it. verdict: a `Verdict`.
    confidence: in the verdict, family-wise; None where there is none. added: when the claim was
    made, where that was after the run was measured (ISO 8601), else empty.
    """

    name: str
    claim: str
    found: str
    verdict: Verdict
    confidence: float | None = None
    added: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain JSON values."""
        return {**asdict(self), "claim": str(self.claim), "found": str(self.found)}


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
        claim, test, since = claims[i], tests[i], added[i] if added else ""
        sentences = [f"{test.reason.rstrip('.')}." if test.reason else test.found]
        if since:
            sentences.append(_("Claimed after the run was measured ({when}).", when=since))
        judged.append(
            ClaimVerdict(
                claim.name or f"claim-{i + 1}",
                words(claim.says) or sentence(claim, measured.ratio_of(claim)),
                join(sentences),
                verdict,
                sure,
                since,
            )
        )
    return tuple(judged)
