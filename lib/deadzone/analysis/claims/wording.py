"""Claims in words, where they say none themselves, and the settings and causes they name."""

from collections.abc import Mapping
from typing import Any

from deadzone.analysis.mechanisms.causes import CAUSES
from deadzone.analysis.phases.quantities import percent, plain_name, setting, unit_name
from deadzone.language.formats import exact
from deadzone.language.messages import N_, _, join, say, spoken
from deadzone.study.base import Spec
from deadzone.study.claims import ClaimSpec
from deadzone.study.levels import Level, format_level, is_number
from deadzone.style import PHASE_STYLES

FORMS = {
    "better": N_("with {at} it is at least {by_at_least} times as good as with {than}"),
    "same": N_("{at} or {other} make no difference of more than {within:percent}"),
    "best": N_("{at}: no other setting is better"),
    "scaling": N_("from {start} to {stop} it scales with an elasticity of at least {at_least}"),
    "phase": N_("{start} to {stop} is {label}"),
    "nothing_to_gain_beyond": N_("beyond {at} nothing is to be gained"),
    "not_worse": N_("{response}: at most {margin} worse at {stop} than at {start}"),
    "why": N_("from {start} to {stop} it is {cause}"),
    "cannot_be_judged": N_("a claim without words"),
}


WORK_CAUSES = {
    "less_work": N_("less work"),
    "more_cores": N_("the same work on more cores"),
}


WORK = ("less_work", "more_cores")
"""The causes that CPU time alone tells apart; the others need the account of time."""


def words(text: str | Mapping[Any, str] | None) -> str:
    """What a claim says in the language spoken; in another where it says it in one only."""
    if isinstance(text, Mapping):
        return text.get(spoken()) or next(iter(text.values()), "")
    return text or ""


def settings_text(levels: Mapping[str, Level]) -> str:
    """A setting in words: `threads 4` is `4 threads`."""
    return join(
        [
            setting(float(v), k) if is_number(v) else f"{plain_name(k)} {v}"
            for k, v in levels.items()
        ],
        ", ",
    )


def cause_name(cause: str) -> str:
    """A cause in words."""
    return say(WORK_CAUSES[cause] if cause in WORK else CAUSES[cause])


def sentence(claim: ClaimSpec) -> str:
    """A claim in words, where it says none itself."""
    if claim.holds:
        bounds = [
            f"{plain_name(column)} {'≥' if bound.at_most is None else '≤'} {exact(bound.value)} "
            f"{unit_name(column)}".strip()
            for column, bound in claim.holds.items()
        ]
        text, given = (
            (N_("{bounds}, at {at}"), {})
            if claim.at
            else (N_("one setting at least meets {bounds}"), claim.given)
        )
        bounds += [settings_text(given)] if given else []
        return say(text, bounds=join(bounds, ", "), at=settings_text(claim.at or {}))
    stated = getattr(claim, claim.form)
    values = dict(stated) if isinstance(stated, Spec) else {"at": stated}
    if claim.not_worse:
        share, ends = claim.not_worse.by_at_most, {"start": claim.start, "stop": claim.stop}
        column = claim.not_worse.response or ""
        margin = (
            f"{exact(share)} {unit_name(column)}".strip()
            if claim.not_worse.absolute
            else percent(share)
        )
        named = plain_name(column) if column else _("the response")
        values |= {"response": named, "margin": margin, **ends}
    return say(
        FORMS[claim.form], **{name: _value_text(name, value) for name, value in values.items()}
    )


def _value_text(name: str, value: Any) -> Any:
    if name == "within" or value is None:
        return value
    if isinstance(value, Mapping):
        return settings_text(value)
    if name in ("label", "cause"):
        return PHASE_STYLES[value].name if name == "label" else cause_name(value)
    return format_level(value) if is_number(value) else str(value)
