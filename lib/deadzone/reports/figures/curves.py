"""Fitted curves in the report of a published study: their figures, and their phases in a line or in a table."""

from collections.abc import Hashable, Mapping
from typing import Any

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
    found = verdict(model, advice)
    drawing: Any = plot(model, advice=advice).figure
    caption = say("curves.caption", verdict=found)
    return Figure.of(drawing, caption, described(model, found), id=identity, is_face=is_face)


def slices_figure(models: PhaseModels, caption: str, identity: str, columns: int | None = None) -> Figure:
    """The curves of all slices side by side."""
    described_slices = [
        say("curves.slice", slice=f"{plain_name(models.by)} {value:g}", phases=phases_text(model))
        for value, model in models.items()
    ]
    return Figure.of(models.plot(columns=columns), caption, join(described_slices), id=identity)


def described(model: PhaseModel, found: str) -> str:
    """What the figure of a model shows, for readers who do not see it."""
    return say(
        "curves.described",
        response=plain_name(model.response),
        knob=plain_name(model.knob),
        n=model.n_levels,
        phases=phases_text(model),
        verdict=found,
    )


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


def phases_table(model: PhaseModel, identity: str) -> Table:
    """One row a phase: steps, label, elasticity with its interval, and probability."""
    rows = [
        {
            **row,
            "position": position,
            "steps": steps_text(model, row["start"], row["stop"]),
            "phase": PHASE_STYLES[row["label"]].name,
            "interval": interval_text(row),
        }
        for position, row in enumerate(model.phases.to_dict("records"), start=1)
    ]
    words = {"response": plain_name(model.response), "knob": plain_name(model.knob)}
    return Table.of("figures.phases", rows, identity, n=len(rows), certainty=model.certainty, **words)


def interval_text(row: Mapping[Hashable, Any]) -> str:
    """The interval of a phase's elasticity."""
    return say("quantity.range", start=f"{row['elasticity_low']:.2f}", stop=f"{row['elasticity_high']:.2f}")
