"""What a phase is called: its label in words, or two where the fit leaves both open."""

from collections.abc import Hashable, Mapping
from typing import Any

from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.result import PhaseResult
from deadzone.analysis.phases.thresholds import LABELS
from deadzone.language.messages import N_, Message, _, join, ngettext, say
from deadzone.study.scales import without_remark
from deadzone.style import PHASE_STYLES

UNSURE = 0.8
"""Below this probability a label is said to be doubtful."""

OPEN = 0.2
"""A label that is at least so probable stands beside a doubtful one."""


def open_labels(model: PhaseResult, phase: Mapping[Hashable, Any]) -> dict[str, float]:
    """The label of a phase with its probability, or the two likeliest where it is doubtful and the
    second is OPEN; the likeliest first. phase: a row of `model.phases`."""
    label, probability = str(phase["label"]), float(phase["probability"])
    steps = model.steps
    inside = steps[(steps["start"] >= phase["start"]) & (steps["stop"] <= phase["stop"])]
    others = {
        other: chance
        for other in LABELS
        if other != label and (chance := float(inside[f"p_{other}"].mean())) >= OPEN
    }
    if probability >= UNSURE or not others:
        return {label: probability}
    both = [(label, probability), max(others.items(), key=lambda item: item[1])]
    return dict(sorted(both, key=lambda item: item[1], reverse=True))


def phase_name(model: PhaseResult, phase: Mapping[Hashable, Any]) -> str:
    """The name of a phase: `plateau`, or `reversal or plateau`."""
    return _either([PHASE_STYLES[label].name for label in open_labels(model, phase)])


def phase_meaning(model: PhaseResult, phase: Mapping[Hashable, Any]) -> str:
    """What the name of a phase says of it."""
    return _either([PHASE_STYLES[label].meaning for label in open_labels(model, phase)])


def ends(model: PhaseResult, row: Mapping[Hashable, Any]) -> dict[str, str]:
    """Where a phase or a step begins and ends, in words. row: of it, with start and stop."""
    return {end: without_remark(level_text(model, float(row[end]))) for end in ("start", "stop")}


def phases_shown(model: PhaseResult) -> list[dict[str, str]]:
    """The phases in texts, a row each in their order: start, stop, range (levels), phase (name)."""
    rows = []
    for row in model.phases.to_dict("records"):
        at = ends(model, row)
        is_plain = not any(text.startswith("-") for text in at.values())
        span = "{start}-{stop}".format(**at) if is_plain else _("{start} to {stop}", **at)
        rows.append({**at, "range": span, "phase": phase_name(model, row)})
    return rows


def _either(words: list[str]) -> str:
    return (
        words[0] if len(words) == 1 else _("{first} or {second}", first=words[0], second=words[1])
    )


DRIFT_KINDS = {
    "block": N_("block"),
    "order": N_("order"),
}


MOST_TRIALS_NAMED = 5
"""A sentence names this many outliers; the table of outliers has all."""


def doubts(model: PhaseResult) -> list[Message]:
    """Warnings about labels, joints, outliers, drift and misfit, in the order of the model's
    tables."""
    drift, noise, levels = model.drift, model.noise, model.levels["level"].to_numpy()
    phases = model.phases.to_dict("records")
    sentences = [_of_label(model, row) for row in phases if row["probability"] < UNSURE]
    sentences += [
        _(
            "The joint at {joint} is next to the end of the range: one step makes the phase beyond "
            "it.",
            joint=level_text(model, joint),
        )
        for joint in model.joints["level"]
        if joint in (levels[1], levels[-2])
    ]
    if n := len(model.outliers):
        shown = [
            _("{trial} (at {level})", trial=row["trial"], level=level_text(model, row["knob"]))
            for row in model.outliers.head(MOST_TRIALS_NAMED).to_dict("records")
        ]
        if n > len(shown):
            shown.append(_("{more} more", more=n - len(shown)))
        sentences.append(
            ngettext(
                "{n} trial is flagged as outlying and down-weighted: {trials}.",
                "{n} trials are flagged as outlying and down-weighted: {trials}.",
                n=n,
                trials=join(shown, ", "),
            )
        )
    if drift is not None and drift.removed:
        sentences.append(
            _(
                "The response drifts by {change:percent} over the run ({p:p_equals}, by {kind}); "
                "the drift is removed from the fit.",
                change=drift.change,
                p=drift.p_value,
                kind=say(DRIFT_KINDS[drift.kind]),
            )
        )
    if noise.estimable and noise.misfit > 1.2 * noise.replicate:
        sentences.append(
            _(
                "Levels are {misfit:percent} off straight pieces, while replicates differ by "
                "{noise:percent}: more levels may sharpen this fit, more replicates will not.",
                misfit=noise.misfit,
                noise=noise.replicate,
            )
        )
    return sentences


def _of_label(model: PhaseResult, phase: dict[Hashable, Any]) -> Message:
    ends = {name: level_text(model, phase[name]) for name in ("start", "stop")}
    named = [
        {"phase": PHASE_STYLES[label].name, "probability": chance}
        for label, chance in open_labels(model, phase).items()
    ]
    if len(named) == 1:
        return _(
            "The phase {start}-{stop} is {phase} with a probability of {probability:probability} "
            "only.",
            **ends,
            **named[0],
        )
    return _(
        "From {start} to {stop} it is {phases}: {meaning}.",
        **ends,
        phases=_either([_("{phase} ({probability:percent})", **label) for label in named]),
        meaning=phase_meaning(model, phase),
    )
