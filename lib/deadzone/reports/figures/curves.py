"""Fitted curves in the report of a published study: their figures, and their phases in a line or in a table."""

from collections.abc import Hashable, Mapping
from typing import Any

from deadzone.explaining.mechanisms.explaining import PhasesExplained
from deadzone.explaining.mechanisms.wording import limits
from deadzone.explaining.phases.candidates import level_text
from deadzone.explaining.phases.model import PhaseModel, PhaseModels
from deadzone.explaining.phases.plot import plot
from deadzone.explaining.phases.quantities import listing, plain_name
from deadzone.explaining.phases.recommend import Recommendation
from deadzone.explaining.phases.verdict import verdict
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Figure, Table
from deadzone.style import PHASE_STYLES

MOST_NAMED = 4
"""Tied settings beyond this are counted, not listed."""


def curve_figure(model: PhaseModel, advice: Recommendation, identity: str, is_face: bool = False) -> Figure:
    """The curve of a model with its trials, phases and recommended setting."""
    words = {"verdict": verdict(model, advice), **names(model.response, model.knob)}
    drawing: Any = plot(model, advice=advice).figure
    described = say("curves.described", n=model.n_levels, phases=phases_text(model), **words)
    return Figure.of(drawing, say("curves.caption", **words), described, id=identity, is_face=is_face)


def slices_figure(models: PhaseModels, caption: str, identity: str, columns: int | None = None) -> Figure:
    """The curves of all slices side by side."""
    described = [
        say("curves.slice", slice=f"{plain_name(models.by)} {value:g}", phases=phases_text(model))
        for value, model in models.items()
    ]
    return Figure.of(models.plot(columns=columns), caption, join(described), id=identity)


def names(response: str, knob: str) -> dict[str, str]:
    """Two columns in words, as the sentences on a curve name them."""
    return {"response": plain_name(response), "knob": plain_name(knob)}


def ends(model: PhaseModel, row: Mapping[Hashable, Any]) -> dict[str, str]:
    """Where a phase or a step begins and ends, in words. row: of it, with start and stop."""
    return {end: level_text(model, float(row[end])) for end in ("start", "stop")}


def phases_text(model: PhaseModel) -> str:
    """All phases in a line: `linear 1-4, dead zone 4-6, ...`."""
    return join(
        [
            f"{PHASE_STYLES[row['label']].name} {steps_text(model, row['start'], row['stop'])}"
            for row in model.phases.to_dict("records")
        ],
        ", ",
    )


def steps_text(model: PhaseModel, start: float, stop: float) -> str:
    """A stretch of steps: `4-6`."""
    return f"{level_text(model, float(start))}-{level_text(model, float(stop))}"


def tied_text(model: PhaseModel, advice: Recommendation) -> str:
    """The settings that noise cannot tell apart: named if few, else how many of how many."""
    if len(advice.tied) <= MOST_NAMED:
        return listing([level_text(model, float(value)) for value in advice.tied])
    return say("curves.tied_count", n=len(advice.tied), levels=model.n_levels)


def setting_text(model: PhaseModel, advice: Recommendation) -> str:
    """The recommended setting, without its unit."""
    return "-" if advice.setting is None else level_text(model, float(advice.setting))


def in_words(model: PhaseModel, advice: Recommendation) -> dict[str, str]:
    """The phases, the recommended setting, and the settings that noise cannot tell apart."""
    return {
        "phases": phases_text(model),
        "best": setting_text(model, advice),
        "tied": tied_text(model, advice),
    }


def phases_table(model: PhaseModel, identity: str, why: PhasesExplained | None = None) -> Table:
    """One row a phase: steps, label, elasticity with its interval, and probability; and where it is explained what limits it."""
    rows = [
        {
            **row,
            "position": position,
            "steps": steps_text(model, row["start"], row["stop"]),
            "phase": PHASE_STYLES[row["label"]].name,
            "interval": say(
                "quantity.range", start=f"{row['elasticity_low']:.2f}", stop=f"{row['elasticity_high']:.2f}"
            ),
            "limits": limits(why, position - 1) if why else "",
        }
        for position, row in enumerate(model.phases.to_dict("records"), start=1)
    ]
    words = names(model.response, model.knob)
    told = {"n": len(rows), "certainty": model.certainty, "is_explained": why is not None}
    return Table.of("figures.phases", rows, identity, **told, **words)
