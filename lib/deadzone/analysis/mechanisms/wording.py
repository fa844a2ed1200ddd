"""Why each phase is what it is, in words."""

import math
from collections.abc import Mapping
from typing import Any

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
from deadzone.analysis.mechanisms.joints import joints_of
from deadzone.analysis.mechanisms.parts import COUNTED
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.naming import phases_shown
from deadzone.analysis.phases.quantities import listing
from deadzone.language.messages import N_, Message, _, join, pgettext, say

LISTS = {
    "excluded": N_("Shown not to explain it: {names}."),
    "undecided": N_("Undecided: {names}.", context="mechanism"),
}


NEEDED = {
    "work": N_("whether the CPU work is spinning, caches or memory (this needs hardware counters)"),
    "sleep": N_("which lock or other program the threads wait for (trace the threads)"),
    "ends": N_("what threads did after the last look at them ({why}; root on the host can see it)"),
    "waits": N_("disk and memory waits per thread (set kernel.task_delayacct=1)"),
    "trials": N_("what is undecided (repeat the first and last level of each phase)"),
}


SAYS = {
    "behind": N_("{start} to {stop} ({phase}): {loss} in time{against}, because {because}."),
    "ahead": N_("{start} to {stop} ({phase}): {loss} in time{against}; what changed: {because}."),
    "open": N_(
        "{start} to {stop} ({phase}): {loss} in time{against}; no mechanism is shown to explain it."
    ),
}


GREW = {
    "instructions": N_("So it does more: it spins, or has more to do."),
    "stalls": N_("So the program waits for its caches or for memory."),
}


MOST_CANDIDATES = 3
"""Between more mechanisms than this a phase is not narrowed down: none of them is named."""

SLEEPING = ("waiting_for_each_other", "outside")
"""Told apart by what threads slept in; which lock, or which peer, only a trace of them tells."""


def limits(explanation: PhasesExplained, phase: int) -> str:
    """What limits a phase, in a few words: the mechanisms confirmed, the largest first, or that
    nothing is."""
    named = [say(CAUSES[name]) for name in explanation.of(phase)["mechanism"]]
    if named:
        return join(named, ", ")
    if not _is_small(explanation, phase):
        return pgettext("mechanism", "not shown")
    return say(N_("nothing: in proportion") if explanation.is_scaling else N_("nothing: unchanged"))


def limit_or_candidates(explanation: PhasesExplained, phase: int) -> str:
    """What limits a phase; where none is shown, between which few mechanisms it is undecided."""
    open_here = [say(CAUSES[name]) for name in explanation.of(phase, UNDECIDED)["mechanism"]]
    is_open = explanation.of(phase).empty and not _is_small(explanation, phase)
    if is_open and 1 < len(open_here) <= MOST_CANDIDATES:
        return _("undecided between {names}", names=listing(open_here))
    return limits(explanation, phase)


def sentence(
    explanation: PhasesExplained, phase: int, start: str, stop: str, name: str
) -> Message | None:
    """One sentence on a phase; None where it could not be explained. start, stop, name: of the
    phase, in words."""
    rows = explanation.loss[explanation.loss["phase"] == phase]
    if rows.empty:
        return None
    loss = rows.iloc[0]
    whole = {"start": start, "stop": stop, "phase": name, "loss": _change(loss["change"])}
    names = BECAUSE if loss["change"] >= 0 else CAUSES
    because = [
        _(
            "{words} ({change}, {certainty:percent} interval {low} to {high})",
            words=say(names[row["mechanism"]]),
            change=_change(row["change"]),
            low=_change(row["low"]),
            high=_change(row["high"]),
            certainty=INTERVAL,
        )
        for row in explanation.of(phase).to_dict("records")
    ]
    is_small = _is_small(explanation, phase) and not because
    if is_small:
        sentence = say(
            N_("{start} to {stop} ({phase}) scales in proportion ({loss}).")
            if explanation.is_scaling
            else N_(
                "{start} to {stop} ({phase}): the same work takes as long at both ends ({loss})."
            ),
            **whole,
        )
    else:
        way = "behind" if loss["change"] >= 0 else "ahead"
        whole |= {
            "against": _(" against proportional scaling") if explanation.is_scaling else "",
            "because": join(because, "; "),
        }
        sentence = say(SAYS[way if because else "open"], **whole)
    rest = [
        say(
            LISTS[verdict],
            names=join(
                [say(CAUSES[name]) for name in explanation.of(phase, verdict)["mechanism"]], ", "
            ),
        )
        for verdict in (EXCLUDED, UNDECIDED)
        if len(explanation.of(phase, verdict)) and not is_small
    ]
    return join(
        [
            sentence,
            *rest,
            _counted({*explanation.of(phase)["mechanism"]}, *loss[[*COUNTED]].astype(float)),
        ]
    )


def _counted(confirmed: set[str], instructions: float, cycles: float) -> Message | str:
    """What the processor counted of more CPU work, changes of logarithms; nothing where it did
    not."""
    if MORE_WORK not in confirmed or not math.isfinite(instructions + cycles):
        return ""
    most = max(instructions, cycles)
    grew = [
        of
        for of, change in (("instructions", instructions), ("stalls", cycles))
        if change > most / 2
    ]
    changes = {"instructions": _change(instructions), "cycles": _change(cycles)}
    return join(
        [
            _(
                "By the processor's counters the instructions change by {instructions} over the "
                "phase, and the cycles of each by {cycles}.",
                **changes,
            ),
            *(say(GREW[of]) for of in grew),
        ]
    )


def missing_measurements(
    facts: Mapping[str, Any], *explanations: PhasesExplained | None
) -> list[Message]:
    """What was not measured, and what would measure it, in a sentence; none where nothing was
    explained. facts: the provenance of the trials, as far as it is known."""
    tables = [explanation.table for explanation in explanations if explanation]
    confirmed, undecided = (
        {name for table in tables for name in table["mechanism"][table["verdict"] == verdict]}
        for verdict in (CONFIRMED, UNDECIDED)
    )
    source, refused = (
        facts.get("account_source"),
        (facts.get("account_refused") or {}).get("taskstats"),
    )
    open_here = {
        "work": MORE_WORK in confirmed
        and not any(
            explanation.loss[COUNTED[0]].notna().any()
            for explanation in explanations
            if explanation
        ),
        "sleep": {*SLEEPING} & confirmed,
        "ends": refused and confirmed | undecided,
        "waits": source
        and "with delays" not in source
        and {"waiting_for_disk", "memory_short"} & (confirmed | undecided),
        "trials": undecided,
    }
    named = [say(NEEDED[name], why=str(refused)) for name, is_open in open_here.items() if is_open]
    return [_("Not measured here: {what}.", what=join(named, "; "))] if named else []


def sentences(explanation: PhasesExplained | None) -> list[Message]:
    """A sentence on each phase that could be explained, and on each joint with a change shown; none
    without an explanation."""
    if explanation is None:
        return []
    sentences = [
        sentence(explanation, number, row["start"], row["stop"], row["phase"])
        for number, row in enumerate(phases_shown(explanation.model))
    ]
    return [*(text for text in sentences if text), *_joint_sentences(explanation)]


def _joint_sentences(explanation: PhasesExplained) -> list[Message]:
    labels = [row["phase"] for row in phases_shown(explanation.model)]
    joints, texts = joints_of(explanation), []
    for phase, level in (
        joints[["phase", "level"]].drop_duplicates().itertuples(index=False, name=None)
    ):
        rows = joints[joints["phase"] == phase]
        where = {
            "level": level_text(explanation.model, level),
            "start": labels[phase],
            "stop": labels[phase + 1],
        }
        parts = [
            _(
                "{name}, from {before} to {after} ({certainty:percent} interval of the change "
                "{low} to {high})",
                name=say(CAUSES[row["mechanism"]]),
                certainty=INTERVAL,
                **{name: _change(row[name]) for name in ("before", "after", "low", "high")},
            )
            for row in rows[rows["verdict"] == CONFIRMED].to_dict("records")
        ]
        if not parts:
            continue
        where["against"] = _(" against proportional scaling") if explanation.is_scaling else ""
        texts.append(
            _(
                "At {level} ({start} to {stop}) the cost of a doubling changes, in time{against}: "
                "{parts}.",
                parts=join(parts, "; "),
                **where,
            )
        )
    return texts


def _is_small(explanation: PhasesExplained, phase: int) -> bool:
    """Whether the phase deviates from proportional scaling by no more than calls for no
    explanation."""
    rows = explanation.loss[explanation.loss["phase"] == phase]
    return not rows.empty and abs(float(rows["change"].iloc[0])) <= FLOOR


def _change(logarithm: float) -> Message:
    """A change of a logarithm: what it adds to the time, as a share or as a multiple."""
    return _("{share:change}", share=math.expm1(logarithm))
