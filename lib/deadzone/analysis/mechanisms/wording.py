"""Why each phase is what it is, in words."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from deadzone.analysis.mechanisms.explaining import (
    CONFIRMED,
    EXCLUDED,
    FLOOR,
    INTERVAL,
    UNDECIDED,
    PhasesExplained,
)
from deadzone.analysis.mechanisms.parts import CAUSES, has_account, is_of_time
from deadzone.analysis.phases.naming import phases_shown
from deadzone.analysis.phases.quantities import listing
from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.messages import N_, Message, _, join, say

NOTHING = {True: N_("nothing: in proportion"), False: N_("nothing: unchanged")}
"""By whether the knob offers cores or threads, so that proportional scaling is expected."""

SAYS = {
    "shown": N_(
        "{start} to {stop} ({phase}): {loss} in time{against}. Shown to explain it: {because}."
    ),
    "open": N_(
        "{start} to {stop} ({phase}): {loss} in time{against}; no mechanism is shown to explain it."
    ),
    "proportional": N_("{start} to {stop} ({phase}) scales in proportion ({loss})."),
    "unchanged": N_(
        "{start} to {stop} ({phase}): the same work takes as long at both ends ({loss})."
    ),
}

LISTS = {
    EXCLUDED: N_("Shown not to explain it: {names}."),
    UNDECIDED: N_("Undecided: {names}.", context="mechanism"),
}

LIMITED = 0.5
"""A linear phase whose limits hold threads back in more of their periods than this is limited by
them [share]."""

MOST_CANDIDATES = 3
"""Between more mechanisms than this a phase is not narrowed down: none of them is named."""


def limits(explanation: PhasesExplained, phase: int) -> str:
    """What limits a phase, in a few words: the mechanisms confirmed, the largest first; where none
    is, that nothing does, or between which few mechanisms it is undecided."""
    rows = explanation.loss[explanation.loss["phase"] == phase].to_dict("records")
    throttled = [say(CAUSES["throttled"]) for loss in rows if loss["limited"] > LIMITED]
    if named := [*throttled, *_named(explanation, phase, CONFIRMED)]:
        return join([*dict.fromkeys(named)], ", ")
    if any(abs(loss["change"]) <= FLOOR for loss in rows):
        return say(NOTHING[explanation.is_scaling])
    candidates = _named(explanation, phase, UNDECIDED)
    if 1 < len(candidates) <= MOST_CANDIDATES:
        return _("undecided between {names}", names=listing(candidates))
    return _("cause not shown")


def no_cause(trials: pd.DataFrame, model: PhaseResult) -> list[Message]:
    """That the account of time tells no cause of a response that is no time; nothing where it
    does, or there is no account."""
    if not has_account(trials, model.response) or is_of_time(trials, model.response, model.goal):
        return []
    text = N_("{response} is neither a time nor a rate of the trial: no cause is known for it.")
    return [say(text, response=model.response)]


def sentences(explanation: PhasesExplained | None) -> list[Message]:
    """A sentence on each phase that could be explained; none without an explanation."""
    if explanation is None:
        return []
    shown = phases_shown(explanation.model)
    return [_sentence(explanation, loss, shown) for loss in explanation.loss.to_dict("records")]


def _sentence(
    explanation: PhasesExplained, loss: Mapping[Any, Any], shown: list[dict[str, str]]
) -> Message:
    """loss: a row of the explanation's. shown: the phases in words."""
    phase = loss["phase"]
    because = [
        _(
            "{words} ({change}, {certainty:percent} interval {low} to {high})",
            words=say(CAUSES[row["mechanism"]]),
            certainty=INTERVAL,
            **{name: _change(row[name]) for name in ("change", "low", "high")},
        )
        for row in explanation.of(phase).to_dict("records")
    ]
    if because:
        way, listed = "shown", [*LISTS]
    elif abs(loss["change"]) <= FLOOR:
        way, listed = "proportional" if explanation.is_scaling else "unchanged", []
    else:
        way, listed = "open", [*LISTS]
    told = say(
        SAYS[way],
        loss=_change(loss["change"]),
        against=_(" against proportional scaling") if explanation.is_scaling else "",
        because=join(because, "; "),
        **shown[phase],
    )
    others = {verdict: _named(explanation, phase, verdict) for verdict in listed}
    rest = [say(LISTS[verdict], names=join(them, ", ")) for verdict, them in others.items() if them]
    if (limited := loss["limited"]) > LIMITED:
        rest.insert(
            0, _("The CPU limit holds it back in {share:percent} of its periods.", share=limited)
        )
    return join([told, *rest])


def _named(explanation: PhasesExplained, phase: int, verdict: str) -> list[Message]:
    return [say(CAUSES[name]) for name in explanation.of(phase, verdict)["mechanism"]]


def _change(logarithm: float) -> Message:
    """A change of a logarithm: what it adds to the time, as a share or as a multiple."""
    return _("{share:change}", share=math.expm1(logarithm))
