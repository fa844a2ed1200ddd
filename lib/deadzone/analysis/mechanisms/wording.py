"""Why each phase is what it is, in words."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from deadzone.analysis.mechanisms.causes import BECAUSE, CAUSES
from deadzone.analysis.mechanisms.explaining import (
    CONFIRMED,
    EXCLUDED,
    FLOOR,
    INTERVAL,
    MORE_WORK,
    UNDECIDED,
    PhasesExplained,
)
from deadzone.analysis.mechanisms.parts import COUNTED, has_account, is_of_time
from deadzone.analysis.phases.naming import phases_shown
from deadzone.analysis.phases.quantities import listing
from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.messages import N_, Message, _, join, say

NOTHING = {True: N_("nothing: in proportion"), False: N_("nothing: unchanged")}
"""By whether the knob offers cores or threads, so that proportional scaling is expected."""

SAYS = {
    "behind": N_("{start} to {stop} ({phase}): {loss} in time{against}, because {because}."),
    "ahead": N_("{start} to {stop} ({phase}): {loss} in time{against}; what changed: {because}."),
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

NEEDED = {
    "work": N_("whether the CPU work is spinning, caches or memory (this needs hardware counters)"),
    "sleep": N_("which lock or other program the threads wait for (trace the threads)"),
    "ends": N_("what threads did after the last look at them ({why}; root on the host can see it)"),
    "waits": N_("disk and memory waits per thread (set kernel.task_delayacct=1)"),
    "trials": N_("what is undecided (repeat the first and last level of each phase)"),
}

LIMITED = 0.5
"""A linear phase whose limits hold threads back in more of their periods than this is limited by
them [share]."""

MOST_CANDIDATES = 3
"""Between more mechanisms than this a phase is not narrowed down: none of them is named."""

SLEEPING = {"waiting_for_each_other", "outside"}
"""Told apart by what threads slept in; which lock, or which peer, only a trace of them tells."""

DELAYS = {"waiting_for_disk", "memory_short"}
"""What the kernel tells of each thread only where it accounts for delays."""


def limits(explanation: PhasesExplained, phase: int) -> str:
    """What limits a phase, in a few words: the mechanisms confirmed, the largest first; where none
    is, that nothing does, or between which few mechanisms it is undecided."""
    named = [
        *([say(CAUSES["throttled"])] if _limited(explanation, phase) > LIMITED else []),
        *_named(explanation, phase, CONFIRMED),
    ]
    if named:
        return join([*dict.fromkeys(named)], ", ")
    if _is_small(explanation, phase):
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
    text = N_(
        "{response} is neither a time nor a rate of the trial, so the account of time has no cause "
        "for it."
    )
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
    phase, is_slower = loss["phase"], loss["change"] >= 0
    names = BECAUSE if is_slower else CAUSES
    confirmed = explanation.of(phase)
    because = [
        _(
            "{words} ({change}, {certainty:percent} interval {low} to {high})",
            words=say(names[row["mechanism"]]),
            certainty=INTERVAL,
            **{name: _change(row[name]) for name in ("change", "low", "high")},
        )
        for row in confirmed.to_dict("records")
    ]
    if because:
        way, listed = "behind" if is_slower else "ahead", [*LISTS]
    elif _is_small(explanation, phase):
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
    is_work = MORE_WORK in {*confirmed["mechanism"]}
    if (limited := loss["limited"]) > LIMITED:
        rest.insert(
            0, _("The CPU limit holds it back in {share:percent} of its periods.", share=limited)
        )
    return join([told, *rest, _counted(*(loss[name] for name in COUNTED)) if is_work else ""])


def _counted(instructions: float, cycles: float) -> Message | str:
    """What the processor counted of more CPU work, changes of logarithms; nothing where it did
    not."""
    if not math.isfinite(instructions + cycles):
        return ""
    half = max(instructions, cycles) / 2
    changes = _(
        "By the processor's counters the instructions change by {instructions} over the phase, and "
        "the cycles of each by {cycles}.",
        instructions=_change(instructions),
        cycles=_change(cycles),
    )
    more = _("So it does more: it spins, or has more to do.") if instructions > half else ""
    stalls = _("So the program waits for its caches or for memory.") if cycles > half else ""
    return join([changes, more, stalls])


def missing_measurements(
    facts: Mapping[str, Any], explanation: PhasesExplained | None
) -> list[Message]:
    """What was not measured, and what would measure it, in a sentence; none without an explanation.
    facts: the provenance of the trials, as far as it is known."""
    if explanation is None:
        return []
    table = explanation.table
    confirmed, undecided = (
        {*table["mechanism"][table["verdict"] == verdict]} for verdict in (CONFIRMED, UNDECIDED)
    )
    source = facts.get("account_source") or "with delays"
    refused = (facts.get("account_refused") or {}).get("taskstats")
    is_missing = {
        "work": MORE_WORK in confirmed and explanation.loss[COUNTED[0]].isna().all(),
        "sleep": SLEEPING & confirmed,
        "ends": refused and confirmed | undecided,
        "waits": "with delays" not in source and DELAYS & (confirmed | undecided),
        "trials": undecided,
    }
    named = [say(NEEDED[name], why=str(refused)) for name, is_so in is_missing.items() if is_so]
    return [_("Not measured here: {what}.", what=join(named, "; "))] if named else []


def _named(explanation: PhasesExplained, phase: int, verdict: str) -> list[Message]:
    return [say(CAUSES[name]) for name in explanation.of(phase, verdict)["mechanism"]]


def _limited(explanation: PhasesExplained, phase: int) -> float:
    rows = explanation.loss[explanation.loss["phase"] == phase]
    return float(rows["limited"].sum())


def _is_small(explanation: PhasesExplained, phase: int) -> bool:
    """Whether the phase deviates from proportional scaling by no more than calls for no
    explanation."""
    rows = explanation.loss[explanation.loss["phase"] == phase]
    return not rows.empty and abs(float(rows["change"].iloc[0])) <= FLOOR


def _change(logarithm: float) -> Message:
    """A change of a logarithm: what it adds to the time, as a share or as a multiple."""
    return _("{share:change}", share=math.expm1(logarithm))
