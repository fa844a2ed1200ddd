"""What a reader must know before trusting a fit: warnings made from the fit, each a sentence."""

from collections.abc import Hashable
from typing import Any

from deadzone.analysis.phases.naming import (
    UNSURE,
    name_with_chances,
    open_labels,
    phase_meaning,
    phase_name,
)
from deadzone.analysis.phases.quantities import level_number
from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.messages import N_, Message, _, join, say

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
            "The joint at {joint} is one step from the end of the range: the phase beyond it rests "
            "on one step.",
            joint=level_number(joint, model.knob),
        )
        for joint in model.joints["level"]
        if joint in (levels[1], levels[-2])
    ]
    if n := len(model.outliers):
        shown = [
            _("{trial} (at {level:count})", trial=row.trial, level=row.knob)
            for row in model.outliers.head(MOST_TRIALS_NAMED).itertuples()
        ]
        if n > len(shown):
            shown.append(_("{more} more", more=n - len(shown)))
        flagged = N_(
            "{n} trial is flagged as outlying and down-weighted: {trials}.",
            "{n} trials are flagged as outlying and down-weighted: {trials}.",
        )
        sentences.append(say(flagged, n=n, trials=join(shown, ", ")))
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
                "Levels sit {misfit:percent} off straight pieces, more than the {noise:percent} by "
                "which replicates differ: more replicates will not sharpen this fit, more levels "
                "may.",
                misfit=noise.misfit,
                noise=noise.replicate,
            )
        )
    return sentences


def _of_label(model: PhaseResult, phase: dict[Hashable, Any]) -> Message:
    ends = {"start": phase["start"], "stop": phase["stop"]}
    if len(open_labels(model, phase)) > 1:
        return _(
            "From {start:count} to {stop:count} it is {phases}: {meaning}.",
            **ends,
            phases=name_with_chances(model, phase),
            meaning=phase_meaning(model, phase),
        )
    return _(
        "The phase {start:count}-{stop:count} is {phase} with a probability of "
        "{probability:probability} only.",
        **ends,
        phase=phase_name(model, phase),
        probability=phase["probability"],
    )
