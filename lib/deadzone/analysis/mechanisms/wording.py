"""Why each phase is what it is, in words."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deadzone.analysis.compare.comparing import in_words
from deadzone.analysis.mechanisms.causes import BECAUSE, CAUSES
from deadzone.analysis.mechanisms.explaining import (
    CONFIRMED,
    EXCLUDED,
    FLOOR,
    INTERVAL,
    MORE_WORK,
    UNDECIDED,
    Explanation,
    PhasesExplained,
)
from deadzone.analysis.mechanisms.joints import joints_of
from deadzone.analysis.mechanisms.parts import COUNTED
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.quantities import listing, percent
from deadzone.language.messages import N_, Message, _, join, pgettext, say
from deadzone.style import PHASE_STYLES

LISTS = {
    "excluded": N_("Shown not to explain it: {names}."),
    "undecided": N_("Undecided: {names}.", context="mechanism"),
}


NEEDED = {
    "work": N_(
        "whether the CPU work is spinning, caches or memory (hardware counters, where the machine "
        "has them)"
    ),
    "sleep": N_("which lock or which peer threads wait for (a trace of the threads)"),
    "ends": N_(
        "what threads did after the last look at them ({why}; the owner of the machine hears of "
        "the end of each)"
    ),
    "waits": N_(
        "how long each wait for the disk and memory was, for threads are only looked at (the "
        "kernel counts it with kernel.task_delayacct = 1)"
    ),
    "trials": N_("what is undecided (more trials at the ends of the phases)"),
}


SAYS = {
    "behind": N_("{start} to {stop} ({phase}): {loss} in time{against}, because {because}."),
    "ahead": N_("{start} to {stop} ({phase}): {loss} in time{against}; what changed: {because}."),
    "behind_open": N_(
        "{start} to {stop} ({phase}): {loss} in time{against}; no mechanism is shown to explain it."
    ),
    "ahead_open": N_(
        "{start} to {stop} ({phase}): {loss} in time{against}; no mechanism is shown to explain it."
    ),
}


GREW = {
    "instructions": N_("So it does more: it spins, or has more to do."),
    "stalls": N_("So it stalls, on caches or memory."),
}


MOST_CANDIDATES = 3
"""Between more mechanisms than this a phase is not narrowed down: none of them is named."""

SLEEPING = ("waiting_for_each_other", "outside")
"""Told apart by what threads slept in; which lock, or which peer, only a trace of them tells."""


def limits(found: Explanation, phase: int) -> str:
    """What limits a phase, in a few words: the mechanisms confirmed, the largest first, or that
    nothing is."""
    named = [say(CAUSES[name]) for name in found.of(phase)["mechanism"]]
    if named:
        return join(named, ", ")
    if not _is_small(found, phase):
        return pgettext("mechanism", "not shown")
    return say(N_("nothing: in proportion") if found.is_scaling else N_("nothing: unchanged"))


def limit_or_candidates(found: Explanation, phase: int) -> str:
    """What limits a phase; where none is shown, between which few mechanisms it is undecided."""
    open_here = [say(CAUSES[one]) for one in found.of(phase, UNDECIDED)["mechanism"]]
    is_open = found.of(phase).empty and not _is_small(found, phase)
    if is_open and 1 < len(open_here) <= MOST_CANDIDATES:
        return _("undecided between {names}", names=listing(open_here))
    return limits(found, phase)


def sentence(found: Explanation, phase: int, start: str, stop: str, name: str) -> Message | None:
    """One sentence on a phase; None where it could not be explained. start, stop, name: of the
    phase, in words."""
    rows = found.loss[found.loss["phase"] == phase]
    if rows.empty:
        return None
    loss = rows.iloc[0]
    whole = {"start": start, "stop": stop, "phase": name, "loss": _percent(loss["change"])}
    names = BECAUSE if loss["change"] >= 0 else CAUSES
    because = [
        _(
            "{words} ({change}, {certainty:percent} interval {low} to {high})",
            words=say(names[row["mechanism"]]),
            change=_percent(row["change"]),
            low=_percent(row["low"]),
            high=_percent(row["high"]),
            certainty=INTERVAL,
        )
        for row in found.of(phase).to_dict("records")
    ]
    is_small = _is_small(found, phase) and not because
    if is_small:
        sentence = say(
            N_("{start} to {stop} ({phase}) scales in proportion ({loss}).")
            if found.is_scaling
            else N_("{start} to {stop} ({phase}) takes the same time for the same work ({loss})."),
            **whole,
        )
    else:
        way = "behind" if loss["change"] >= 0 else "ahead"
        whole |= {
            "against": _(" against proportional scaling") if found.is_scaling else "",
            "because": join(because, "; "),
        }
        sentence = say(SAYS[way] if because else SAYS[f"{way}_open"], **whole)
    rest = [
        say(
            LISTS[verdict],
            names=join([say(CAUSES[one]) for one in found.of(phase, verdict)["mechanism"]], ", "),
        )
        for verdict in (EXCLUDED, UNDECIDED)
        if len(found.of(phase, verdict)) and not is_small
    ]
    return join(
        [
            sentence,
            *rest,
            _counted({*found.of(phase)["mechanism"]}, *loss[[*COUNTED]].astype(float)),
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
    changes = {"instructions": _percent(instructions), "cycles": _percent(cycles)}
    return join(
        [
            _(
                "The processor counted a change of its instructions of {instructions}, and of "
                "cycles an instruction of {cycles}.",
                **changes,
            ),
            *(say(GREW[of]) for of in grew),
        ]
    )


def untold(facts: Mapping[str, Any], *found: Explanation | None) -> list[Message]:
    """What could not be told here, and what would tell it, in a sentence; none where nothing was
    explained. facts: the provenance of the trials, as far as it is known."""
    tables = [one.table for one in found if one]
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
        and not any(one.loss[COUNTED[0]].notna().any() for one in found if one),
        "sleep": {*SLEEPING} & confirmed,
        "ends": refused and confirmed | undecided,
        "waits": source
        and "with delays" not in source
        and {"waiting_for_disk", "memory_short"} & (confirmed | undecided),
        "trials": undecided,
    }
    named = [say(NEEDED[name], why=str(refused)) for name, is_open in open_here.items() if is_open]
    return (
        [_("What could not be told here, and what would tell it: {what}.", what=join(named, "; "))]
        if named
        else []
    )


def sentences(found: PhasesExplained | None) -> list[Message]:
    """A sentence on each phase that could be explained, and on each joint with a change shown; none
    without an explanation."""
    if found is None:
        return []
    sentences = []
    for number, row in enumerate(found.model.phases.to_dict("records")):
        start, stop = (level_text(found.model, float(row[end])) for end in ("start", "stop"))
        sentences.append(sentence(found, number, start, stop, PHASE_STYLES[str(row["label"])].name))
    return [*(one for one in sentences if one), *_joint_sentences(found)]


def _joint_sentences(found: PhasesExplained) -> list[Message]:
    labels = [PHASE_STYLES[str(label)].name for label in found.model.phases["label"]]
    joints, said = joints_of(found), []
    for phase, level in (
        joints[["phase", "level"]].drop_duplicates().itertuples(index=False, name=None)
    ):
        rows = joints[joints["phase"] == phase]
        where = {
            "level": level_text(found.model, level),
            "start": labels[phase],
            "stop": labels[phase + 1],
        }
        parts = [
            _(
                "{name}, from {before} to {after} ({certainty:percent} interval of the change "
                "{low} to {high})",
                name=say(CAUSES[row["mechanism"]]),
                certainty=INTERVAL,
                **{name: _percent(row[name]) for name in ("before", "after", "low", "high")},
            )
            for row in rows[rows["verdict"] == CONFIRMED].to_dict("records")
        ]
        if not parts:
            continue
        where["against"] = _(" against proportional scaling") if found.is_scaling else ""
        said.append(
            _(
                "At {level} ({start} to {stop}) what a doubling costs in time{against} changes: "
                "{parts}.",
                parts=join(parts, "; "),
                **where,
            )
        )
    return said


def change_sentences(
    found: Explanation | None, names: tuple[str, str], factors: Sequence[str]
) -> list[Message]:
    """A sentence on each treatment of which something is shown to explain the change between two
    tables."""
    rows = (
        [] if found is None else found.table[found.table["verdict"] == CONFIRMED].to_dict("records")
    )
    labels = {row["phase"]: row["label"] for row in rows}
    said = (
        sentence(found, n, *names, in_words(label, factors)) for n, label in labels.items() if found
    )
    return [*(one for one in said if one), *(untold({}, found) if labels else [])]


def _is_small(found: Explanation, phase: int) -> bool:
    """Whether the phase deviates from proportional scaling by no more than calls for no
    explanation."""
    rows = found.loss[found.loss["phase"] == phase]
    return not rows.empty and abs(float(rows["change"].iloc[0])) <= FLOOR


def _percent(change: float) -> str:
    """A change of a logarithm: what it adds to the time, as a share, or beyond a doubling as a
    factor."""
    if not math.isfinite(change):
        return _("?")
    if change > math.log(2):
        return _("×{times:.1f}", times=math.exp(change))
    return _("{sign}{share}", sign="+" if change > 0 else "", share=percent(math.expm1(change)))
