"""Judging the claims of a study, all together: one verdict each, with the figures behind it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deadzone.analysis.claims.forms import (
    Verdict,
    bounds_text,
    cause_name,
    settings_text,
    tested,
    verdicts,
    words,
)
from deadzone.analysis.claims.measured import Measured
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.phases.quantities import percent, plain_name, unit_name
from deadzone.language.formats import exact
from deadzone.language.messages import N_, _, join, say
from deadzone.study.claims import ClaimSpec, Ratio
from deadzone.study.levels import format_level
from deadzone.style import PHASE_STYLES

VERDICT_NAMES = {
    "supported": N_("supported"),
    "partly": N_("in part"),
    "undecided": N_("not shown"),
    "contradicted": N_("contradicted"),
    "not_measured": N_("not measured"),
}


def sentence(claim: ClaimSpec, ratio: Ratio | None) -> str:
    """A claim in words, where it says none itself. ratio: that it bounds, if it does."""
    if claim.best:
        return _("{at}: no other setting is better", at=settings_text(claim.best))
    if claim.not_worse and ratio:
        column, least = claim.not_worse.response or "", claim.not_worse.by_at_most
        margin = f"{exact(least)} {unit_name(column)}".strip()
        return _(
            "{response}: at most {margin} worse at {stop} than at {start}",
            response=plain_name(column) if column else _("the response"),
            margin=margin if claim.not_worse.absolute else percent(least),
            start=format_level(claim.start or 0),
            stop=format_level(claim.stop or 0),
        )
    if claim.nothing_to_gain_beyond is not None and ratio:
        return _("beyond {at} nothing is to be gained", at=settings_text(ratio.of))
    if ratio:
        at, than = settings_text(ratio.of), settings_text(ratio.than[0])
        return _(
            "with {at} it is {bounds} as good as with {than}",
            at=at, bounds=bounds_text(ratio), than=than,
        )  # fmt: skip
    if claim.holds:
        bounds = [
            f"{plain_name(column)} {'≥' if bound.at_most is None else '≤'} {exact(bound.value)} "
            f"{unit_name(column)}".strip()
            for column, bound in claim.holds.items()
        ]
        if claim.at:
            listed = join(bounds, ", ")
            return _("{bounds}, at {at}", bounds=listed, at=settings_text(claim.at))
        listed = join([*bounds, settings_text(claim.given)], ", ")
        return _("one setting at least meets {bounds}", bounds=listed)
    if not claim.ends():
        return _("a claim without words")
    start, stop = map(format_level, claim.ends())
    if claim.phase:
        label = PHASE_STYLES[claim.phase.label].name
        return _("{start} to {stop} is {label}", start=start, stop=stop, label=label)
    assert claim.why is not None
    cause = cause_name(claim.why.cause)
    return _("from {start} to {stop} it is {cause}", start=start, stop=stop, cause=cause)


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

    def __str__(self) -> str:
        """The claim, its verdict and its figures in a line of a terminal."""
        named = say(VERDICT_NAMES[self.verdict])
        return _("{verdict}: {claim}. {found}", verdict=named, claim=self.claim, found=self.found)

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
