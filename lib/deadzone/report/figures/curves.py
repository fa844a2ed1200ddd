"""The phases of a fitted curve in a line or in a table."""

from collections.abc import Hashable, Mapping
from typing import Any

from deadzone.analysis.mechanisms.explaining import PhasesExplained
from deadzone.analysis.mechanisms.wording import limits
from deadzone.analysis.phases.candidates import level_text
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import plain_name
from deadzone.language.catalogue import join, say
from deadzone.report.document.display import Table
from deadzone.style import PHASE_STYLES


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
