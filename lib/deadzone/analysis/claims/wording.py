"""Claims in words, where they say none themselves, and the settings and causes they name."""

import math
from collections.abc import Mapping
from typing import Any

from deadzone.analysis.mechanisms.causes import CAUSES
from deadzone.analysis.phases.quantities import percent, plain_name, setting, unit_name
from deadzone.language.formats import exact
from deadzone.language.messages import N_, _, join, say, spoken
from deadzone.study.claims import ClaimSpec, Ratio
from deadzone.study.levels import Level, format_level, is_number
from deadzone.style import PHASE_STYLES

WORK = {"less_work": N_("less work"), "more_cores": N_("the same work on more cores")}
"""The causes that CPU time alone tells apart; the others need the account of time."""


def words(text: str | Mapping[Any, str] | None) -> str:
    """What a claim says in the language spoken; in another where it says it in one only."""
    if isinstance(text, Mapping):
        return text.get(spoken()) or next(iter(text.values()), "")
    return text or ""


def settings_text(levels: Mapping[str, Level]) -> str:
    """A setting in words: `threads 4` is `4 threads`."""
    named = [setting(float(v) if is_number(v) else v, k) for k, v in levels.items()]
    return join(named, ", ")


def cause_name(cause: str) -> str:
    """A cause in words."""
    return say(WORK.get(cause) or CAUSES[cause])


def bounds_text(ratio: Ratio) -> str:
    """Between which bounds a ratio is claimed to be: `at least 2 times`."""
    ends = (ratio.low, ratio.high, ratio.low_in_part or 0.0)
    low, high, weaker = (exact(float(f"{math.exp(end):.3g}")) for end in ends)
    if ratio.high < math.inf:
        return _("{low} to {high} times", low=low, high=high)
    if ratio.low_in_part is not None:
        return _("at least {low} times, in part {weaker} times", low=low, weaker=weaker)
    return _("at least {low} times", low=low)


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
