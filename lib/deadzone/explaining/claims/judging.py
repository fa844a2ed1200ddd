"""Judging the claims of a study, all together: one verdict each, with the figures behind it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from deadzone.explaining.claims.forms import Measured, settings_text, tested, words
from deadzone.explaining.claims.verdicts import CONFIDENCE, Tested, Verdict, more_trials, verdicts
from deadzone.explaining.phases.quantities import number, percent, plain_name
from deadzone.language.catalogue import join, say
from deadzone.study.claims import ClaimSpec
from deadzone.study.levels import is_number
from deadzone.style import PHASE_STYLES


@dataclass(frozen=True)
class Judged:
    """A claim, judged.

    name: of its row. claim: what is claimed. found: what the data say of it. verdict: see VERDICTS. evidence: ids of
    figures, tables or rows that show it. trials: that the verdict rests on, by their numbers. confidence: in the verdict, family-wise; None where there is none. more_trials: of
    each setting that would decide an undecided one; None where no number does. added: when the claim was made, where that
    was after the run was measured (ISO 8601), else empty.
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
        return {
            **asdict(self),
            "claim": str(self.claim),
            "found": str(self.found),
            "evidence": list(self.evidence),
            "trials": list(self.trials),
        }


def judge(
    claims: Sequence[ClaimSpec], measured: Measured, confidence: float = CONFIDENCE, added: Sequence[str] = ()
) -> tuple[Judged, ...]:
    """The verdict on every claim, in their order.

    confidence: that not one of the verdicts is wrong. added: for each claim when it was made, empty for those from
    before the run.
    """
    tests = [tested(claim, measured) for claim in claims]
    given = added or [""] * len(claims)
    return tuple(
        replace(
            _judged(i, claim, test, *decided, len(claims), confidence, since),
            trials=() if test.reason else measured.trials_of(claim),
        )
        for i, (claim, test, decided, since) in enumerate(
            zip(claims, tests, verdicts(tests, confidence), given, strict=True), start=1
        )
    )


def _judged(
    position: int,
    claim: ClaimSpec,
    test: Tested,
    verdict: Verdict,
    sure: float | None,
    n: int,
    confidence: float,
    added: str,
) -> Judged:
    more = more_trials(test, n, confidence) if verdict == "undecided" else None
    found = [say(test.found, **test.values) if not test.reason else f"{test.reason.rstrip('.')}."]
    if verdict == "undecided":
        found.append(say("claim.more_trials", n=more) if more else say("claim.no_number"))
    if added:
        found.append(say("claim.added", when=added))
    said = words(claim.says) or sentence(claim)
    return Judged(
        claim.name or f"claim-{position}", said, join(found), verdict, _evidence(claim), sure, more, added
    )


def _evidence(claim: ClaimSpec) -> tuple[str, ...]:
    """The blocks of a report that show what a claim speaks of."""
    return {"phase": ("response", "phases"), "holds": ("treatments",), "cannot_be_judged": ()}.get(
        claim.form, ("response", "treatments")
    )


def sentence(claim: ClaimSpec) -> str:
    """A claim in words, where it says none itself."""
    values: dict[str, Any] = {}
    if claim.better:
        values = {
            "at": settings_text(claim.better.at),
            "than": settings_text(claim.better.than),
            "times": f"{claim.better.by_at_least:g}",
        }
    elif claim.same:
        values = {
            "at": settings_text(claim.same.at),
            "than": settings_text(claim.same.other),
            "within": claim.same.within,
        }
    elif claim.best:
        values = {"at": settings_text(claim.best)}
    elif span := claim.scaling or claim.phase or claim.why:
        ends = (number(float(end)) if is_number(end) else str(end) for end in (span.start, span.stop))
        values = dict(zip(("start", "stop"), ends, strict=True))
        values |= {"least": f"{claim.scaling.at_least:g}"} if claim.scaling else {}
        values |= {"phase": PHASE_STYLES[claim.phase.label].name} if claim.phase else {}
        values |= {"cause": say(f"claim.{claim.why.cause}")} if claim.why else {}
    elif claim.holds:
        bounds = [
            f"{plain_name(column)} {'≥' if bound.at_most is None else '≤'} {bound.value:g}"
            for column, bound in claim.holds.items()
        ]
        values = {"bounds": join(bounds, ", "), "at": settings_text(claim.at or claim.given)}
    elif claim.not_worse:
        share = claim.not_worse.by_at_most
        values = {"column": plain_name(claim.not_worse.response or ""), "start": str(claim.start), "stop": str(claim.stop),
                  "margin": number(share) if claim.not_worse.absolute else percent(share)}  # fmt: skip
    elif claim.nothing_to_gain_beyond is not None:
        values = {"at": str(claim.nothing_to_gain_beyond)}
    return say(f"claim.{claim.form}", **values)
